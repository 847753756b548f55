import pytest
import torch
from torch import nn

from glassformer.inspection import (
    ablate_heads,
    find_attentions,
    gradient_times_input,
    input_gradients,
    occlusion,
    record_attention,
)
from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.masks import causal_mask, padding_mask
from glassformer.modules.transformer import Transformer, TransformerConfig

BATCH, SOURCE, TARGET, HEADS, D_HEAD, WORDS = 2, 7, 5, 3, 4, 13
D_MODEL = HEADS * D_HEAD
NAMES = [
    "encoder.layers.0.self_attention",
    "encoder.layers.1.self_attention",
    "decoder.layers.0.self_attention",
    "decoder.layers.0.cross_attention",
    "decoder.layers.1.self_attention",
    "decoder.layers.1.cross_attention",
]


@pytest.fixture
def model(device):
    config = TransformerConfig(
        source_vocabulary_size=WORDS,
        target_vocabulary_size=WORDS,
        d_model=D_MODEL,
        num_heads=HEADS,
        d_ff=11,
        num_encoder_layers=2,
        num_decoder_layers=2,
    )
    return Transformer(config, generator=torch.Generator().manual_seed(0)).to(device).eval()


@pytest.fixture
def ids(device):
    generator = torch.Generator().manual_seed(1)
    source_ids = torch.randint(1, WORDS, (BATCH, SOURCE), generator=generator)
    source_ids[0, 4:] = 0
    return source_ids.to(device), torch.randint(1, WORDS, (BATCH, TARGET), generator=generator).to(device)


@pytest.fixture
def attention(device):
    torch.manual_seed(2)
    return MultiHeadAttention(D_MODEL, HEADS).to(device)


@pytest.fixture
def x(device):
    return torch.randn(BATCH, SOURCE, D_MODEL, generator=torch.Generator().manual_seed(3)).to(device)


def count_hooks(model):
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())


def test_attentions_are_named_by_their_paths(model):
    assert list(find_attentions(model)) == NAMES
    assert find_attentions(model)[NAMES[3]] is model.decoder.layers[0].cross_attention


def test_recording_collects_the_weights_of_every_attention(model, ids):
    with record_attention(model) as weights_of:
        model(*ids)
    assert list(weights_of) == NAMES
    shapes = {name: tuple(weights.shape) for name, weights in weights_of.items()}
    encoder, causal, cross = (SOURCE, SOURCE), (TARGET, TARGET), (TARGET, SOURCE)
    assert shapes == {
        name: (BATCH, HEADS, *shape)
        for name, shape in zip(NAMES, [encoder, encoder, causal, cross, causal, cross], strict=True)
    }
    for weights in weights_of.values():
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


def test_recorded_weights_respect_the_masks_of_the_forward_pass(model, ids):
    source_ids, _ = ids
    with record_attention(model) as weights_of:
        model(*ids)
    hidden = ~padding_mask(source_ids, 0).expand(BATCH, HEADS, TARGET, SOURCE)
    assert hidden.any()
    for name, weights in weights_of.items():
        if "cross" in name:
            assert (weights[hidden] == 0).all()
        elif "decoder" in name:
            assert (weights[..., ~causal_mask(TARGET, weights.device)] == 0).all()


def test_recording_changes_neither_output_nor_gradients(model, ids):
    expected = model(*ids)
    expected_gradients = torch.autograd.grad(expected.square().sum(), list(model.parameters()))
    with record_attention(model):
        output = model(*ids)
        gradients = torch.autograd.grad(output.square().sum(), list(model.parameters()))
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(gradients, expected_gradients, rtol=1e-3, atol=1e-4)


def test_a_bare_attention_is_recorded_on_both_paths(attention, x):
    output, weights = attention(x, x, x)
    with record_attention(attention) as weights_of:
        fused = attention(x, x, x, need_weights=False)[0]
    torch.testing.assert_close(weights_of["attention"], weights)
    torch.testing.assert_close(fused, output)


def test_recorded_weights_are_copies_without_gradient(attention, x):
    with record_attention(attention) as weights_of:
        _, weights = attention(x, x, x)
    recorded = weights_of["attention"]
    assert not recorded.requires_grad
    before = weights.clone()
    recorded.zero_()
    torch.testing.assert_close(weights, before)


def test_recorded_weights_are_those_that_averaged_the_values_after_dropout(x):
    attention = MultiHeadAttention(D_MODEL, HEADS, dropout=0.5).to(x.device)
    with record_attention(attention) as weights_of:
        _, weights = attention(x, x, x)
    assert (weights == 0).any()
    torch.testing.assert_close(weights_of["attention"], weights)


def test_the_model_runs_once_while_it_is_recorded(model, ids):
    calls = []
    model.encoder.layers[0].self_attention.query_proj.register_forward_hook(lambda *_: calls.append(1))
    with record_attention(model):
        model(*ids)
    assert len(calls) == 1


def test_the_last_of_several_passes_is_recorded(attention, x):
    with record_attention(attention) as weights_of:
        attention(x, x, x)
        _, weights = attention(x[:1], x[:1], x[:1])
    torch.testing.assert_close(weights_of["attention"], weights)


def test_nothing_is_recorded_after_the_block(attention, x):
    with record_attention(attention) as weights_of:
        pass
    attention(x, x, x)
    assert weights_of == {}


@pytest.mark.parametrize("observe", [record_attention, lambda model: ablate_heads(model, {NAMES[0]: [0]})])
def test_no_hook_outlives_the_block_even_if_the_model_raises(model, ids, observe):
    def stumble(*_):
        assert count_hooks(model) > 1
        raise ZeroDivisionError

    expected = model(*ids)
    stone = model.decoder.layers[0].register_forward_hook(stumble)
    with pytest.raises(ZeroDivisionError), observe(model):
        model(*ids)
    stone.remove()
    assert count_hooks(model) == 0
    assert torch.equal(model(*ids), expected)


def test_no_hook_remains_if_a_later_name_is_wrong(model):
    with pytest.raises(ValueError, match="nowhere"), ablate_heads(model, {NAMES[0]: [0], "nowhere": [0]}):
        pass
    assert count_hooks(model) == 0


def test_recordings_nest(attention, x):
    with record_attention(attention) as outer:
        with record_attention(attention) as inner:
            _, first = attention(x, x, x)
        _, second = attention(-x, x, x)
    torch.testing.assert_close(inner["attention"], first)
    torch.testing.assert_close(outer["attention"], second)
    assert count_hooks(attention) == 0


@pytest.mark.parametrize("path", ["taught", "fused"])
def test_an_ablated_head_outputs_zeros(attention, x, path):
    """Zero the columns of the output projection that read the given heads."""
    kept = torch.ones(D_MODEL, device=x.device)
    kept[1 * D_HEAD : 2 * D_HEAD] = 0
    with ablate_heads(attention, {"attention": [1]}):
        output = attention(x, x, x, need_weights=False)[0] if path == "fused" else attention(x, x, x)[0]
    attention.output_proj.weight.data *= kept
    torch.testing.assert_close(output, attention(x, x, x, need_weights=False)[0])


def test_ablating_every_head_leaves_the_bias_of_the_output_projection(attention, x):
    with ablate_heads(attention, {"attention": range(HEADS)}):
        output = attention(x, x, x, need_weights=False)[0]
    torch.testing.assert_close(output, attention.output_proj.bias.expand_as(output))


def test_ablating_no_head_changes_nothing(model, ids):
    expected = model(*ids)
    with ablate_heads(model, {}), ablate_heads(model, {NAMES[0]: []}):
        assert torch.equal(model(*ids), expected)


def test_an_ablation_changes_only_later_layers(model, ids):
    with record_attention(model) as before:
        expected = model(*ids)
    with ablate_heads(model, {NAMES[3]: [0, 2]}), record_attention(model) as during:
        output = model(*ids)
    assert not torch.allclose(output, expected)
    for name in NAMES[:4]:
        torch.testing.assert_close(during[name], before[name])
    for name in NAMES[4:]:
        assert not torch.allclose(during[name], before[name])


def test_ablations_nest_and_add_up(model, ids):
    with ablate_heads(model, {NAMES[1]: [0, 2], NAMES[5]: [1]}):
        expected = model(*ids)
    with ablate_heads(model, {NAMES[1]: [0]}):
        with ablate_heads(model, {NAMES[1]: [2], NAMES[5]: [1]}):
            both = model(*ids)
        outer = model(*ids)
    assert torch.equal(both, expected)
    assert not torch.allclose(outer, expected)


def test_recording_and_ablating_work_in_either_order(model, ids):
    with record_attention(model) as inside, ablate_heads(model, {NAMES[0]: [1]}):
        first = model(*ids)
    with ablate_heads(model, {NAMES[0]: [1]}), record_attention(model) as outside:
        second = model(*ids)
    assert torch.equal(first, second)
    torch.testing.assert_close(inside, outside)


def test_an_ablated_head_gets_no_gradient(attention, x):
    with ablate_heads(attention, {"attention": [2]}):
        attention(x, x, x, need_weights=False)[0].square().sum().backward()
    for projection in (attention.query_proj, attention.value_proj):
        by_head = projection.weight.grad.view(HEADS, D_HEAD, D_MODEL).abs().amax((1, 2))
        assert by_head[2] == 0
        assert (by_head[:2] > 0).all()


def test_an_ablated_head_removes_even_infinities(attention, x):
    attention.value_proj.bias.data[:D_HEAD] = float("inf")
    with ablate_heads(attention, {"attention": [0]}):
        assert attention(x, x, x, need_weights=False)[0].isfinite().all()


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize("number", [-1, HEADS, 1.5])
def test_a_head_out_of_range_is_rejected_with_the_range(attention, number):
    with (
        pytest.raises(ValueError, match=rf"heads of 'attention' must be from 0 to 2, got \[{number}\]"),
        ablate_heads(attention, {"attention": [0, number]}),
    ):
        pass


def test_an_unknown_attention_is_rejected_with_the_known_ones(model):
    with (
        pytest.raises(ValueError, match=r"heads must name attentions of encoder\.layers\.0\..*, got 'cross'"),
        ablate_heads(model, {"cross": [0]}),
    ):
        pass


@pytest.mark.parametrize("observe", [record_attention, lambda model: ablate_heads(model, {})])
def test_a_model_without_attention_is_rejected(observe):
    with (
        pytest.raises(ValueError, match="must contain a MultiHeadAttention, got a Linear"),
        observe(nn.Linear(3, 5)),
    ):
        pass


@pytest.fixture
def bag(device):
    """Return a score that is a sum over tokens, whose contributions are known."""
    torch.manual_seed(4)
    embedding, readout = nn.Embedding(WORDS, D_MODEL).to(device).eval(), nn.Linear(D_MODEL, 1).to(device)
    return embedding, readout.weight[0], lambda ids: readout(embedding(ids)).sum((1, 2))


@pytest.fixture
def log_probability(model, ids):
    """Return the log-probability of one token after the first three of a target."""
    target_ids = ids[1][:1, :3]

    def score(source_ids):
        return model(source_ids, target_ids.expand(len(source_ids), -1))[:, -1].log_softmax(-1)[:, 5]

    return score


def test_gradient_times_input_of_a_sum_gives_its_summands(bag, ids):
    embedding, weight, score = bag
    torch.testing.assert_close(gradient_times_input(score, ids[0], embedding), embedding(ids[0]) @ weight)


def test_occlusion_of_a_sum_gives_the_summand_minus_that_of_the_replacement(bag, ids):
    embedding, weight, score = bag
    falls = occlusion(score, ids[0], replacement_id=7)
    torch.testing.assert_close(falls, embedding(ids[0]) @ weight - embedding.weight[7] @ weight)


def test_gradients_predict_the_effect_of_a_small_step(model, ids, log_probability):
    model.double()
    embedding, source_ids = model.source_embedding.token, ids[0][1:]
    vectors, gradients = input_gradients(log_probability, source_ids, embedding)
    torch.testing.assert_close(vectors, embedding(source_ids).detach())
    direction = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(5)).to(vectors)
    after, before = (
        log_probability_at(embedding, vectors + sign * 1e-6 * direction, log_probability, source_ids)
        for sign in (1, -1)
    )
    torch.testing.assert_close(
        (after - before) / 2e-6, (gradients * direction).sum().expand(1), rtol=1e-5, atol=1e-8
    )


def log_probability_at(embedding, vectors, score, ids):
    handle = embedding.register_forward_hook(lambda *_: vectors)
    try:
        return score(ids).detach()
    finally:
        handle.remove()


def test_padding_contributes_nothing_to_a_score(model, ids, log_probability):
    source_ids, _ = ids
    assert (source_ids[0, 4:] == 0).all()
    saliency = gradient_times_input(log_probability, source_ids, model.source_embedding.token)
    assert (saliency[0, 4:] == 0).all()
    assert (saliency[0, :4] != 0).all()


def test_a_sentence_is_explained_independently_of_its_batch(model, ids, log_probability):
    source_ids, _ = ids
    embedding = model.source_embedding.token
    for explain in (
        lambda ids: gradient_times_input(log_probability, ids, embedding),
        lambda ids: occlusion(log_probability, ids, replacement_id=7, ignored_ids=[0]),
    ):
        alone = explain(source_ids[:1, :4])
        torch.testing.assert_close(explain(source_ids)[:1, :4], alone, rtol=1e-4, atol=1e-6)


def test_ignored_ids_are_not_occluded(bag, ids):
    _, _, score = bag
    source_ids, _ = ids
    free, spared = (occlusion(score, source_ids, replacement_id=7, ignored_ids=kept) for kept in ([], [0, 3]))
    kept = (source_ids == 0) | (source_ids == 3)
    assert kept.any()
    assert (spared[kept] == 0).all()
    torch.testing.assert_close(spared[~kept], free[~kept])
    assert (free[kept] != 0).all()


def test_explaining_changes_neither_ids_nor_model(model, ids, log_probability):
    source_ids = ids[0].clone()
    with torch.no_grad():
        gradient_times_input(log_probability, source_ids, model.source_embedding.token)
    occlusion(log_probability, source_ids, replacement_id=7)
    assert torch.equal(source_ids, ids[0])
    assert count_hooks(model) == 0
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_model_in_training_mode_is_rejected(model, ids, log_probability):
    model.train()
    with pytest.raises(ValueError, match="in evaluation mode"):
        input_gradients(log_probability, ids[0], model.source_embedding.token)


@pytest.mark.usefixtures("as_a_user")
def test_a_score_must_be_one_number_per_sentence(bag, ids):
    embedding, _, _ = bag
    source_ids, _ = ids
    for explain in (
        lambda score: input_gradients(score, source_ids, embedding),
        lambda score: occlusion(score, source_ids, replacement_id=7),
    ):
        with pytest.raises(ValueError, match=r"score must have shape \(2,\), got \(2, 7, 12\)"):
            explain(embedding)


@pytest.mark.parametrize(
    ("change", "shapes"),
    [
        (lambda score: lambda ids: ids.sum(1), r"\[\]"),
        (lambda score: lambda ids: score(ids[:, 1:]), r"\[\(2, 6\)\]"),
        (lambda score: lambda ids: score(ids) + score(ids), r"\[\(2, 7\), \(2, 7\)\]"),
    ],
)
def test_a_score_must_embed_the_ids_once(bag, ids, change, shapes):
    embedding, _, score = bag
    with pytest.raises(ValueError, match=rf"must embed ids of shape \(2, 7\) once, got {shapes}"):
        input_gradients(change(score), ids[0], embedding)
    assert count_hooks(embedding) == 0

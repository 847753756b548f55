"""Recording, ablating and ranking attention heads."""

import pytest
import torch
from torch import nn

from glassformer.inspection import ablate_heads, find_attention_layers, head_importance, record_attention
from glassformer.modules import MultiHeadAttention, causal_mask, padding_mask

from .conftest import BATCH, D_HEAD, D_MODEL, HEADS, SOURCE, TARGET, count_hooks

NAMES = [
    "encoder.layers.0.self_attention",
    "encoder.layers.1.self_attention",
    "decoder.layers.0.self_attention",
    "decoder.layers.0.cross_attention",
    "decoder.layers.1.self_attention",
    "decoder.layers.1.cross_attention",
]


def test_attention_layers_are_named_by_their_paths(model):
    assert list(find_attention_layers(model)) == NAMES
    assert find_attention_layers(model)[NAMES[3]] is model.decoder.layers[0].cross_attention


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
        pytest.raises(
            ValueError, match=r"heads must name attention layers: encoder\.layers\.0\..*, got 'cross'"
        ),
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


def loss_of(model, ids):
    return lambda: model(*ids).logsumexp(-1).mean()


def test_the_importance_of_a_head_is_the_slope_of_the_loss_along_its_gate(model, ids):
    model.double()
    name, head, step = NAMES[3], 1, 1e-4
    importance = head_importance(model, loss_of(model, ids))[name][head]

    def loss_with(gate):
        def scale(module, args, output):
            factors = torch.ones(HEADS, 1, 1, device=output[0].device, dtype=output[0].dtype)
            factors[head] = gate
            return output[0] * factors, output[1]

        with find_attention_layers(model)[name].heads.register_forward_hook(scale):
            return loss_of(model, ids)().item()

    slope = (loss_with(1 + step) - loss_with(1 - step)) / (2 * step)
    assert importance.item() == pytest.approx(abs(slope), rel=1e-3)


def test_every_head_of_every_attention_gets_an_importance(model, ids):
    importance = head_importance(model, loss_of(model, ids))
    assert list(importance) == NAMES
    assert all(heads.shape == (HEADS,) and (heads >= 0).all() for heads in importance.values())


def test_an_ablated_head_has_no_importance(model, ids):
    with ablate_heads(model, {NAMES[0]: [2]}):
        importance = head_importance(model, loss_of(model, ids))
    assert importance[NAMES[0]][2] == 0
    assert (importance[NAMES[0]][:2] > 0).all()


def test_ranking_leaves_no_hook_and_no_gradient(model, ids):
    head_importance(model, loss_of(model, ids))
    assert count_hooks(model) == 0
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_loss_that_does_not_depend_on_an_attention_is_rejected(model, ids):
    with pytest.raises(ValueError, match=r"does not on .*decoder.layers.0.self_attention"):
        head_importance(model, lambda: model.encode(ids[0])[0].sum())

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from glassformer.modules.recurrent import (
    AdditiveAttention,
    AdditiveAttentionTranslator,
    FixedContextTranslator,
    RecurrentConfig,
    additive_attention,
    elman_rnn,
    lstm,
    set_forget_bias,
)
from glassformer.reference import recurrence as reference

BATCH, SOURCE, TARGET, D_IN, D_HIDDEN, D_MODEL, SOURCE_SIZE, TARGET_SIZE, PAD = 2, 5, 7, 3, 11, 13, 17, 19, 0
sizes = st.integers(1, 7)
batches = st.lists(st.integers(1, 3), max_size=2).map(tuple)
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=30)
either_reading = pytest.mark.parametrize("reading", [{}, {"bidirectional": True, "d_model": 14}])
either_translator = pytest.mark.parametrize("kind", [FixedContextTranslator, AdditiveAttentionTranslator])


def recurrent_arrays(rng, batch, time, d_in, d_hidden, gates):
    x = rng.normal(size=(*batch, time, d_in))
    return x, {
        "input_weight": rng.normal(size=(d_in, gates * d_hidden)),
        "hidden_weight": rng.normal(size=(d_hidden, gates * d_hidden)),
        "bias": rng.normal(size=gates * d_hidden),
    }


def to_torch(arrays):
    return {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}


def load(network, weights):
    """Give a torch.nn network our weights; of its two biases one is enough."""
    with torch.no_grad():
        network.weight_ih_l0.copy_(weights["input_weight"].T)
        network.weight_hh_l0.copy_(weights["hidden_weight"].T)
        network.bias_ih_l0.copy_(weights["bias"])
        network.bias_hh_l0.zero_()
    return network


def assert_same_gradients(ours, theirs, x, x_too, weights, network):
    for output in (ours, theirs):
        output.square().sum().backward()
    assert_close(x.grad, x_too.grad)
    assert_close(weights["input_weight"].grad.T, network.weight_ih_l0.grad)
    assert_close(weights["hidden_weight"].grad.T, network.weight_hh_l0.grad)
    assert_close(weights["bias"].grad, network.bias_ih_l0.grad)


@few
@given(batches, sizes, sizes, sizes, seeds, st.booleans())
def test_the_elman_network_equals_the_reference(batch, time, d_in, d_hidden, seed, started):
    rng = np.random.default_rng(seed)
    x, weights = recurrent_arrays(rng, batch, time, d_in, d_hidden, gates=1)
    start = rng.normal(size=(*batch, d_hidden)) if started else None
    states = elman_rnn(
        torch.tensor(x), **to_torch(weights), initial_state=None if start is None else torch.tensor(start)
    )
    expected = reference.elman_rnn(x, **weights, initial_state=start)
    np.testing.assert_allclose(states.detach(), expected, atol=1e-10)


@few
@given(batches, sizes, sizes, sizes, seeds, st.booleans())
def test_the_lstm_equals_the_reference(batch, time, d_in, d_hidden, seed, started):
    rng = np.random.default_rng(seed)
    x, weights = recurrent_arrays(rng, batch, time, d_in, d_hidden, gates=4)
    start = tuple(rng.normal(size=(2, *batch, d_hidden))) if started else None
    results = lstm(
        torch.tensor(x),
        **to_torch(weights),
        initial_state=None if start is None else tuple(map(torch.tensor, start)),
    )
    for result, expected in zip(results, reference.lstm(x, **weights, initial_state=start), strict=True):
        np.testing.assert_allclose(result.detach(), expected, atol=1e-10)


@pytest.mark.parametrize(("twin", "theirs", "gates"), [(elman_rnn, nn.RNN, 1), (lstm, nn.LSTM, 4)])
def test_recurrent_networks_equal_pytorchs_forward_and_backward(twin, theirs, gates):
    x, weights = recurrent_arrays(np.random.default_rng(0), (BATCH,), SOURCE, D_IN, D_HIDDEN, gates)
    weights = to_torch(weights)
    network = load(theirs(D_IN, D_HIDDEN, batch_first=True, dtype=torch.float64), weights)
    ours_x, theirs_x = (torch.tensor(x, requires_grad=True) for _ in range(2))
    result = twin(ours_x, **weights)
    states = result[0] if twin is lstm else result
    their_states, _ = network(theirs_x)
    assert_close(states, their_states)
    assert_same_gradients(states, their_states, ours_x, theirs_x, weights, network)


@few
@given(batches, sizes, sizes, sizes, sizes, seeds, st.booleans())
def test_additive_attention_equals_the_reference(
    batch, query_length, key_length, width, d_hidden, seed, masked
):
    rng = np.random.default_rng(seed)
    query = rng.normal(size=(*batch, query_length, width))
    key = rng.normal(size=(*batch, key_length, width + 1))
    value = rng.normal(size=(*batch, key_length, width + 2))
    maps = {
        "query_weight": rng.normal(size=(width, d_hidden)),
        "key_weight": rng.normal(size=(width + 1, d_hidden)),
        "score_weight": rng.normal(size=d_hidden),
    }
    attn_mask = rng.random((query_length, key_length)) < 0.6 if masked else None
    results = additive_attention(
        *map(torch.tensor, (query, key, value)),
        **to_torch(maps),
        attn_mask=None if attn_mask is None else torch.tensor(attn_mask),
    )
    expected = reference.additive_attention(query, key, value, **maps, attn_mask=attn_mask)
    for result, array in zip(results, expected, strict=True):
        np.testing.assert_allclose(result.detach(), array, atol=1e-10)


def test_the_gradient_of_additive_attention_equals_finite_differences(generator):
    attn_mask = torch.tensor([[True, False, True, True, False], [False] * 5, [True] * 5])
    names = ("query", "key", "value", "query_weight", "key_weight", "score_weight")
    shapes = [(2, 3, 7), (2, 5, 11), (2, 5, 2), (7, 13), (11, 13), (13,)]
    leaves = [
        torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True) for shape in shapes
    ]

    def run(*leaves):
        return additive_attention(**dict(zip(names, leaves, strict=True)), attn_mask=attn_mask)

    assert torch.autograd.gradcheck(run, leaves, fast_mode=True)


def test_setting_the_forget_bias_changes_the_forget_gates_only():
    layer = nn.LSTM(3, 5, num_layers=2, bidirectional=True)
    before = {name: parameter.clone() for name, parameter in layer.named_parameters()}
    set_forget_bias(layer, 2.0)
    for name, parameter in layer.named_parameters():
        forget = (torch.arange(20) // 5 == 1) & ("bias" in name)
        assert_close(parameter[~forget], before[name][~forget])
    biases = layer.bias_ih_l1_reverse + layer.bias_hh_l1_reverse
    assert_close(biases[5:10], torch.full((5,), 2.0))


@pytest.mark.usefixtures("as_a_user")
def test_the_forget_bias_of_a_layer_without_biases_cannot_be_set():
    with pytest.raises(ValueError, match="layer has no biases to set"):
        set_forget_bias(nn.LSTM(3, 5, bias=False), 1.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_near_full_precision(dtype, device, generator):
    x = torch.randn(BATCH, SOURCE, D_IN, generator=generator)
    weights = {
        "input_weight": torch.randn(D_IN, 4 * D_HIDDEN, generator=generator),
        "hidden_weight": torch.randn(D_HIDDEN, 4 * D_HIDDEN, generator=generator) / 4,
        "bias": torch.randn(4 * D_HIDDEN, generator=generator),
    }
    states, _ = lstm(x, **weights)
    half, _ = lstm(
        x.to(device, dtype), **{name: weight.to(device, dtype) for name, weight in weights.items()}
    )
    assert half.dtype == dtype
    assert_close(half.float().cpu(), states, atol=0.1, rtol=0)


def make_translator(kind, **overrides):
    sizes = {
        "source_vocabulary_size": SOURCE_SIZE,
        "target_vocabulary_size": TARGET_SIZE,
        "d_model": D_MODEL,
    }
    config = RecurrentConfig(**(sizes | overrides))
    return kind(config, generator=torch.Generator().manual_seed(0)).eval()


@pytest.fixture
def ids(generator):
    return (
        torch.randint(1, SOURCE_SIZE, (BATCH, SOURCE), generator=generator),
        torch.randint(1, TARGET_SIZE, (BATCH, TARGET), generator=generator),
    )


@either_translator
@either_reading
@pytest.mark.parametrize("num_layers", [1, 2])
def test_the_model_runs_on_its_device_and_every_parameter_gets_a_gradient(
    kind, reading, num_layers, device, ids
):
    model = make_translator(kind, num_layers=num_layers, **reading).to(device).train()
    logits = model(*(one.to(device) for one in ids))
    logits.square().sum().backward()
    assert logits.shape == (BATCH, TARGET, TARGET_SIZE)
    assert logits.device.type == device.type
    assert all(parameter.grad.abs().max() > 0 for parameter in model.parameters())


@either_translator
@either_reading
@pytest.mark.parametrize("num_layers", [1, 2])
def test_padding_cannot_matter(kind, reading, num_layers, ids):
    model = make_translator(kind, num_layers=num_layers, **reading)
    source_ids, target_ids = ids
    alone = model(source_ids[:1, :3], target_ids[:1])
    source_ids[0, 3:] = PAD
    together = model(nn.functional.pad(source_ids, (0, 4), value=PAD), target_ids)
    assert_close(together[:1], alone)


@either_translator
@either_reading
def test_logits_depend_on_earlier_tokens_and_not_on_later_ones(kind, reading, ids):
    model = make_translator(kind, **reading)
    source_ids, target_ids = ids
    before = model(source_ids, target_ids)
    target_ids[:, 4] = target_ids[:, 4] % (TARGET_SIZE - 1) + 1
    after = model(source_ids, target_ids)
    assert_close(after[:, :4], before[:, :4])
    assert (after[:, 4:] - before[:, 4:]).abs().amax(-1).min() > 1e-6


def test_the_decoder_sees_only_the_fixed_context(ids):
    model = make_translator(FixedContextTranslator)
    memory, _, state, cell = model.encode(ids[0])
    assert_close(state[:, -1], memory[:, -1])
    states = model.run_decoder(ids[1], state, cell)
    assert_close(model.output_proj(states), model(*ids))


def test_every_bidirectional_state_depends_on_the_whole_sentence(ids):
    model = make_translator(FixedContextTranslator, bidirectional=True, d_model=14, num_layers=2)
    source_ids, _ = ids
    memory, _, state, _ = model.encode(source_ids)
    from_left, from_right = state[:, -1].split(7, dim=-1)
    assert_close(from_left, memory[:, -1, :7])
    assert_close(from_right, memory[:, 0, 7:])
    for changed in (0, SOURCE - 1):
        other_ids = source_ids.clone()
        other_ids[:, changed] = other_ids[:, changed] % (SOURCE_SIZE - 1) + 1
        other, *_ = model.encode(other_ids)
        assert (other - memory).abs().amax(-1).min() > 1e-6


def test_each_bidirectional_layer_initialises_its_own_decoder_layer(ids):
    model = make_translator(FixedContextTranslator, bidirectional=True, d_model=14, num_layers=2)
    *_, state, cell = model.encode(ids[0])
    embedded = model.source_embedding(ids[0])
    for name, joined, last in zip(("state", "cell"), (state, cell), model.encoder(embedded)[1], strict=True):
        for layer in range(2):
            expected = torch.cat([last[2 * layer], last[2 * layer + 1]], dim=-1)
            assert_close(joined[:, layer], expected, msg=f"{name} of layer {layer}")


@either_translator
@pytest.mark.parametrize(("tie", "matrices"), [("none", 3), ("target", 2), ("all", 1)])
def test_tied_embeddings_are_one_matrix(kind, tie, matrices):
    model = make_translator(kind, tie_embeddings=tie, target_vocabulary_size=SOURCE_SIZE)
    tables = (model.source_embedding, model.target_embedding, model.output_proj)
    assert len({id(table.weight) for table in tables}) == matrices


@pytest.mark.parametrize("tie", ["none", "target", "all"])
def test_inputs_have_unit_variance_and_output_matrices_start_small_tied_or_not(tie):
    model = make_translator(
        FixedContextTranslator,
        tie_embeddings=tie,
        d_model=128,
        source_vocabulary_size=211,
        target_vocabulary_size=211,
    )
    read = []
    for network in (model.encoder, model.decoder):
        network.register_forward_pre_hook(lambda network, args: read.append(args[0]))
    every_id = torch.arange(1, 211)[None]
    model(every_id, every_id)
    packed, embedded = read
    for vectors in (packed.data, embedded):
        assert vectors.std().item() == pytest.approx(1, abs=0.02)
    assert 0.5 < model.output_proj.weight.std().item() * 128**0.5 < 1.02


@either_translator
def test_the_output_projection_turns_hidden_states_into_logits(kind, ids):
    model = make_translator(kind)
    read = []
    model.output_proj.register_forward_pre_hook(lambda module, args: read.append(args[0]))
    logits = model(*ids)
    states = model.hidden_states(ids[1], *model.encode(ids[0]))
    assert states.shape == (BATCH, TARGET, D_MODEL)
    assert_close(states, read[0], atol=0, rtol=0)
    assert_close(model.output_proj(states), logits, atol=0, rtol=0)


def test_with_attention_the_decoder_attends_to_every_state(ids):
    model = make_translator(AdditiveAttentionTranslator)
    seen = []
    model.attention.register_forward_hook(lambda module, args, output: seen.append(output[1]))
    model(nn.functional.pad(ids[0], (0, 1), value=PAD), ids[1])
    assert seen[0].shape == (BATCH, TARGET, SOURCE + 1)
    assert (seen[0][..., :SOURCE] > 0).all()
    assert (seen[0][..., SOURCE] == 0).all()


def test_the_two_translators_differ_only_in_the_attention():
    fixed, additive = (
        make_translator(kind) for kind in (FixedContextTranslator, AdditiveAttentionTranslator)
    )
    shared = fixed.state_dict()
    assert_close({name: additive.state_dict()[name] for name in shared}, shared, atol=0, rtol=0)
    more = sum(parameter.numel() for parameter in additive.parameters()) - sum(
        map(torch.numel, shared.values())
    )
    attention, mix = 2 * D_MODEL**2 + D_MODEL, 2 * D_MODEL**2 + D_MODEL
    assert more == attention + mix


@either_translator
def test_the_initial_parameters_depend_only_on_the_generator(kind):
    torch.manual_seed(1)
    first = make_translator(kind).state_dict()
    torch.manual_seed(2)
    assert_close(make_translator(kind).state_dict(), first, atol=0, rtol=0)


@either_translator
def test_dropout_acts_only_in_training(kind, ids):
    torch.manual_seed(0)
    model = make_translator(kind, dropout=0.5, num_layers=2)
    assert_close(model(*ids), model(*ids), atol=0, rtol=0)
    model.train()
    assert (model(*ids) != model(*ids)).any()


@pytest.mark.usefixtures("as_a_user")
@either_translator
@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ([[1, 17]], [[1]], r"source_ids .* below the vocabulary size \(17\), got ids from 1 to 17"),
        ([[1]], [[19]], r"target_ids .* below the vocabulary size \(19\), got ids from 19 to 19"),
        ([[1], [1]], [[2]], r"source_ids \(2\) and target_ids \(1\) must have the same number of sentences"),
        ([[1, 2], [0, 3]], [[2], [2]], r"end in padding \(id 0\), but sentence 1 is \[0, 3\]"),
        ([[1, 0, 3]], [[2]], r"end in padding \(id 0\), but sentence 0 is \[1, 0, 3\]"),
        ([[1], [0]], [[2], [2]], r"end in padding \(id 0\), but sentence 1 is \[0\]"),
    ],
)
def test_invalid_ids_are_named(kind, source, target, message):
    with pytest.raises(ValueError, match=message):
        make_translator(kind)(torch.tensor(source), torch.tensor(target))


@pytest.mark.usefixtures("as_a_user")
@either_translator
def test_states_of_other_sentences_are_rejected(kind, ids):
    model = make_translator(kind)
    source_ids, target_ids = ids
    encoded = model.encode(source_ids)
    message = rf"state must have shape \(1, 1, {D_MODEL}\), got \({BATCH}, 1, {D_MODEL}\)"
    with pytest.raises(ValueError, match=message):
        model.decode(target_ids[:1], *encoded)


@pytest.mark.usefixtures("as_a_user")
def test_invalid_input_is_named():
    x, maps = torch.ones(2, 5, 3), {"hidden_weight": torch.ones(7, 7), "bias": torch.ones(7)}
    with pytest.raises(ValueError, match=r"input_weight must have shape \(3, 7\), got \(4, 7\)"):
        elman_rnn(x, input_weight=torch.ones(4, 7), **maps)
    with pytest.raises(ValueError, match=r"initial_state must have shape \(2, 7\), got \(5, 7\)"):
        elman_rnn(x, input_weight=torch.ones(3, 7), initial_state=torch.ones(5, 7), **maps)
    with pytest.raises(ValueError, match=r"hidden_weight must have shape \(7, 28\), got \(7, 7\)"):
        lstm(x, input_weight=torch.ones(3, 28), **maps)
    with pytest.raises(ValueError, match=r"x must not be empty, got shape \(2, 0, 3\)"):
        elman_rnn(x[:, :0], input_weight=torch.ones(3, 7), **maps)
    with pytest.raises(ValueError, match=r"query must have size 11 in its last axis, got shape \(2, 5, 3\)"):
        AdditiveAttention(11)(x, x, x)

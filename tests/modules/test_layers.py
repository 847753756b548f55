import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from glassformer.modules.attention import AttentionHeads
from glassformer.modules.cache import KVCache
from glassformer.modules.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    Residual,
    feed_forward,
    layer_norm,
)
from glassformer.modules.masks import causal_mask
from glassformer.modules.positions import AlibiPositions, RotaryPositions
from glassformer.reference import layers as reference

BATCH, TARGET, SOURCE, HEADS, D_FF = 2, 3, 5, 7, 13
D_MODEL = HEADS * 2
sizes = st.integers(1, 7)
seeds = st.integers(0, 2**32 - 1)
either_norm = pytest.mark.parametrize("norm", ["post", "pre"])


@settings(max_examples=30)
@given(st.lists(sizes, max_size=2).map(tuple), st.integers(2, 7), seeds)
def test_layer_norm_equals_the_reference_and_pytorch_forward_and_backward(batch, d_model, seed):
    rng = np.random.default_rng(seed)
    x, grad = rng.normal(size=(2, *batch, d_model))
    scale, shift = rng.normal(size=(2, d_model))
    by_hand = reference.layer_norm_backward(grad, x, scale)
    for twin in (layer_norm, lambda x, *maps: nn.functional.layer_norm(x, (d_model,), *maps)):
        leaves = [torch.tensor(array, requires_grad=True) for array in (x, scale, shift)]
        output = twin(*leaves)
        output.backward(torch.tensor(grad))
        np.testing.assert_allclose(output.detach(), reference.layer_norm(x, scale, shift), atol=1e-9)
        for leaf, expected in zip(leaves, by_hand, strict=True):
            np.testing.assert_allclose(leaf.grad, expected, atol=1e-7)


@settings(max_examples=30)
@given(st.lists(sizes, max_size=2).map(tuple), sizes, sizes, seeds)
def test_feed_forward_equals_the_reference_and_the_module(batch, d_model, d_ff, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(*batch, d_model))
    maps = {
        "inner_weight": rng.normal(size=(d_model, d_ff)),
        "inner_bias": rng.normal(size=d_ff),
        "outer_weight": rng.normal(size=(d_ff, d_model)),
        "outer_bias": rng.normal(size=d_model),
    }
    tensors = {name: torch.tensor(array) for name, array in maps.items()}
    expected = reference.feed_forward(x, **maps)
    np.testing.assert_allclose(feed_forward(torch.tensor(x), **tensors), expected, atol=1e-12)

    module = FeedForward(d_model, d_ff).double()
    with torch.no_grad():
        module.inner.weight.copy_(tensors["inner_weight"].T)
        module.inner.bias.copy_(tensors["inner_bias"])
        module.outer.weight.copy_(tensors["outer_weight"].T)
        module.outer.bias.copy_(tensors["outer_bias"])
    np.testing.assert_allclose(module(torch.tensor(x)).detach(), expected, atol=1e-12)


def test_the_gradient_of_feed_forward_equals_finite_differences(generator):
    shapes = {
        "inner_weight": (5, 7),
        "inner_bias": (7,),
        "outer_weight": (7, 5),
        "outer_bias": (5,),
    }
    x, *maps = (
        torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True)
        for shape in ((2, 3, 5), *shapes.values())
    )
    run = lambda x, *maps: feed_forward(x, **dict(zip(shapes, maps, strict=True)))  # noqa: E731
    assert torch.autograd.gradcheck(run, (x, *maps), fast_mode=True)


def test_a_residual_connection_passes_x_through(generator):
    x = torch.randn(BATCH, TARGET, D_MODEL, generator=generator)
    nothing = torch.zeros_like
    assert_close(Residual(D_MODEL, norm="pre")(x, nothing), x)
    assert_close(Residual(D_MODEL, norm="post")(x, nothing), nn.functional.layer_norm(x, (D_MODEL,)))


def randomise(module, generator):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.3, generator=generator)
    return module


def copy_attention(ours, theirs):
    projections = (ours.query_proj, ours.key_proj, ours.value_proj)
    theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    theirs.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    theirs.out_proj.load_state_dict(ours.output_proj.state_dict())


@torch.no_grad()
def copy_layer(ours, theirs):
    copy_attention(ours.self_attention, theirs.self_attn)
    norms = [ours.self_attention_residual.norm, ours.feed_forward_residual.norm]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms.insert(1, ours.cross_attention_residual.norm)
    for number, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    return theirs


def assert_same_forward_and_backward(ours, theirs, inputs):
    leaves = [[x.clone().requires_grad_() for x in inputs] for _ in range(2)]
    outputs = [ours(*leaves[0]), theirs(*leaves[1])]
    assert_close(*outputs)
    for output in outputs:
        output.square().sum().backward()
    for ours_x, theirs_x in zip(*leaves, strict=True):
        assert_close(ours_x.grad, theirs_x.grad)


@either_norm
def test_the_encoder_layer_equals_pytorchs_forward_and_backward(norm, generator):
    ours = randomise(EncoderLayer(D_MODEL, HEADS, D_FF, norm=norm).double(), generator)
    theirs = nn.TransformerEncoderLayer(
        D_MODEL, HEADS, D_FF, 0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    copy_layer(ours, theirs)
    x = torch.randn(BATCH, SOURCE, D_MODEL, generator=generator, dtype=torch.float64)
    attn_mask = torch.tensor([[True] * SOURCE, [True, True, True, False, False]])
    assert_same_forward_and_backward(
        lambda x: ours(x, attn_mask[:, None, None, :]),
        lambda x: theirs(x, src_key_padding_mask=~attn_mask),
        [x],
    )


@either_norm
def test_the_decoder_layer_equals_pytorchs_forward_and_backward(norm, generator):
    ours = randomise(DecoderLayer(D_MODEL, HEADS, D_FF, norm=norm).double(), generator)
    theirs = nn.TransformerDecoderLayer(
        D_MODEL, HEADS, D_FF, 0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    copy_layer(ours, theirs)
    x = torch.randn(BATCH, TARGET, D_MODEL, generator=generator, dtype=torch.float64)
    memory = torch.randn(BATCH, SOURCE, D_MODEL, generator=generator, dtype=torch.float64)
    memory_mask = torch.tensor([[True] * SOURCE, [True, True, True, False, False]])
    assert_same_forward_and_backward(
        lambda x, memory: ours(x, memory, causal_mask(TARGET), memory_mask[:, None, None, :]),
        lambda x, memory: theirs(
            x, memory, tgt_mask=~causal_mask(TARGET), memory_key_padding_mask=~memory_mask
        ),
        [x, memory],
    )


@either_norm
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_near_full_precision_and_has_finite_gradients(norm, dtype, device, generator):
    layer = randomise(DecoderLayer(D_MODEL, HEADS, D_FF, norm=norm), generator).to(device, dtype)
    x = torch.randn(BATCH, TARGET, D_MODEL, generator=generator).to(device, dtype)
    memory = torch.randn(BATCH, SOURCE, D_MODEL, generator=generator).to(device, dtype)
    output = layer(x, memory, causal_mask(TARGET, device))
    output.square().sum().backward()
    assert output.dtype == dtype
    assert all(parameter.grad.isfinite().all() for parameter in layer.parameters())
    full = layer.float()(x.float(), memory.float(), causal_mask(TARGET, device))
    assert_close(output.float(), full, atol=0.2, rtol=0.1)


@either_norm
def test_a_residual_connection_drops_from_the_sublayers_output(norm):
    torch.manual_seed(0)
    residual = Residual(D_MODEL, dropout=0.5, norm=norm)
    x = torch.zeros(BATCH, SOURCE, D_MODEL)
    changed = residual(x, torch.ones_like)
    assert len(changed[0, 0].unique()) == 2  # the dropped and the kept


def test_a_feed_forward_network_drops_hidden_activations():
    torch.manual_seed(0)
    network = FeedForward(D_MODEL, D_FF, dropout=0.5)
    x = torch.ones(BATCH, D_MODEL)
    assert (network(x) != network(x)).any()


def dropouts_of(layer):
    """The probability of each dropout of a layer, by the name of its module."""
    parts = {
        name: part for name, part in layer.named_modules() if isinstance(part, nn.Dropout | AttentionHeads)
    }
    return {name: part.p if isinstance(part, nn.Dropout) else part.dropout for name, part in parts.items()}


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_every_dropout_of_a_layer_has_the_same_probability_unless_told_otherwise(kind):
    dropouts = dropouts_of(kind(D_MODEL, HEADS, D_FF, dropout=0.25))
    assert len(dropouts) == (4 if kind is EncoderLayer else 6)
    assert set(dropouts.values()) == {0.25}


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_attention_weights_and_hidden_activations_have_dropouts_of_their_own(kind):
    dropouts = dropouts_of(
        kind(D_MODEL, HEADS, D_FF, dropout=0.25, attention_dropout=0.0, activation_dropout=0.5)
    )
    for name, probability in dropouts.items():
        assert probability == {"heads": 0.0, "feed_forward.dropout": 0.5}.get(
            name.removeprefix("self_attention.").removeprefix("cross_attention."), 0.25
        )


@either_norm
def test_dropout_acts_only_in_training(norm, generator):
    torch.manual_seed(0)
    layer = EncoderLayer(D_MODEL, HEADS, D_FF, dropout=0.5, norm=norm)
    x = torch.randn(BATCH, SOURCE, D_MODEL, generator=generator)
    assert (layer(x) != layer(x)).any()
    layer.eval()
    assert_close(layer(x), layer(x), atol=0, rtol=0)


@pytest.mark.parametrize("positions", [None, RotaryPositions(), AlibiPositions()])
def test_a_causal_encoder_layer_gives_the_same_token_by_token_with_a_cache(positions):
    torch.manual_seed(0)
    layer, x = EncoderLayer(12, 3, 13, positions=positions), torch.randn(2, 5, 12)
    cache = KVCache(torch.arange(5))
    steps = [layer(x[:, [place]], cache=cache) for place in range(5)]
    assert_close(torch.cat(steps, dim=1), layer(x, causal_mask(5)))


@pytest.mark.usefixtures("as_a_user")
def test_invalid_input_is_named():
    with pytest.raises(ValueError, match=r"d_model \(10\) must be a multiple of num_heads \(3\)"):
        EncoderLayer(10, 3, D_FF)
    with pytest.raises(ValueError, match="d_ff must be a positive integer, got 0"):
        DecoderLayer(D_MODEL, HEADS, 0)
    with pytest.raises(ValueError, match="norm must be one of 'post', 'pre', got 'before'"):
        EncoderLayer(D_MODEL, HEADS, D_FF, norm="before")
    with pytest.raises(ValueError, match="dropout must be at least 0 and below 1, got 1"):
        FeedForward(D_MODEL, D_FF, dropout=1)
    with pytest.raises(ValueError, match=r"shift must have shape \(4,\), got \(3,\)"):
        layer_norm(torch.ones(2, 4), torch.ones(4), torch.ones(3))
    with pytest.raises(ValueError, match=r"outer_bias must have shape \(3,\), got \(4,\)"):
        feed_forward(
            torch.ones(2, 3),
            inner_weight=torch.ones(3, 5),
            inner_bias=torch.ones(5),
            outer_weight=torch.ones(5, 3),
            outer_bias=torch.ones(4),
        )
    encoder_layer, decoder_layer = EncoderLayer(D_MODEL, HEADS, D_FF), DecoderLayer(D_MODEL, HEADS, D_FF)
    x = torch.ones(BATCH, TARGET, D_MODEL)
    with pytest.raises(ValueError, match=r"x must have size 14 in its last axis, got shape \(2, 3, 13\)"):
        encoder_layer(x[..., 1:])
    with pytest.raises(ValueError, match=r"memory must not be empty, got shape \(2, 0, 14\)"):
        decoder_layer(x, x[:, :0])
    with pytest.raises(ValueError, match=r"x must hold floating-point numbers, got torch\.int64"):
        encoder_layer(x.long())
    with pytest.raises(ValueError, match=r"attn_mask must be boolean .* got torch\.float32"):
        encoder_layer(x, torch.ones(TARGET, TARGET))

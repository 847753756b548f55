import math

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional
from torch.testing import assert_close

from glassformer.modules.attention import (
    MultiHeadAttention,
    attention_weights,
    fused_attention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from glassformer.modules.cache import KVCache
from glassformer.modules.masks import causal_mask
from glassformer.modules.positions import AlibiPositions, RotaryPositions, alibi
from glassformer.reference import attention as reference
from glassformer.reference import heads as reference_heads
from glassformer.reference.softmax import softmax

BATCH, QUERY, KEY, D_K, D_V, HEADS = 2, 3, 5, 7, 11, 13  # all different, so no axis can pass for another
D_MODEL = HEADS * 4
TOLERANCE = {torch.float64: 1e-11, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}

sizes = st.integers(1, 7)
batches = st.lists(st.integers(1, 3), max_size=2).map(tuple)
seeds = st.integers(0, 2**32 - 1)
dtypes = st.sampled_from(list(TOLERANCE))
every_position = pytest.mark.parametrize("positions", [None, RotaryPositions(), AlibiPositions()])
# The device is the same for all examples of a test.
device_is_fixed = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


def make_vectors(generator, dtype=torch.float32):
    shapes = [(BATCH, QUERY, D_K), (BATCH, KEY, D_K), (BATCH, KEY, D_V)]
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]


def taught_path(*args, **options):
    return scaled_dot_product_attention(*args, **options)[0]


both_paths = pytest.mark.parametrize("path", [taught_path, fused_attention])
every_case = given(batches, st.tuples(sizes, sizes, sizes, sizes), seeds, dtypes)


def draw_case(batch, lengths, seed, dtype, *, masked=False, biased=False):
    """Draw queries, keys and values, rounded to the dtype, and a mask and a score bias, or None."""
    rng = np.random.default_rng(seed)
    query_length, key_length, d_k, d_v = lengths
    shapes = [(*batch, query_length, d_k), (*batch, key_length, d_k), (*batch, key_length, d_v)]
    tensors = [torch.tensor(rng.normal(size=shape)).to(dtype) for shape in shapes]
    attn_mask = torch.tensor(rng.random((query_length, key_length)) < 0.6) if masked else None
    score_bias = torch.tensor(rng.normal(size=(query_length, key_length))).to(dtype) if biased else None
    return tensors, attn_mask, score_bias


def as_array(tensor):
    return (
        None if tensor is None else tensor.numpy() if tensor.dtype == torch.bool else tensor.double().numpy()
    )


def to(device, tensor):
    return None if tensor is None else tensor.to(device)


@both_paths
@pytest.mark.parametrize("masked", [False, True])
@device_is_fixed
@every_case
def test_attention_gives_the_values_of_the_reference(path, masked, device, batch, lengths, seed, dtype):
    assume(not (dtype == torch.float64 and device.type == "mps"))
    tensors, attn_mask, _ = draw_case(batch, lengths, seed, dtype, masked=masked)
    expected, _ = reference.scaled_dot_product_attention(*map(as_array, tensors), as_array(attn_mask))
    attended = path(*(tensor.to(device) for tensor in tensors), to(device, attn_mask))
    assert attended.dtype == dtype
    close = {"atol": TOLERANCE[dtype], "rtol": TOLERANCE[dtype]}
    assert_close(attended.double().cpu(), torch.tensor(expected), **close)


@both_paths
@pytest.mark.parametrize("masked", [False, True])
@device_is_fixed
@every_case
def test_attention_has_the_gradients_of_the_reference(path, masked, device, batch, lengths, seed, dtype):
    assume(not (dtype == torch.float64 and device.type == "mps"))
    tensors, attn_mask, _ = draw_case(batch, lengths, seed, dtype, masked=masked)
    arrays = [as_array(tensor) for tensor in tensors]
    _, weights = reference.scaled_dot_product_attention(*arrays, as_array(attn_mask))
    leaves = [tensor.to(device).requires_grad_() for tensor in tensors]
    attended = path(*leaves, to(device, attn_mask))
    grad_attended = torch.tensor(np.random.default_rng(seed + 1).normal(size=attended.shape)).to(dtype)
    attended.backward(grad_attended.to(device))
    by_hand = reference.scaled_dot_product_attention_backward(as_array(grad_attended), *arrays, weights)
    close = {"atol": TOLERANCE[dtype], "rtol": TOLERANCE[dtype]}
    for leaf, grad in zip(leaves, by_hand, strict=True):
        assert_close(leaf.grad.double().cpu(), torch.tensor(grad), **close)


@both_paths
@pytest.mark.parametrize("masked", [False, True])
@device_is_fixed
@every_case
def test_a_score_bias_is_added_to_the_scaled_scores(path, masked, device, batch, lengths, seed, dtype):
    assume(not (dtype == torch.float64 and device.type == "mps"))
    tensors, attn_mask, bias = draw_case(batch, lengths, seed, dtype, masked=masked, biased=True)
    query, key, value = map(as_array, tensors)
    scores = query @ key.swapaxes(-2, -1) / math.sqrt(query.shape[-1]) + as_array(bias)
    expected = softmax(scores, where=as_array(attn_mask)) @ value
    on_device = [tensor.to(device) for tensor in tensors]
    attended = path(*on_device, to(device, attn_mask), score_bias=to(device, bias))
    close = {"atol": TOLERANCE[dtype], "rtol": TOLERANCE[dtype]}
    assert_close(attended.double().cpu(), torch.tensor(expected), **close)


@settings(max_examples=20)
@given(batches, seeds, st.booleans())
def test_the_taught_path_equals_pytorchs_kernel(batch, seed, causal):
    generator = torch.Generator().manual_seed(seed)
    query, key, value = torch.randn(3, *batch, KEY, D_K, generator=generator, dtype=torch.float64)
    attended, weights = scaled_dot_product_attention(query, key, value, causal_mask(KEY) if causal else None)
    theirs = functional.scaled_dot_product_attention(query, key, value, is_causal=causal)
    assert_close(attended, theirs)
    assert_close(weights, attention_weights(query, key, causal_mask(KEY) if causal else None))


def test_the_gradient_equals_finite_differences(generator):
    leaves = [vector.requires_grad_() for vector in make_vectors(generator, torch.float64)]
    attn_mask = torch.rand(BATCH, QUERY, KEY, generator=generator) < 0.6
    attn_mask[0, 0] = False
    assert torch.autograd.gradcheck(
        lambda *xs: scaled_dot_product_attention(*xs, attn_mask), leaves, fast_mode=True
    )
    assert torch.autograd.gradcheck(lambda *xs: fused_attention(*xs, attn_mask), leaves, fast_mode=True)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("biased", [False, True])
def test_a_fully_masked_query_gets_zeros_and_finite_gradients(dtype, biased, device, generator):
    if dtype == torch.float64 and device.type == "mps":
        pytest.skip("mps has no float64")
    vectors = make_vectors(generator, dtype)
    attn_mask = torch.ones(BATCH, QUERY, KEY, dtype=torch.bool, device=device)
    attn_mask[1, 2] = False
    bias = torch.randn(QUERY, KEY, generator=generator).to(device, dtype) if biased else None

    def taught(*xs):
        attended, weights = scaled_dot_product_attention(*xs, attn_mask, score_bias=bias)
        assert (weights[1, 2] == 0).all()
        return attended

    for path in (taught, lambda *xs: fused_attention(*xs, attn_mask, score_bias=bias)):
        leaves = [vector.to(device).detach().requires_grad_() for vector in vectors]
        attended = path(*leaves)
        attended.sum().backward()
        assert (attended[1, 2] == 0).all()
        assert (attended[1, 1] != 0).all()
        assert (leaves[0].grad[1, 2] == 0).all()
        assert all(leaf.grad.isfinite().all() for leaf in leaves)


def test_no_kernel_is_given_a_fully_masked_query(monkeypatch, generator):
    def kernel(query, key, value, mask, dropout):
        """Some kernels give NaN for such a row; this one does."""
        scores = (query @ key.mT / math.sqrt(D_K)).masked_fill(~mask, -math.inf)
        return scores.softmax(-1) @ value

    monkeypatch.setattr(functional, "scaled_dot_product_attention", kernel)
    leaves = [vector.requires_grad_() for vector in make_vectors(generator)]
    attn_mask = torch.ones(BATCH, QUERY, KEY, dtype=torch.bool)
    attn_mask[1, 2] = False
    attended = fused_attention(*leaves, attn_mask)
    attended.sum().backward()
    assert (attended[1, 2] == 0).all()
    assert all(leaf.grad.isfinite().all() for leaf in leaves)


@pytest.mark.parametrize("path", [scaled_dot_product_attention, fused_attention])
def test_a_masked_key_cannot_matter(path, generator):
    query, key, value = make_vectors(generator)
    attn_mask = torch.arange(KEY).expand(QUERY, KEY) < 3
    before = path(query, key, value, attn_mask)
    key[:, 3:], value[:, 3:] = 1e3, -1e3
    assert_close(path(query, key, value, attn_mask), before)
    key[:, :3] = 1e3
    with pytest.raises(AssertionError, match="not close"):
        assert_close(path(query, key, value, attn_mask), before)


@pytest.mark.parametrize("path", [scaled_dot_product_attention, fused_attention])
def test_dropout_drops_weights_and_keeps_their_mean(path, generator):
    torch.manual_seed(0)
    query = torch.randn(QUERY, D_K, generator=generator).expand(2000, QUERY, D_K)
    key = torch.randn(KEY, D_K, generator=generator).expand(2000, KEY, D_K)
    result = path(query, key, torch.ones(2000, KEY, D_V), None, 0.25)
    attended = result[0] if isinstance(result, tuple) else result
    assert (attended.std(0) > 0.1).all()
    assert_close(attended.mean(0), torch.ones(QUERY, D_V), atol=0.08, rtol=0)


def test_the_weights_returned_are_those_after_dropout(generator):
    torch.manual_seed(0)
    query, key, value = make_vectors(generator)
    attended, weights = scaled_dot_product_attention(query, key, value, None, 0.5)
    kept = weights != 0
    assert 0 < kept.sum() < kept.numel()
    assert_close(attended, weights @ value)
    assert_close(weights[kept], 2 * attention_weights(query, key)[kept])


@given(batches, sizes, sizes, sizes, seeds)
def test_heads_split_and_merge_as_in_the_reference(batch, time, num_heads, d_head, seed):
    x = np.random.default_rng(seed).normal(size=(*batch, time, num_heads * d_head))
    split = split_heads(torch.tensor(x), num_heads)
    np.testing.assert_array_equal(split, reference_heads.split_heads(x, num_heads))
    np.testing.assert_array_equal(merge_heads(split), x)


@settings(max_examples=20)
@given(batches, seeds, st.booleans())
def test_multi_head_attention_equals_the_reference(batch, seed, masked):
    rng = np.random.default_rng(seed)
    query, key, value = (rng.normal(size=(*batch, time, D_MODEL)) for time in (QUERY, KEY, KEY))
    attn_mask = rng.random((QUERY, KEY)) < 0.6 if masked else None
    torch.manual_seed(seed)
    attention = MultiHeadAttention(D_MODEL, HEADS, bias=False).double()
    names = ("query", "key", "value", "output")
    matrices = {
        f"{name}_weight": getattr(attention, f"{name}_proj").weight.detach().numpy().T for name in names
    }
    expected, expected_weights = reference_heads.multi_head_attention(
        query, key, value, num_heads=HEADS, attn_mask=attn_mask, **matrices
    )
    inputs = [torch.tensor(array) for array in (query, key, value)]
    torch_mask = None if attn_mask is None else torch.tensor(attn_mask)
    output, weights = attention(*inputs, torch_mask)
    np.testing.assert_allclose(output.detach(), expected, atol=1e-12)
    np.testing.assert_allclose(weights.detach(), expected_weights, atol=1e-12)
    assert_close(attention(*inputs, torch_mask, need_weights=False)[0], output)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_multi_head_attention_equals_pytorchs_forward_and_backward(bias, masked, generator):
    ours = MultiHeadAttention(D_MODEL, HEADS, bias=bias).double()
    theirs = nn.MultiheadAttention(D_MODEL, HEADS, bias=bias, batch_first=True).double()
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.normal_(std=0.2, generator=generator)
        projections = (ours.query_proj, ours.key_proj, ours.value_proj)
        theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
        theirs.out_proj.weight.copy_(ours.output_proj.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
            theirs.out_proj.bias.copy_(ours.output_proj.bias)
    inputs = [torch.randn(BATCH, time, D_MODEL, generator=generator).double() for time in (QUERY, KEY, KEY)]
    attn_mask = (torch.rand(QUERY, KEY, generator=generator) < 0.6).index_fill(1, torch.tensor([0]), True)

    leaves = [x.clone().requires_grad_() for x in inputs]
    their_leaves = [x.clone().requires_grad_() for x in inputs]
    output, weights = ours(*leaves, attn_mask if masked else None)
    their_output, their_weights = theirs(
        *their_leaves, attn_mask=~attn_mask if masked else None, average_attn_weights=False
    )
    assert_close(output, their_output)
    assert_close(weights, their_weights)
    output.square().sum().backward()
    their_output.square().sum().backward()
    for leaf, their_leaf in zip(leaves, their_leaves, strict=True):
        assert_close(leaf.grad, their_leaf.grad)
    grads = torch.cat([projection.weight.grad for projection in projections])
    assert_close(grads, theirs.in_proj_weight.grad)


@every_position
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_fused_path_gives_the_same_output(positions, dtype, device, generator):
    attention = MultiHeadAttention(D_MODEL, HEADS, positions=positions).to(device, dtype)
    x = torch.randn(BATCH, KEY, D_MODEL, generator=generator).to(device, dtype)
    attn_mask = causal_mask(KEY, device) & (torch.rand(BATCH, 1, 1, KEY, generator=generator) < 0.6).to(
        device
    )
    output, weights = attention(x, x, x, attn_mask)
    assert weights.shape == (BATCH, HEADS, KEY, KEY)
    assert output.dtype == weights.dtype == dtype
    tolerance = {torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 3e-2}[dtype]
    assert_close(attention(x, x, x, attn_mask, need_weights=False)[0], output, atol=tolerance, rtol=tolerance)


def test_alibi_lowers_the_scores(generator):
    attention = MultiHeadAttention(D_MODEL, HEADS, positions=AlibiPositions())
    x = torch.zeros(BATCH, KEY, D_MODEL)  # all scores are equal but for the bias
    _, weights = attention(x, x, x)
    assert_close(weights, alibi(KEY, KEY, HEADS).softmax(-1).expand_as(weights))


def test_rotary_weights_depend_on_distance_alone(generator):
    attention = MultiHeadAttention(D_MODEL, HEADS, positions=RotaryPositions())
    x = torch.randn(D_MODEL, generator=generator).expand(BATCH, KEY, D_MODEL)  # one token, many times
    _, weights = attention(x, x, x)
    scores = weights.log()
    steps = scores.diff(dim=-1)  # a row's constant is gone, what is left depends on distance
    assert_close(steps[..., 1:, 1:], steps[..., :-1, :-1], atol=1e-4, rtol=0)
    assert steps.abs().max() > 1e-3


@pytest.mark.parametrize("need_weights", [True, False])
def test_hooks_can_record_and_change_heads_on_both_paths(need_weights, generator):
    attention = MultiHeadAttention(D_MODEL, HEADS)
    x = torch.randn(BATCH, KEY, D_MODEL, generator=generator)
    _, expected = attention(x, x, x)
    seen = []

    def silence_all(module, args, output):
        seen.append(output[1])
        return torch.zeros_like(output[0]), output[1]

    attention.heads.register_forward_pre_hook(
        lambda module, args, kwargs: (args, kwargs | {"need_weights": True}), with_kwargs=True
    )
    attention.heads.register_forward_hook(silence_all)
    result, _ = attention(x, x, x, need_weights=need_weights)
    assert len(seen) == 1
    assert_close(seen[0], expected)
    assert_close(result, attention.output_proj.bias.expand_as(result))


def test_weights_are_computed_only_when_needed(generator):
    attention = MultiHeadAttention(D_MODEL, HEADS)
    seen = []
    attention.heads.register_forward_hook(lambda module, args, output: seen.append(output[1]))
    x = torch.randn(BATCH, KEY, D_MODEL, generator=generator)
    _, weights = attention(x, x, x)
    _, nothing = attention(x, x, x, need_weights=False)
    assert seen[0] is weights
    assert seen[1] is nothing is None


def test_dropout_is_off_in_evaluation_mode(generator):
    torch.manual_seed(0)
    attention = MultiHeadAttention(D_MODEL, HEADS, dropout=0.5)
    x = torch.randn(BATCH, KEY, D_MODEL, generator=generator)
    assert (attention(x, x, x)[1] == 0).any()
    assert (attention(x, x, x, need_weights=False)[0] != attention(x, x, x, need_weights=False)[0]).any()
    attention.eval()
    assert_close(attention(x, x, x)[1].sum(-1), torch.ones(BATCH, HEADS, KEY))
    assert_close(attention(x, x, x, need_weights=False)[0], attention(x, x, x)[0])


def test_a_forward_pass_stores_nothing_on_the_module(generator):
    attention = MultiHeadAttention(D_MODEL, HEADS)
    before = {name: set(vars(module)) for name, module in attention.named_modules()}
    x = torch.randn(BATCH, KEY, D_MODEL, generator=generator)
    attention(x, x, x)
    attention(x, x, x, need_weights=False)
    assert {name: set(vars(module)) for name, module in attention.named_modules()} == before


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize("path", [scaled_dot_product_attention, fused_attention])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": torch.ones(2, 3, 6)}, r"query \(6\) and key \(7\) must have the same width"),
        ({"value": torch.ones(2, 4, 11)}, r"key \(5\) and value \(4\) must have the same length"),
        ({"query": torch.ones(4, 3, 7)}, r"must have the same batch axes, got \(4,\) and \(2,\)"),
        ({"key": torch.ones(2, 0, 7), "value": torch.ones(2, 0, 11)}, r"key must not be empty"),
        ({"query": torch.ones(2, 3, 7).long()}, "query must hold floating-point numbers, got torch.int64"),
        ({"value": torch.ones(2, 5, 11).double()}, r"query \(torch.float32\).* value \(torch.float64\)"),
        ({"attn_mask": torch.ones(3, 5)}, "attn_mask must be boolean .* got torch.float32"),
        ({"attn_mask": torch.ones(5, 3) > 0}, r"attn_mask must broadcast against \(2, 3, 5\)"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
    ],
)
def test_invalid_input_is_named(path, changes, message, generator):
    query, key, value = make_vectors(generator)
    with pytest.raises(ValueError, match=message):
        path(**({"query": query, "key": key, "value": value} | changes))


@pytest.mark.usefixtures("as_a_user")
def test_multi_head_attention_names_invalid_input():
    with pytest.raises(ValueError, match=r"d_model \(10\) must be a multiple of num_heads \(3\)"):
        MultiHeadAttention(10, 3)
    with pytest.raises(ValueError, match=r"dropout must be at least 0 and below 1, got -0\.1"):
        MultiHeadAttention(10, 5, dropout=-0.1)
    attention, x = MultiHeadAttention(6, 3), torch.ones(2, 5, 6)
    for paths in ({"need_weights": True}, {"need_weights": False}):
        with pytest.raises(ValueError, match=r"key must have size 6 in its last axis, got shape \(2, 5, 7\)"):
            attention(x, torch.ones(2, 5, 7), x, **paths)
        with pytest.raises(ValueError, match=r"attn_mask must broadcast against \(2, 3, 5, 5\)"):
            attention(x, x, x, torch.ones(2, 5, 5) > 0, **paths)
        with pytest.raises(ValueError, match=r"query must hold floating-point numbers, got torch\.int64"):
            attention(x.long(), x, x, **paths)


@every_position
def test_one_token_at_a_time_with_a_cache_gives_the_output_of_all_at_once(positions, device):
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3, positions=positions).to(device)
    x = torch.randn(2, 7, 12, device=device)
    expected, expected_weights = attention(x, x, x, causal_mask(7, device))
    for need_weights in (True, False):
        cache = KVCache(torch.arange(7, device=device))
        for place in range(7):
            new = x[:, [place]]
            output, weights = attention(new, new, new, cache=cache, need_weights=need_weights)
            assert_close(output, expected[:, [place]])
            if need_weights:
                assert_close(weights, expected_weights[:, :, [place], : place + 1])


@every_position
def test_several_tokens_at_a_time_with_a_cache_give_the_output_of_all_at_once(positions):
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3, positions=positions)
    x, mask = torch.randn(2, 7, 12), causal_mask(7)
    expected, _ = attention(x, x, x, mask)
    cache = KVCache(torch.arange(7))
    for new in (slice(0, 3), slice(3, 4), slice(4, 7)):
        output, _ = attention(x[:, new], x[:, new], x[:, new], mask[new, : new.stop], cache=cache)
        assert_close(output, expected[:, new])


@every_position
def test_candidates_for_one_position_do_not_attend_to_each_other(positions):
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3, positions=positions)
    before, candidates = torch.randn(2, 1, 12), torch.randn(2, 5, 12)
    cache = KVCache(torch.tensor([0, 1, 1, 1, 1, 1]))
    attention(before, before, before, cache=cache)
    first_and_itself = torch.cat([torch.ones(5, 1), torch.eye(5)], dim=1).bool().expand(2, 1, 5, 6)
    together, _ = attention(candidates, candidates, candidates, first_and_itself, cache=cache)
    for number in range(5):
        x = torch.cat([before, candidates[:, [number]]], dim=1)
        assert_close(together[:, number], attention(x, x, x, causal_mask(2))[0][:, 1])


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_cache_without_positions_keeps_the_first_keys_and_values(need_weights):
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3)
    query, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    attn_mask = (torch.arange(7) < torch.tensor([[7], [3]]))[:, None, None]
    expected, _ = attention(query, memory, memory, attn_mask)
    cache, projected = KVCache(), []
    attention.key_proj.register_forward_hook(lambda *_: projected.append(1))
    for source in (memory, memory, torch.full_like(memory, torch.nan)):
        output, _ = attention(query, source, source, attn_mask, cache=cache, need_weights=need_weights)
        assert_close(output, expected)
    assert len(projected) == 1

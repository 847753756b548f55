import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from glassformer.modules import chunked
from glassformer.modules.attention import scaled_dot_product_attention
from glassformer.modules.chunked import chunked_attention
from glassformer.modules.masks import causal_mask

BATCH, HEADS, QUERY, KEY, D_K, D_V = 2, 3, 11, 13, 5, 7
TOLERANCE = {torch.float64: 1e-11, torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 1e-1}
# 1 is the smallest, 4 divides neither length, 11 divides one, 64 holds everything.
CHUNK_SIZES = [1, 4, 11, 64]

sizes = st.integers(1, 9)
device_is_fixed = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def make_vectors(
    generator, dtype=torch.float32, batch=(BATCH, HEADS), query=QUERY, key=KEY, d_k=D_K, d_v=D_V
):
    shapes = [(*batch, query, d_k), (*batch, key, d_k), (*batch, key, d_v)]
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


def taught(query, key, value, attn_mask=None):
    return scaled_dot_product_attention(query, key, value, attn_mask)[0]


def value_and_gradients(path, vectors, grad_attended, *args, **options):
    leaves = [vector.clone().requires_grad_() for vector in vectors]
    attended = path(*leaves, *args, **options)
    attended.backward(grad_attended)
    return [attended.detach(), *(leaf.grad for leaf in leaves)]


def assert_same(vectors, attn_mask=None, *, chunk_size, tolerance=1e-11):
    """Compare value and gradients with those of the taught path, computed in double precision."""
    grad_attended = torch.randn(
        *vectors[0].shape[:-1], vectors[2].shape[-1], generator=torch.Generator().manual_seed(1)
    ).to(vectors[0])
    double = [vector.double() for vector in vectors]
    expected = value_and_gradients(taught, double, grad_attended.double(), attn_mask)
    found = value_and_gradients(chunked_attention, vectors, grad_attended, attn_mask, chunk_size=chunk_size)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == vectors[0].dtype
        assert_close(one.double(), other, atol=tolerance, rtol=tolerance)


@device_is_fixed
@given(
    st.lists(st.integers(1, 3), max_size=2).map(tuple),
    *[sizes] * 5,
    st.integers(0, 2**32 - 1),
    st.sampled_from(["none", "shared", "own"]),
)
def test_it_is_the_taught_path_forward_and_backward(
    device, batch, query_length, key_length, d_k, d_v, chunk_size, seed, mask
):
    generator = torch.Generator().manual_seed(seed)
    dtype = torch.float32 if device.type == "mps" else torch.float64
    vectors = make_vectors(generator, dtype, batch, query_length, key_length, d_k, d_v)
    shape = (*batch, query_length, key_length) if mask == "own" else (query_length, key_length)
    attn_mask = None if mask == "none" else (torch.rand(shape, generator=generator) < 0.6).to(device)
    vectors = [vector.to(device) for vector in vectors]
    assert_same(vectors, attn_mask, chunk_size=chunk_size, tolerance=TOLERANCE[dtype])


@pytest.mark.parametrize("chunk_size", CHUNK_SIZES)
@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_any_chunk_size_and_any_precision_gives_the_same(dtype, chunk_size, generator):
    attn_mask = torch.rand(BATCH, 1, QUERY, KEY, generator=generator) < 0.6
    for mask in (None, attn_mask):
        assert_same(make_vectors(generator, dtype), mask, chunk_size=chunk_size, tolerance=TOLERANCE[dtype])


@pytest.mark.parametrize(
    "shape", [(1, KEY), (QUERY, 1), (QUERY, KEY), (BATCH, 1, 1, KEY), (HEADS, QUERY, KEY)]
)
def test_a_mask_of_any_fitting_shape_is_broadcast(shape, generator):
    attn_mask = torch.rand(shape, generator=generator) < 0.6
    assert_same(make_vectors(generator, torch.float64), attn_mask, chunk_size=4)


@pytest.mark.parametrize("chunk_size", CHUNK_SIZES)
@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_a_query_that_may_look_at_nothing_gets_zeros_and_finite_gradients(dtype, chunk_size, generator):
    attn_mask = torch.ones(BATCH, HEADS, QUERY, KEY, dtype=torch.bool)
    attn_mask[1, 2, 3] = False
    vectors = make_vectors(generator, dtype)
    attended, query_grad, key_grad, value_grad = value_and_gradients(
        chunked_attention,
        vectors,
        torch.ones(BATCH, HEADS, QUERY, D_V, dtype=dtype),
        attn_mask,
        chunk_size=chunk_size,
    )
    assert (attended[1, 2, 3] == 0).all()
    assert (query_grad[1, 2, 3] == 0).all()
    assert (attended[1, 2, 4] != 0).all()
    assert all(grad.isfinite().all() for grad in (query_grad, key_grad, value_grad))
    assert_same(vectors, attn_mask, chunk_size=chunk_size, tolerance=TOLERANCE[dtype])


@pytest.mark.parametrize("chunk_size", CHUNK_SIZES)
@pytest.mark.parametrize("size", [1e-30, 1e3])
def test_scores_of_any_size_neither_overflow_nor_vanish(chunk_size, size, generator):
    query, key, value = make_vectors(generator)
    key[..., -1, :] *= 3  # the highest of a row may come last, after sums that it makes small
    attn_mask = torch.ones(QUERY, KEY, dtype=torch.bool).tril(1)
    for mask in (None, attn_mask):
        vectors = [(query * size).double(), key.double(), value.double()]
        assert_same(vectors, mask, chunk_size=chunk_size, tolerance=1e-9)
        single = chunked_attention(query * size, key, value, mask, chunk_size=chunk_size)
        assert single.isfinite().all()


def test_a_masked_key_cannot_matter(generator):
    query, key, value = make_vectors(generator)
    attn_mask = torch.arange(KEY).expand(QUERY, KEY) < 7
    before = chunked_attention(query, key, value, attn_mask, chunk_size=4)
    key[..., 7:, :], value[..., 7:, :] = 1e3, -1e3
    assert_close(chunked_attention(query, key, value, attn_mask, chunk_size=4), before)
    key[..., :7, :] = 1e3
    with pytest.raises(AssertionError, match="not close"):
        assert_close(chunked_attention(query, key, value, attn_mask, chunk_size=4), before)


def test_vectors_that_do_not_lie_side_by_side_are_read_alike(generator):
    vectors = make_vectors(generator, torch.float64, batch=(BATCH, HEADS))
    strided = [vector.transpose(1, 2).contiguous().transpose(1, 2) for vector in vectors]
    assert not strided[0].is_contiguous()
    assert_same(strided, causal_mask(KEY)[-QUERY:], chunk_size=4)


def test_squares_that_are_hidden_cost_nothing_and_no_square_is_larger_than_asked_for(monkeypatch, generator):
    made = []
    product = chunked._Square.product

    def counted(square, left, right):
        made.append((left.shape[-2], right.shape[-1]))
        return product(square, left, right)

    monkeypatch.setattr(chunked._Square, "product", counted)
    query, key, value = make_vectors(generator, query=12, key=12)
    chunked_attention(query, key, value, causal_mask(12), chunk_size=4)
    assert made == [(4, 4)] * 6  # of nine
    made.clear()
    chunked_attention(query, key, value, chunk_size=5)
    assert len(made) == 9
    assert max(map(math.prod, made)) == 25


def test_the_gradient_is_that_of_finite_differences(generator):
    leaves = [vector.requires_grad_() for vector in make_vectors(generator, torch.float64)]
    attn_mask = torch.rand(QUERY, KEY, generator=generator) < 0.6
    attn_mask[3] = False
    assert torch.autograd.gradcheck(
        lambda *xs: chunked_attention(*xs, attn_mask, chunk_size=4), leaves, fast_mode=True
    )


def test_a_gradient_of_the_gradient_is_refused(generator):
    leaves = [vector.requires_grad_() for vector in make_vectors(generator)]
    attended = chunked_attention(*leaves, chunk_size=4)
    (grad,) = torch.autograd.grad(attended.square().sum(), leaves[0], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()


def test_autocast_rounds_nothing_inside(generator):
    vectors = make_vectors(generator)
    grad_attended = torch.randn(BATCH, HEADS, QUERY, D_V, generator=generator)
    expected = value_and_gradients(chunked_attention, vectors, grad_attended, chunk_size=4)
    with torch.autocast("cpu", torch.bfloat16):
        found = value_and_gradients(chunked_attention, vectors, grad_attended, chunk_size=4)
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chunk_size": 0}, "chunk_size must be a whole number of at least 1, got 0"),
        ({"chunk_size": 2.0}, r"chunk_size must be a whole number of at least 1, got 2\.0"),
        ({"key": torch.ones(BATCH, HEADS, KEY, D_K + 1)}, "key"),
        ({"value": torch.ones(BATCH, HEADS, KEY + 1, D_V)}, "value"),
        ({"key": torch.ones(BATCH, HEADS, KEY, D_K).double()}, "float64"),
        ({"query": torch.ones(BATCH, HEADS, QUERY, D_K).long()}, "query must hold floating-point numbers"),
        ({"query": torch.ones(BATCH + 1, HEADS, QUERY, D_K)}, "query"),
        ({"attn_mask": torch.ones(QUERY, KEY)}, "attn_mask"),
        ({"attn_mask": torch.ones(QUERY, KEY + 1, dtype=torch.bool)}, "attn_mask"),
    ],
)
def test_bad_input_is_named(changes, message, generator):
    arguments = dict(zip(("query", "key", "value"), make_vectors(generator), strict=True))
    with pytest.raises(ValueError, match=message):
        chunked_attention(**(arguments | changes))

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from glassformer.reference.attention import (
    attention_weights,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)
from glassformer.reference.masks import causal_mask

QUERY, KEY, D_K, D_V = 3, 5, 7, 2  # all different, so no axis can pass for another
batches = st.sampled_from([(), (2,), (2, 11)])
seeds = st.integers(0, 2**32 - 1)


def vectors(batch, rng, dtype=np.float64):
    return (
        rng.normal(size=(*batch, QUERY, D_K)).astype(dtype),
        rng.normal(size=(*batch, KEY, D_K)).astype(dtype),
        rng.normal(size=(*batch, KEY, D_V)).astype(dtype),
    )


def test_two_keys_by_hand():
    query, key = np.array([[1.0, 1, 1, 1]]), np.array([[0.0, 0, 0, 0], [1, 1, 1, 1]])
    value = np.array([[10.0], [20.0]])
    attended, weights = scaled_dot_product_attention(query, key, value)
    assert weights[0, 1] / weights[0, 0] == pytest.approx(np.e**2)  # a score of 4 / √4
    assert attended.item() == pytest.approx(10 * weights[0, 0] + 20 * weights[0, 1])


@given(batches, seeds, st.booleans())
def test_attention_and_its_gradients_equal_those_of_pytorch(batch, seed, masked):
    rng = np.random.default_rng(seed)
    arrays = vectors(batch, rng)
    attn_mask = rng.random((*batch, QUERY, KEY)) < 0.7 if masked else None
    attended, weights = scaled_dot_product_attention(*arrays, attn_mask)
    grad_attended = rng.normal(size=attended.shape)
    grads = scaled_dot_product_attention_backward(grad_attended, *arrays, weights)

    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
    theirs = functional.scaled_dot_product_attention(*leaves, torch.tensor(attn_mask) if masked else None)
    theirs.backward(torch.tensor(grad_attended))
    np.testing.assert_allclose(attended, theirs.detach(), atol=1e-12)
    for grad, leaf in zip(grads, leaves, strict=True):
        np.testing.assert_allclose(grad, leaf.grad, atol=1e-12)


@given(seeds)
def test_the_gradient_by_hand_equals_finite_differences(seed):
    rng = np.random.default_rng(seed)
    arrays, attn_mask = vectors((2,), rng), rng.random((2, QUERY, KEY)) < 0.6
    attended, weights = scaled_dot_product_attention(*arrays, attn_mask)
    grad_attended = rng.normal(size=attended.shape)
    grads = scaled_dot_product_attention_backward(grad_attended, *arrays, weights)
    directions, step = vectors((2,), rng), 1e-6
    ahead, behind = (
        scaled_dot_product_attention(
            *(array + sign * step * direction for array, direction in zip(arrays, directions, strict=True)),
            attn_mask,
        )[0]
        for sign in (1, -1)
    )
    slope = (grad_attended * (ahead - behind)).sum() / (2 * step)
    along = sum((grad * direction).sum() for grad, direction in zip(grads, directions, strict=True))
    np.testing.assert_allclose(along, slope, atol=1e-6)


@given(seeds)
def test_a_masked_key_cannot_matter(seed):
    rng = np.random.default_rng(seed)
    query, key, value = vectors((2,), rng)
    attn_mask = np.arange(KEY) < np.array([[3], [3], [1]])
    before, _ = scaled_dot_product_attention(query, key, value, attn_mask)
    key[:, 3:], value[:, 3:] = 1e3, -1e3
    after, weights = scaled_dot_product_attention(query, key, value, attn_mask)
    np.testing.assert_array_equal(before, after)
    assert (weights[:, ~attn_mask] == 0).all()


def test_no_position_sees_the_future_through_a_causal_mask(rng):
    x = rng.normal(size=(KEY, D_K))
    before, _ = scaled_dot_product_attention(x, x, x, causal_mask(KEY))
    x[-1] += 1
    after, _ = scaled_dot_product_attention(x, x, x, causal_mask(KEY))
    np.testing.assert_array_equal(before[:-1], after[:-1])
    assert not np.allclose(before[-1], after[-1])


def test_a_query_that_may_attend_to_nothing_gets_zeros(rng):
    attn_mask = np.array([[True], [False], [True]])
    attended, weights = scaled_dot_product_attention(*vectors((2,), rng), attn_mask)
    assert not attended[:, 1].any()
    assert not weights[:, 1].any()
    assert attended[:, [0, 2]].all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_of_the_input_is_kept(rng, dtype):
    arrays = vectors((2,), rng, dtype)
    attended, weights = scaled_dot_product_attention(*arrays)
    grads = scaled_dot_product_attention_backward(attended, *arrays, weights)
    assert {array.dtype for array in (attended, weights, *grads)} == {np.dtype(dtype)}
    exact, _ = scaled_dot_product_attention(*(array.astype(np.float64) for array in arrays))
    np.testing.assert_allclose(attended, exact, atol=4 * np.finfo(dtype).eps)


def zeros(*shape):
    return np.zeros(shape)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: attention_weights(zeros(3, 7), zeros(5, 2)),
            r"query \(7\) and key \(2\) must have the same width",
        ),
        (
            lambda: scaled_dot_product_attention(zeros(3, 7), zeros(5, 7), zeros(4, 7)),
            r"key \(5\) and value \(4\) must have the same length",
        ),
        (
            lambda: attention_weights(zeros(2, 3, 7), zeros(3, 5, 7)),
            r"query and key must have the same batch axes, got \(2,\) and \(3,\)",
        ),
        (lambda: attention_weights(zeros(7), zeros(5, 7)), "query must have at least 2 axes"),
        (lambda: attention_weights(zeros(3, 7), zeros(0, 7)), "key must not be empty"),
        (lambda: attention_weights(zeros(3, 7).astype(int), zeros(5, 7)), "query must hold floating-point"),
        (
            lambda: attention_weights(zeros(3, 7), zeros(5, 7) * np.nan),
            "key must not hold NaN, got 35 among 35",
        ),
        (
            lambda: scaled_dot_product_attention(zeros(3, 7), zeros(5, 7), zeros(5, 2) * np.nan),
            "value must not hold NaN, got 10 among 10",
        ),
        (
            lambda: attention_weights(zeros(3, 7), zeros(5, 7), np.ones((3, 5))),
            "attn_mask must be boolean .*, got float64",
        ),
        (
            lambda: attention_weights(zeros(3, 7), zeros(5, 7), np.ones((5, 3), bool)),
            r"attn_mask must broadcast against \(3, 5\), got shape \(5, 3\)",
        ),
        (
            lambda: scaled_dot_product_attention_backward(
                zeros(3, 2), zeros(3, 7), zeros(5, 7), zeros(5, 2), zeros(3, 4)
            ),
            r"weights must have shape \(3, 5\), got \(3, 4\)",
        ),
    ],
)
def test_an_invalid_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from glassformer.reference.softmax import log_softmax, online_softmax, softmax, softmax_backward

scores = arrays(np.float64, array_shapes(max_dims=3, max_side=7), elements=st.floats(-700, 700))
seeds = st.integers(0, 2**32 - 1)


@given(scores)
def test_softmax_equals_that_of_pytorch(x):
    np.testing.assert_allclose(softmax(x), torch.softmax(torch.tensor(x), -1), atol=1e-12)


@given(scores)
def test_log_softmax_equals_that_of_pytorch(x):
    np.testing.assert_allclose(log_softmax(x), torch.log_softmax(torch.tensor(x), -1), atol=1e-9)


def test_softmax_of_two_scores_by_hand():
    np.testing.assert_allclose(softmax(np.array([0.0, np.log(3.0)])), [1 / 4, 3 / 4])


@given(scores, st.floats(-1000, 1000))
def test_a_constant_added_to_all_scores_changes_nothing(x, constant):
    np.testing.assert_allclose(softmax(x + constant), softmax(x), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_largest_number_of_a_dtype_does_not_overflow(dtype):
    weights = softmax(np.array([np.finfo(dtype).max, 0], dtype))
    np.testing.assert_array_equal(weights, np.array([1, 0], dtype))
    assert weights.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_scores_as_far_apart_as_their_dtype_allows_do_not_overflow(dtype):
    x = np.array([-np.finfo(dtype).max, np.finfo(dtype).max], dtype)
    np.testing.assert_array_equal(softmax(x), [0, 1])
    np.testing.assert_array_equal(online_softmax(x, 1), [0, 1])
    np.testing.assert_array_equal(log_softmax(x), [-np.inf, 0])


@pytest.mark.parametrize("axis", [0, 1])
def test_a_float16_row_longer_than_the_largest_float16_still_sums_to_one(axis):
    shape = (70_001, 1) if axis == 0 else (1, 70_001)
    x = np.zeros(shape, np.float16)
    for weights in (softmax(x, axis), online_softmax(x, 1009, axis), np.exp(log_softmax(x, axis))):
        assert weights.dtype == np.float16
        np.testing.assert_allclose(weights.sum(dtype=np.float64), 1, rtol=1e-2)
    grad = softmax_backward(np.ones(shape, np.float16), softmax(x, axis), axis)
    assert grad.dtype == np.float16
    np.testing.assert_allclose(grad, 0, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_weights_sum_to_one_along_their_axis(rng, axis):
    np.testing.assert_allclose(softmax(rng.normal(size=(2, 3, 5)), axis=axis).sum(axis=axis), 1)


@given(seeds)
def test_masked_scores_get_weights_of_zero_and_do_not_change_the_others(seed):
    rng = np.random.default_rng(seed)
    x, where = rng.normal(size=7), rng.random(7) < 0.5
    weights = softmax(x, where=where)
    assert (weights[~where] == 0).all()
    if where.any():
        np.testing.assert_allclose(weights[where], softmax(x[where]))


def test_a_fully_masked_row_gets_weights_of_zero():
    where = np.array([[True, False], [False, False]])
    np.testing.assert_array_equal(softmax(np.ones((2, 2)), where=where), [[1, 0], [0, 0]])
    np.testing.assert_array_equal(
        log_softmax(np.ones((2, 2)), where=where), [[0, -np.inf], [-np.inf, -np.inf]]
    )


def test_log_softmax_stays_finite_when_the_weight_underflows():
    assert log_softmax(np.array([0.0, -1e4]))[1] == -1e4


@given(seeds)
def test_the_gradient_by_hand_equals_autograd_and_finite_differences(seed):
    rng = np.random.default_rng(seed)
    x, grad_weights = rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    grad = softmax_backward(grad_weights, softmax(x))

    leaf = torch.tensor(x, requires_grad=True)
    torch.softmax(leaf, -1).backward(torch.tensor(grad_weights))
    np.testing.assert_allclose(grad, leaf.grad, atol=1e-12)

    step, direction = 1e-6, rng.normal(size=x.shape)
    ahead, behind = (softmax(x + sign * step * direction) for sign in (1, -1))
    slope = (grad_weights * (ahead - behind)).sum() / (2 * step)
    np.testing.assert_allclose((grad * direction).sum(), slope, atol=1e-7)


@given(scores, st.integers(1, 8), st.data())
def test_online_softmax_equals_softmax_for_any_block_size(x, block_size, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    np.testing.assert_allclose(online_softmax(x, block_size, axis), softmax(x, axis), rtol=1e-12, atol=1e-300)


def test_a_stream_may_start_with_scores_of_minus_infinity():
    x = np.array([-np.inf, -np.inf, 1.0, 2.0])
    np.testing.assert_allclose(online_softmax(x, 2), softmax(x))


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: softmax([1.0, 2.0]), "x must be an array of floats, got list"),
        (lambda: softmax(np.array([1, 2])), "x must hold floating-point numbers, got int64"),
        (lambda: softmax(np.array([1.0, np.nan])), "x must not hold NaN, got 1 among 2"),
        (lambda: softmax(np.array([1.0, np.inf])), "x must be below \\+∞, got 1 infinite"),
        (lambda: softmax(np.ones((2, 0))), r"x must not be empty, got shape \(2, 0\)"),
        (lambda: softmax(np.ones((2, 3)), axis=2), "axis 2 is out of bounds"),
        (lambda: softmax(np.ones(3), where=np.ones(3)), "where must be boolean .*, got float64"),
        (lambda: softmax(np.ones((2, 3)), where=np.ones(2, bool)), r"where must broadcast against \(2, 3\)"),
        (lambda: log_softmax(np.array([np.nan])), "x must not hold NaN"),
        (lambda: online_softmax(np.ones(3), 0), "block_size must be a positive integer, got 0"),
        (
            lambda: softmax_backward(np.ones(2), np.ones(3)),
            r"grad_weights must have shape \(3,\), got \(2,\)",
        ),
    ],
)
def test_an_invalid_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

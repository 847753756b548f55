import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from glassformer.reference.layers import feed_forward, layer_norm, layer_norm_backward

D_MODEL, D_FF = 5, 7
batches = st.sampled_from([(), (3,), (2, 3)])
seeds = st.integers(0, 2**32 - 1)


def test_two_components_by_hand():
    x, ones = np.array([1.0, 5.0]), np.ones(2)
    np.testing.assert_allclose(layer_norm(x, ones, 0 * ones, epsilon=1e-12), [-1, 1])  # variance 4, not 8


@given(batches, seeds)
def test_layer_norm_and_its_gradients_equal_those_of_pytorch(batch, seed):
    rng = np.random.default_rng(seed)
    x, grad_output = rng.normal(size=(2, *batch, D_MODEL))
    scale, shift = rng.normal(size=(2, D_MODEL))
    leaves = [torch.tensor(array, requires_grad=True) for array in (x, scale, shift)]
    theirs = functional.layer_norm(leaves[0], (D_MODEL,), leaves[1], leaves[2])
    theirs.backward(torch.tensor(grad_output))
    np.testing.assert_allclose(layer_norm(x, scale, shift), theirs.detach(), atol=1e-12)
    for grad, leaf in zip(layer_norm_backward(grad_output, x, scale), leaves, strict=True):
        np.testing.assert_allclose(grad, leaf.grad, atol=1e-9)


@given(seeds)
def test_the_gradient_by_hand_equals_finite_differences(seed):
    rng = np.random.default_rng(seed)
    x, grad_output, direction = rng.normal(size=(3, 2, D_MODEL))
    scale, shift = rng.normal(size=(2, D_MODEL))
    step = 1e-6
    ahead, behind = (layer_norm(x + sign * step * direction, scale, shift) for sign in (1, -1))
    grad_x, _, _ = layer_norm_backward(grad_output, x, scale)
    slope = (grad_output * (ahead - behind)).sum() / (2 * step)
    np.testing.assert_allclose((grad_x * direction).sum(), slope, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_of_the_input_is_kept(rng, dtype):
    x, scale, shift = (rng.normal(size=shape).astype(dtype) for shape in ((3, D_MODEL), D_MODEL, D_MODEL))
    assert layer_norm(x, scale, shift).dtype == dtype
    assert {grad.dtype for grad in layer_norm_backward(x, x, scale)} == {np.dtype(dtype)}


@given(batches, seeds)
def test_feed_forward_is_two_linear_maps_with_a_relu_between_them(batch, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(*batch, D_MODEL))
    inner, outer = (
        torch.nn.Linear(*size, dtype=torch.float64) for size in ((D_MODEL, D_FF), (D_FF, D_MODEL))
    )
    theirs = outer(inner(torch.tensor(x)).relu())
    ours = feed_forward(
        x,
        inner_weight=inner.weight.detach().numpy().T,
        inner_bias=inner.bias.detach().numpy(),
        outer_weight=outer.weight.detach().numpy().T,
        outer_bias=outer.bias.detach().numpy(),
    )
    np.testing.assert_allclose(ours, theirs.detach(), atol=1e-12)


def feed(d_ff=D_FF, bias=D_FF):
    return feed_forward(
        np.zeros((3, D_MODEL)),
        inner_weight=np.zeros((D_MODEL, D_FF)),
        inner_bias=np.zeros(bias),
        outer_weight=np.zeros((d_ff, D_MODEL)),
        outer_bias=np.zeros(D_MODEL),
    )


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: layer_norm(np.ones((2, 5)), np.ones(4), np.ones(5)),
            r"scale must have shape \(5,\), got \(4,\)",
        ),
        (
            lambda: layer_norm(np.ones((2, 5)), np.ones(5), np.ones(1)),
            r"shift must have shape \(5,\), got \(1,\)",
        ),
        (lambda: layer_norm(np.ones((2, 0)), np.ones(0), np.ones(0)), "x must not be empty"),
        (lambda: layer_norm(np.full((2, 5), np.nan), np.ones(5), np.ones(5)), "x must not hold NaN, got 10"),
        (lambda: layer_norm(np.ones(5), np.ones(5), np.ones(5), 0), "epsilon must be positive, got 0"),
        (lambda: feed(d_ff=6), r"outer_weight must have shape \(7, 5\), got \(6, 5\)"),
        (lambda: feed(bias=5), r"inner_bias must have shape \(7,\), got \(5,\)"),
    ],
)
def test_an_invalid_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

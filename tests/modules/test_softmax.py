import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from glassformer import reference
from glassformer.modules.softmax import softmax

scores = arrays(np.float64, array_shapes(max_dims=3, max_side=7), elements=st.floats(-700, 700))
seeds = st.integers(0, 2**32 - 1)


@given(scores, st.data())
def test_softmax_equals_the_reference_along_any_axis_forward_and_backward(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    rng = np.random.default_rng(data.draw(seeds))
    where = rng.random(x.shape) < 0.6 if data.draw(st.booleans()) else None
    grad_weights = rng.normal(size=x.shape)

    leaf = torch.tensor(x, requires_grad=True)
    weights = softmax(leaf, axis, None if where is None else torch.tensor(where))
    weights.backward(torch.tensor(grad_weights))

    expected = reference.softmax(x, axis, where)
    np.testing.assert_allclose(weights.detach(), expected, atol=1e-12)
    by_hand = reference.softmax_backward(grad_weights, expected, axis)
    np.testing.assert_allclose(leaf.grad, by_hand, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("mask_shape", [(5,), (3, 5), (1, 5), (3, 1), (2, 1, 5), (2, 3, 1)])
def test_a_mask_broadcasts_as_in_the_reference(axis, mask_shape):
    rng = np.random.default_rng(0)
    x, where = rng.normal(size=(2, 3, 5)), rng.random(mask_shape) < 0.5
    weights = softmax(torch.tensor(x), axis, torch.tensor(where))
    np.testing.assert_allclose(weights, reference.softmax(x, axis, where), atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_fully_masked_row_is_zero_with_a_gradient_of_zero(dtype, device):
    if dtype == torch.float64 and device.type == "mps":
        pytest.skip("mps has no float64")
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=dtype, device=device, requires_grad=True)
    where = torch.tensor([[True, True], [False, False]], device=device)
    with torch.autograd.set_detect_anomaly(True):  # raises if NaN stands anywhere on the way back
        weights = softmax(x, where=where)
        (weights * torch.tensor([1.0, 2.0], dtype=dtype, device=device)).sum().backward()
    assert weights.dtype == dtype
    assert weights[1].tolist() == [0, 0]
    assert x.grad[1].tolist() == [0, 0]
    assert (x.grad[0] != 0).all()


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("x", "where", "message"),
    [
        (torch.ones(2, dtype=torch.int64), None, "x must hold floating-point numbers, got torch.int64"),
        (torch.ones(2, 0), None, r"x must not be empty, got shape \(2, 0\)"),
        (torch.ones(2), torch.ones(2), "where must be boolean .* got torch.float32"),
        (torch.ones(2), torch.ones(3) > 0, r"where must broadcast against \(2,\), got shape \(3,\)"),
    ],
)
def test_invalid_input_is_named(x, where, message):
    with pytest.raises(ValueError, match=message):
        softmax(x, where=where)

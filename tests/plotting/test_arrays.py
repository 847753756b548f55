import numpy as np
import pytest
import torch

from glassformer.plotting.arrays import to_array


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors_of_every_device_and_dtype_are_converted(device, dtype):
    if device.type == "mps" and dtype == torch.float64:
        pytest.skip("mps has no float64")
    tensor = torch.tensor([[0.25, 0.5], [1.0, 2.0]], dtype=dtype, device=device, requires_grad=True)
    np.testing.assert_array_equal(to_array("weights", tensor, (2,)), [[0.25, 0.5], [1, 2]])


def test_nested_lists_are_converted():
    np.testing.assert_array_equal(to_array("weights", [[1, 2, 3]], (2,)), [[1, 2, 3]])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (np.zeros((2, 3, 5)), r"weights must have 2 axes, got shape \(2, 3, 5\)"),
        (np.zeros((0, 3)), r"weights must not be empty, got shape \(0, 3\)"),
        ([[np.nan, 1.0]], "weights must not hold NaN, got 1 among 2"),
        ([[1.0, np.inf, -np.inf]], "weights must be finite, got 2 infinite among 3"),
        ([["a", "b"]], "weights must hold real numbers, got <U1"),
        ([[1j]], "weights must hold real numbers, got complex128"),
        ([[1, 2], [3]], "weights must be rectangular"),
    ],
)
def test_an_argument_that_cannot_be_drawn_is_named(numbers, message):
    with pytest.raises(ValueError, match=message):
        to_array("weights", numbers, (2,))

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from glassformer.modules.masks import causal_mask, padding_mask
from glassformer.reference import masks as reference


@given(st.integers(1, 13))
def test_the_causal_mask_equals_the_reference(length):
    np.testing.assert_array_equal(causal_mask(length), reference.causal_mask(length))


@given(arrays(np.int64, array_shapes(max_dims=3, max_side=7), elements=st.integers(0, 4)), st.integers(0, 4))
def test_the_padding_mask_equals_the_reference(ids, pad_id):
    mask = padding_mask(torch.tensor(ids), pad_id)
    np.testing.assert_array_equal(mask, reference.padding_mask(ids, pad_id))


def test_masks_are_boolean_and_on_the_requested_device(device):
    causal = causal_mask(3, device)
    padding = padding_mask(torch.tensor([[5, 7, 0]], device=device), pad_id=0)
    assert (causal.device.type, causal.dtype) == (device.type, torch.bool)
    assert (padding.device.type, padding.dtype) == (device.type, torch.bool)
    assert (causal & padding).tolist() == [[[[True, False, False], [True, True, False], [True, True, False]]]]


@pytest.mark.usefixtures("as_a_user")
def test_invalid_input_is_named():
    with pytest.raises(ValueError, match="length must be a positive integer, got 0"):
        causal_mask(0)
    with pytest.raises(ValueError, match=r"ids must hold whole numbers, got torch.float32"):
        padding_mask(torch.ones(2, 3), pad_id=0)

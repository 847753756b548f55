import numpy as np
import pytest
import torch

from glassformer.reference.masks import causal_mask, padding_mask


def test_a_causal_mask_is_the_lower_triangle():
    np.testing.assert_array_equal(
        causal_mask(3), [[True, False, False], [True, True, False], [True, True, True]]
    )


def test_a_causal_mask_is_the_negation_of_that_of_pytorch():
    theirs = torch.nn.Transformer.generate_square_subsequent_mask(5) == -torch.inf
    np.testing.assert_array_equal(causal_mask(5), ~theirs.numpy())


def test_a_padding_mask_has_axes_for_heads_and_queries():
    mask = padding_mask(np.array([[5, 7, 0], [5, 0, 0]]), pad_id=0)
    assert mask.shape == (2, 1, 1, 3)
    np.testing.assert_array_equal(mask[:, 0, 0], [[True, True, False], [True, False, False]])


def test_masks_combine_with_and():
    both = causal_mask(3) & padding_mask(np.array([[5, 7, 0]]), pad_id=0)
    np.testing.assert_array_equal(
        both[0, 0], [[True, False, False], [True, True, False], [True, True, False]]
    )


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: causal_mask(0), "length must be a positive integer, got 0"),
        (lambda: causal_mask(2.5), "length must be a positive integer, got 2.5"),
        (lambda: padding_mask(np.array([[0.5]]), 0), "ids must hold whole numbers, got float64"),
        (lambda: padding_mask(np.zeros((2, 0), int), 0), r"ids must not be empty, got shape \(2, 0\)"),
        (lambda: padding_mask(np.array([[-1, 3]]), 0), "ids must be at least 0, got ids from -1 to 3"),
    ],
)
def test_an_invalid_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

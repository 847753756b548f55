"""Attention masks: True lets a query attend to a key. Combine masks with ``&``."""

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray as Array

from glassformer.validation import require_axes, require_ids, require_positive_int


def causal_mask(length: int) -> Bool[Array, "{length} {length}"]:
    """Make a causal mask, which lets each position attend to itself and to earlier positions only.

    The mask is a lower triangular matrix (Vaswani et al., 2017, section 3.2.3).

    Args:
        length: number of positions.

    Raises:
        ValueError: ``length`` is not a positive integer.
    """
    require_positive_int(length=length)
    return np.tri(length, dtype=bool)


def padding_mask(ids: Int[Array, "*batch key"], pad_id: int) -> Bool[Array, "*batch 1 1 key"]:
    """Make a padding mask: True at real tokens, which every head and query may attend to.

    Args:
        ids: padded token ids.
        pad_id: id of the padding token.

    Returns:
        A mask with axes of length 1 for heads and queries.

    Raises:
        ValueError: ``ids`` is empty, has no axis, or does not hold non-negative integers.
    """
    require_ids("ids", ids)
    require_axes(1, ids=ids)
    return (ids != pad_id)[..., None, None, :]

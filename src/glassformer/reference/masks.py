"""Who may look where. One convention: True = this query may look at this key. Join masks with ``&``."""

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray as Array

from glassformer.validation import require_axes, require_ids, require_whole


def causal_mask(length: int) -> Bool[Array, "{length} {length}"]:
    """Let each position look at itself and at what came before it, never ahead.

    The lower triangle (Vaswani et al., 2017, section 3.2.3).

    Raises:
        ValueError: ``length`` is not a whole number of at least 1.
    """
    require_whole(length=length)
    return np.tri(length, dtype=bool)


def padding_mask(ids: Int[Array, "*batch key"], pad_id: int) -> Bool[Array, "*batch 1 1 key"]:
    """Let every head and every query look at real tokens, never at padding.

    Args:
        ids: token ids.
        pad_id: the id that fills short sentences up.

    Returns:
        A mask with an axis of 1 for the heads and one for the queries.

    Raises:
        ValueError: ``ids`` are not whole numbers of at least 0, or there are none.
    """
    require_ids("ids", ids)
    require_axes(1, ids=ids)
    return (ids != pad_id)[..., None, None, :]

"""Differentiable softmax."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glassformer.validation import require_floating, require_mask, require_not_empty


def softmax(
    x: Float[Tensor, "*shape"], axis: int = -1, where: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*shape"]:
    """Compute the softmax differentiably, as in `reference.softmax.softmax`.

    The values of ``x`` are not checked: a row whose scores include NaN or +∞, or are all −∞, gives NaN.
    Scores masked by ``where`` do not affect the weights, and a fully masked row gives zeros.
    """
    require_floating(x=x)
    require_not_empty(x=x)
    if where is None:
        return x.softmax(axis)
    require_mask(where, x.shape, name="where")
    where = where[(None,) * (x.ndim - where.ndim)]
    # A fully masked row is computed unmasked and then set to zero: −∞ alone would give NaN.
    counts = where | ~where.any(axis, keepdim=True)
    return torch.where(where, torch.where(counts, x, -math.inf).softmax(axis), 0)

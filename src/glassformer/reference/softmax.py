"""The softmax, its logarithm, its gradient, and the online softmax."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from glassformer.validation import (
    require_floating,
    require_mask,
    require_no_nan,
    require_not_empty,
    require_positive_int,
    require_shape,
)


def softmax(
    x: Float[Array, "*shape"], axis: int = -1, where: Bool[Array, "..."] | None = None
) -> Float[Array, "*shape"]:
    """Compute the softmax exp(xᵢ) / Σⱼ exp(xⱼ): non-negative weights that sum to one.

    The largest score is subtracted first, which prevents overflow and leaves the result unchanged.

    Args:
        x: scores, of any shape.
        axis: axis along which the weights sum to one.
        where: True where a score counts; broadcasts to ``x``. All other weights are exactly zero. If no score
            of a row counts, or all that count are −∞, all weights of this row are zero.

    Raises:
        ValueError: ``x`` is empty, not floating-point, or holds NaN or +∞; or ``where`` is not boolean or
            does not broadcast.
    """
    shifted = _shift(x, axis, where)
    exponentials = np.exp(shifted)
    total = _sum(exponentials, axis)
    return np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)


def log_softmax(
    x: Float[Array, "*shape"], axis: int = -1, where: Bool[Array, "..."] | None = None
) -> Float[Array, "*shape"]:
    """Compute the logarithm of the softmax: xᵢ − log Σⱼ exp(xⱼ).

    The result is finite even where the softmax itself underflows to zero. It is −∞ where a score does not
    count or is −∞. Arguments and errors are as in `softmax`.
    """
    shifted = _shift(x, axis, where)
    total = _sum(np.exp(shifted), axis)
    log_total = np.log(total, out=np.zeros_like(total), where=total > 0)
    return (shifted - log_total).astype(x.dtype)


def softmax_backward(
    grad_weights: Float[Array, "*shape"], weights: Float[Array, "*shape"], axis: int = -1
) -> Float[Array, "*shape"]:
    """Compute the gradient with respect to a softmax's scores: wᵢ (gᵢ − Σⱼ wⱼ gⱼ), or (diag(w) − w wᵀ) g.

    Args:
        grad_weights: gradient g of the loss with respect to the weights.
        weights: weights w that `softmax` returned.
        axis: axis along which the weights sum to one.

    Raises:
        ValueError: the shapes differ, or an array is not floating-point.
    """
    require_floating(grad_weights=grad_weights, weights=weights)
    require_shape(weights.shape, grad_weights=grad_weights)
    mean = _sum(weights * grad_weights, axis).astype(weights.dtype)
    return weights * (grad_weights - mean)


def online_softmax(x: Float[Array, "*shape"], block_size: int, axis: int = -1) -> Float[Array, "*shape"]:
    """Compute the softmax of a stream of scores, one block at a time.

    The denominator needs only a running maximum and a running sum: when a block raises the maximum, the sum
    so far is rescaled (Milakov & Gimelshein, 2018, algorithm 3).

    Args:
        x: scores, of any shape.
        block_size: number of scores per block.
        axis: axis along which the weights sum to one.

    Raises:
        ValueError: ``x`` is empty, not floating-point, or holds NaN or +∞; or ``block_size`` is not a
            positive integer.
    """
    _require_scores(x)
    require_positive_int(block_size=block_size)
    stream = np.moveaxis(x, axis, -1)
    blocks = [stream[..., start : start + block_size] for start in range(0, stream.shape[-1], block_size)]
    peak = np.full_like(stream[..., :1], -np.inf)
    total = _sum(np.zeros_like(peak), axis=-1)
    for block in blocks:
        new_peak = np.maximum(peak, block.max(axis=-1, keepdims=True))
        total = total * np.exp(_subtract_max(peak, new_peak)) + _sum(
            np.exp(_subtract_max(block, new_peak)), axis=-1
        )
        peak = new_peak
    exponentials = np.exp(_subtract_max(stream, peak))
    weights = np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)
    return np.moveaxis(weights, -1, axis)


def _shift(x: Array, axis: int, where: Array | None) -> Array:
    """Subtract the largest score of each row, and return −∞ where a score does not count."""
    _require_scores(x)
    if where is not None:
        require_mask(where, x.shape, name="where")
        x = np.where(where, x, x.dtype.type(-np.inf))
    return _subtract_max(x, x.max(axis=axis, keepdims=True))


def _subtract_max(x: Array, maximum: Array) -> Array:
    """Subtract the maximum from each score.

    Differences below the range of the dtype become −∞, as do rows without a score that counts.
    """
    base = np.where(np.isneginf(maximum), maximum.dtype.type(0), maximum)
    with np.errstate(over="ignore"):
        return x - base


def _sum(x: Array, axis: int) -> Array:
    """Sum in float32 or float64: in float16, a sum of ones stops growing at 2048."""
    return x.sum(axis=axis, keepdims=True, dtype=np.promote_types(x.dtype, np.float32))


def _require_scores(x: Array) -> None:
    require_floating(x=x)
    require_not_empty(x=x)
    require_no_nan(x=x)
    if np.isposinf(x).any():
        raise ValueError(f"x must be below +∞, got {int(np.isposinf(x).sum())} infinite scores")

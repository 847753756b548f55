"""Layer normalisation and the position-wise feed-forward network."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.validation import (
    require_axes,
    require_floating,
    require_no_nan,
    require_not_empty,
    require_positive,
    require_shape,
)


def layer_norm(
    x: Float[Array, "*batch d_model"],
    scale: Float[Array, " d_model"],
    shift: Float[Array, " d_model"],
    epsilon: float = 1e-5,
) -> Float[Array, "*batch d_model"]:
    """Normalise each vector to mean 0 and variance 1, then scale and shift it (Ba et al., 2016, eq. 4).

    The result is scale · (x − mean) / √(variance + ε) + shift; the variance is biased (divided by d_model).

    Args:
        x: one vector per position.
        scale: learned factor for each component (the paper's gain; ``weight`` in PyTorch).
        shift: learned offset for each component (``bias`` in the paper and in PyTorch).
        epsilon: small constant added to the variance, which keeps the denominator above zero.

    Raises:
        ValueError: the shape, dtype or value of an argument is invalid.
    """
    _require_norm_inputs(x, scale, epsilon)
    require_shape(x.shape[-1:], shift=shift)
    normalised, _ = _normalise(x, epsilon)
    return scale * normalised + shift


def layer_norm_backward(
    grad_output: Float[Array, "*batch d_model"],
    x: Float[Array, "*batch d_model"],
    scale: Float[Array, " d_model"],
    epsilon: float = 1e-5,
) -> tuple[Float[Array, "*batch d_model"], Float[Array, " d_model"], Float[Array, " d_model"]]:
    """Compute the gradients of layer normalisation, derived by hand with the chain rule.

    With ĝ = scale · grad_output and the normalised vector x̂, the gradient with respect to x is
    (ĝ − mean(ĝ) − x̂ · mean(ĝ x̂)) / √(variance + ε). The two subtracted terms are there because the mean and
    the variance depend on every component of x.

    Args:
        grad_output: gradient of the loss with respect to the output of `layer_norm`.
        x: vectors passed to `layer_norm`.
        scale: learned factors passed to `layer_norm`.
        epsilon: constant passed to `layer_norm`.

    Returns:
        The gradients with respect to x, scale and shift.

    Raises:
        ValueError: the shape, dtype or value of an argument is invalid.
    """
    _require_norm_inputs(x, scale, epsilon)
    require_shape(x.shape, grad_output=grad_output)
    normalised, deviation = _normalise(x, epsilon)
    grad_normalised = scale * grad_output
    along_mean = grad_normalised.mean(axis=-1, keepdims=True)
    along_normalised = normalised * (grad_normalised * normalised).mean(axis=-1, keepdims=True)
    grad_x = (grad_normalised - along_mean - along_normalised) / deviation
    batch = tuple(range(x.ndim - 1))
    return grad_x, (grad_output * normalised).sum(axis=batch), grad_output.sum(axis=batch)


def feed_forward(
    x: Float[Array, "*batch d_model"],
    *,
    inner_weight: Float[Array, "d_model d_ff"],
    inner_bias: Float[Array, " d_ff"],
    outer_weight: Float[Array, "d_ff d_model"],
    outer_bias: Float[Array, " d_model"],
) -> Float[Array, "*batch d_model"]:
    """Compute the position-wise feed-forward network: max(0, xW₁ + b₁)W₂ + b₂.

    Two linear transformations with a ReLU between them, the same at every position; positions do not interact
    (Vaswani et al., 2017, eq. 2).

    Args:
        x: one vector per position.
        inner_weight: W₁, applied as ``x @ inner_weight``.
        inner_bias: b₁, the bias of the hidden layer.
        outer_weight: W₂, applied in the same way to the hidden activations.
        outer_bias: b₂, the bias of the output.

    Raises:
        ValueError: the shape or dtype of an argument is invalid.
    """
    require_floating(x=x, inner_weight=inner_weight, outer_weight=outer_weight)
    require_axes(1, x=x)
    d_model = x.shape[-1]
    require_axes(2, inner_weight=inner_weight)
    d_ff = inner_weight.shape[-1]
    require_shape((d_model, d_ff), inner_weight=inner_weight)
    require_shape((d_ff,), inner_bias=inner_bias)
    require_shape((d_ff, d_model), outer_weight=outer_weight)
    require_shape((d_model,), outer_bias=outer_bias)
    return np.maximum(0, x @ inner_weight + inner_bias) @ outer_weight + outer_bias


def _normalise(x: Array, epsilon: float) -> tuple[Array, Array]:
    """Return the normalised vectors and √(variance + ε) of each."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    deviation = np.sqrt(variance + x.dtype.type(epsilon))
    return centred / deviation, deviation


def _require_norm_inputs(x: Array, scale: Array, epsilon: float) -> None:
    require_floating(x=x, scale=scale)
    require_axes(1, x=x)
    require_not_empty(x=x)
    require_no_nan(x=x)
    require_shape(x.shape[-1:], scale=scale)
    require_positive(epsilon=epsilon)

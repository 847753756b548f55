"""Scaled dot-product attention: Attention(Q, K, V) = softmax(QKᵀ / √d_k) V (Vaswani et al., 2017, eq. 1)."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from glassformer.reference.softmax import softmax, softmax_backward
from glassformer.validation import require_attention_inputs, require_no_nan, require_shape


def attention_weights(
    query: Float[Array, "*batch query d_k"],
    key: Float[Array, "*batch key d_k"],
    attn_mask: Bool[Array, "*#batch #query #key"] | None = None,
) -> Float[Array, "*batch query key"]:
    """Compute the attention weights softmax(QKᵀ / √d_k).

    If the components of queries and keys are independent with mean 0 and variance 1, dividing by √d_k gives
    the scores variance 1 at any width (Vaswani et al., 2017, section 3.2.1, footnote 4).

    Args:
        query: query vectors (what each position is looking for).
        key: key vectors (what each position can be found by).
        attn_mask: True where a query may attend to a key; broadcasts to ``*batch query key``. A query whose
            keys are all masked gets weights of zero.

    Raises:
        ValueError: the shape, dtype or value of an argument is invalid.
    """
    require_attention_inputs(query, key, attn_mask=attn_mask)
    require_no_nan(query=query, key=key)
    scores = query @ key.swapaxes(-2, -1) / query.dtype.type(np.sqrt(query.shape[-1]))
    return softmax(scores, where=attn_mask)


def scaled_dot_product_attention(
    query: Float[Array, "*batch query d_k"],
    key: Float[Array, "*batch key d_k"],
    value: Float[Array, "*batch key d_v"],
    attn_mask: Bool[Array, "*#batch #query #key"] | None = None,
) -> tuple[Float[Array, "*batch query d_v"], Float[Array, "*batch query key"]]:
    """Compute scaled dot-product attention: softmax(QKᵀ / √d_k) V.

    Args:
        query: query vectors (what each position is looking for).
        key: key vectors (what each position can be found by).
        value: value vectors (what each position contributes to the output).
        attn_mask: True where a query may attend to a key; broadcasts to ``*batch query key``. A query whose
            keys are all masked gets an output of zero.

    Returns:
        The weighted averages of the values, and the attention weights.

    Raises:
        ValueError: the shape, dtype or value of an argument is invalid.
    """
    require_attention_inputs(query, key, value, attn_mask)
    require_no_nan(value=value)
    weights = attention_weights(query, key, attn_mask)
    return weights @ value, weights


def scaled_dot_product_attention_backward(
    grad_output: Float[Array, "*batch query d_v"],
    query: Float[Array, "*batch query d_k"],
    key: Float[Array, "*batch key d_k"],
    value: Float[Array, "*batch key d_v"],
    weights: Float[Array, "*batch query key"],
) -> tuple[
    Float[Array, "*batch query d_k"],
    Float[Array, "*batch key d_k"],
    Float[Array, "*batch key d_v"],
]:
    """Compute the gradients of scaled dot-product attention, derived by hand with the chain rule.

    Args:
        grad_output: gradient of the loss with respect to the attention output.
        query: query vectors passed to `scaled_dot_product_attention`.
        key: key vectors passed to `scaled_dot_product_attention`.
        value: value vectors passed to `scaled_dot_product_attention`.
        weights: attention weights returned by `scaled_dot_product_attention`. Masked weights are zero, so no
            mask is needed.

    Returns:
        The gradients with respect to query, key and value.

    Raises:
        ValueError: the shape or dtype of an argument is invalid.
    """
    require_attention_inputs(query, key, value)
    require_shape((*query.shape[:-1], key.shape[-2]), weights=weights)
    require_shape((*query.shape[:-1], value.shape[-1]), grad_output=grad_output)
    grad_value = weights.swapaxes(-2, -1) @ grad_output
    grad_weights = grad_output @ value.swapaxes(-2, -1)
    grad_scores = softmax_backward(grad_weights, weights) / query.dtype.type(np.sqrt(query.shape[-1]))
    return grad_scores @ key, grad_scores.swapaxes(-2, -1) @ query, grad_value

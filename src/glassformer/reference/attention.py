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
    """Say how much each query attends to each key: softmax(QKᵀ / √d_k).

    Dividing by √d_k keeps the scores near unit variance however wide the vectors are
    (Vaswani et al., 2017, section 3.2.1).

    Args:
        query: what each position looks for.
        key: what each position can be found by.
        attn_mask: True where a query may look at a key. A query that may look at nothing has weights
            of zero.

    Raises:
        ValueError: an argument's shape, type or value does not fit; the message names it.
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
    """Give each query the weighted mean of the values: softmax(QKᵀ / √d_k) V.

    Args:
        query: what each position looks for.
        key: what each position can be found by.
        value: what each position hands over when it is found.
        attn_mask: as in `attention_weights`; a query that may look at nothing is handed zeros.

    Returns:
        The attended values, and the weights that mixed them.

    Raises:
        ValueError: an argument's shape, type or value does not fit; the message names it.
    """
    require_attention_inputs(query, key, value, attn_mask)
    require_no_nan(value=value)
    weights = attention_weights(query, key, attn_mask)
    return weights @ value, weights


def scaled_dot_product_attention_backward(
    grad_attended: Float[Array, "*batch query d_v"],
    query: Float[Array, "*batch query d_k"],
    key: Float[Array, "*batch key d_k"],
    value: Float[Array, "*batch key d_v"],
    weights: Float[Array, "*batch query key"],
) -> tuple[
    Float[Array, "*batch query d_k"],
    Float[Array, "*batch key d_k"],
    Float[Array, "*batch key d_v"],
]:
    """Carry a gradient back through attention, derived by hand with the chain rule.

    Args:
        grad_attended: gradient of the loss with respect to the attended values.
        query: as given to `scaled_dot_product_attention`.
        key: likewise.
        value: likewise.
        weights: what it returned. Masked entries are zero there, so no mask is needed here.

    Returns:
        The gradients with respect to query, key and value.
    """
    require_attention_inputs(query, key, value)
    require_shape((*query.shape[:-1], key.shape[-2]), weights=weights)
    require_shape((*query.shape[:-1], value.shape[-1]), grad_attended=grad_attended)
    grad_value = weights.swapaxes(-2, -1) @ grad_attended
    grad_weights = grad_attended @ value.swapaxes(-2, -1)
    grad_scores = softmax_backward(grad_weights, weights) / query.dtype.type(np.sqrt(query.shape[-1]))
    return grad_scores @ key, grad_scores.swapaxes(-2, -1) @ query, grad_value

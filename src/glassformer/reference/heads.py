"""Multi-head attention: several small attention heads in parallel (Vaswani et al., 2017, section 3.2.2)."""

from jaxtyping import Bool, Float
from numpy import ndarray as Array

from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.validation import (
    require_axes,
    require_floating,
    require_multiple,
    require_shape,
    require_width,
)


def split_heads(
    x: Float[Array, "*batch time d_model"], num_heads: int
) -> Float[Array, "*batch heads time d_head"]:
    """Split each vector into one part per head, and move the heads into an axis before the positions.

    Args:
        x: one vector per position.
        num_heads: number of heads; must divide d_model.

    Raises:
        ValueError: num_heads is not a positive divisor of d_model, or ``x`` has fewer than two axes.
    """
    require_axes(2, x=x)
    require_multiple(x.shape[-1], num_heads)
    return x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads).swapaxes(-3, -2)


def merge_heads(x: Float[Array, "*batch heads time d_head"]) -> Float[Array, "*batch time d_model"]:
    """Concatenate the outputs of all heads at each position: the inverse of `split_heads`.

    Args:
        x: one vector per head and position.

    Raises:
        ValueError: ``x`` has fewer than three axes.
    """
    require_axes(3, x=x)
    side_by_side = x.swapaxes(-3, -2)
    return side_by_side.reshape(*side_by_side.shape[:-2], -1)


def multi_head_attention(
    query: Float[Array, "*batch query d_model"],
    key: Float[Array, "*batch key d_model"],
    value: Float[Array, "*batch key d_model"],
    *,
    num_heads: int,
    query_weight: Float[Array, "d_model d_model"],
    key_weight: Float[Array, "d_model d_model"],
    value_weight: Float[Array, "d_model d_model"],
    output_weight: Float[Array, "d_model d_model"],
    attn_mask: Bool[Array, "..."] | None = None,
) -> tuple[Float[Array, "*batch query d_model"], Float[Array, "*batch heads query key"]]:
    """Compute multi-head attention: Concat(head₁, …, headₕ) W_O.

    Args:
        query: input vectors of the query projection.
        key: input vectors of the key projection.
        value: input vectors of the value projection, for the same positions as ``key``.
        num_heads: number of heads.
        query_weight: W_Q, the matrices of all heads side by side, applied as ``query @ query_weight``.
        key_weight: W_K, with the same layout as W_Q.
        value_weight: W_V, with the same layout as W_Q.
        output_weight: W_O, applied to the merged heads.
        attn_mask: True where a query may attend to a key; broadcasts to ``*batch heads query key``. In a head
            where all keys of a query are masked, this query gets an output of zero.

    Returns:
        The output, and the attention weights of each head.

    Raises:
        ValueError: the shape, dtype or value of an argument is invalid.
    """
    require_floating(query=query)
    require_axes(2, query=query)
    d_model = query.shape[-1]
    require_width(d_model, key=key, value=value)
    require_shape(
        (d_model, d_model),
        query_weight=query_weight,
        key_weight=key_weight,
        value_weight=value_weight,
        output_weight=output_weight,
    )
    attended, weights = scaled_dot_product_attention(
        split_heads(query @ query_weight, num_heads),
        split_heads(key @ key_weight, num_heads),
        split_heads(value @ value_weight, num_heads),
        attn_mask,
    )
    return merge_heads(attended) @ output_weight, weights

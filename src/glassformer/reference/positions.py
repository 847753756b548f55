"""Positional encodings: sinusoids added to embeddings, rotated queries and keys, or a bias on the scores."""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from glassformer.validation import (
    require_axes,
    require_floating,
    require_not_empty,
    require_positive,
    require_positive_int,
    require_shape,
)


def sinusoidal_positions(length: int, d_model: int) -> Float[Array, "{length} {d_model}"]:
    """Compute sinusoidal positional encodings (Vaswani et al., 2017, section 3.5).

    PE(p, 2i) = sin(p / 10000^(2i/d_model)) and PE(p, 2i+1) = cos(p / 10000^(2i/d_model)). With an odd
    ``d_model``, the last frequency has a sine but no cosine.

    Args:
        length: number of positions, counted from 0.
        d_model: width of each encoding.

    Raises:
        ValueError: an argument is not a positive integer.
    """
    require_positive_int(length=length, d_model=d_model)
    columns = np.arange(d_model)
    frequencies = 10000.0 ** (-2 * (columns // 2) / d_model)
    angles = np.arange(length)[:, None] * frequencies
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def apply_rotary_embedding(
    x: Float[Array, "*batch time d_k"],
    positions: Int[Array, " time"] | None = None,
    base: float = 10000.0,
) -> Float[Array, "*batch time d_k"]:
    """Rotate vectors by their positions: rotary position embedding (RoPE; Su et al., 2021, section 3.4.2).

    Pair i = (x₂ᵢ, x₂ᵢ₊₁), counted from 0, is rotated by position · base^(−2i/d_k) radians. The dot
    product of a rotated query and a rotated key then depends on their positions only through the
    difference between them.

    Args:
        x: queries or keys, with an even d_k.
        positions: position of each vector; 0, 1, 2, … if omitted.
        base: base of the frequencies, usually far above 1; the wavelengths then lie between 2π and 2π · base
            positions.

    Raises:
        ValueError: d_k is odd, or the shape, dtype or value of an argument is invalid.
    """
    require_floating(x=x)
    require_axes(2, x=x)
    require_not_empty(x=x)
    require_positive(base=base)
    time, d_k = x.shape[-2:]
    if d_k % 2:
        raise ValueError(f"x must have an even width, to be rotated in pairs, got {d_k}")
    if positions is None:
        positions = np.arange(time)
    require_shape((time,), positions=positions)
    angles = positions[:, None] * base ** (-np.arange(0, d_k, 2) / d_k)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def alibi(
    query_length: int, key_length: int, num_heads: int
) -> Float[Array, "{num_heads} {query_length} {key_length}"]:
    """Compute the ALiBi bias, −slope · distance between query and key (Press et al., 2022, section 3).

    Head h = 1, …, n has slope 2^(−8h/n): the first heads favour nearby keys most strongly, the
    last ones least. The distance is an absolute value, so only a mask hides later keys. The last query has
    the same position as the last key.

    Args:
        query_length: number of queries.
        key_length: number of keys.
        num_heads: number of heads, each with its own slope.

    Returns:
        The bias to add to the scaled scores.

    Raises:
        ValueError: an argument is not a positive integer.
    """
    require_positive_int(query_length=query_length, key_length=key_length, num_heads=num_heads)
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    query_positions = np.arange(query_length) + key_length - query_length
    distance = np.abs(query_positions[:, None] - np.arange(key_length))
    return -slopes[:, None, None] * distance

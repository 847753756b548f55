"""Validate arguments: an error names the argument, the expected value and the actual one.

The checks read only `shape` and `dtype`, so they work for NumPy arrays and PyTorch tensors.
"""

import math
from typing import Any

import numpy as np


def require_floating(**arrays: Any) -> None:
    """Require arrays of floating-point numbers."""
    for name, array in arrays.items():
        if not hasattr(array, "dtype"):
            raise ValueError(f"{name} must be an array of floats, got {type(array).__name__}")
        if "float" not in str(array.dtype):
            raise ValueError(f"{name} must hold floating-point numbers, got {array.dtype}")


def require_no_nan(**arrays: np.ndarray) -> None:
    """Require arrays without NaN."""
    for name, array in arrays.items():
        if count := int(np.isnan(array).sum()):
            raise ValueError(f"{name} must not hold NaN, got {count} among {array.size} numbers")


def require_axes(minimum: int, **arrays: Any) -> None:
    """Require at least ``minimum`` axes."""
    for name, array in arrays.items():
        if len(array.shape) < minimum:
            raise ValueError(f"{name} must have at least {minimum} axes, got shape {tuple(array.shape)}")


def require_not_empty(**arrays: Any) -> None:
    """Require at least one element: no axis of length 0."""
    for name, array in arrays.items():
        if 0 in array.shape:
            raise ValueError(f"{name} must not be empty, got shape {tuple(array.shape)}")


def require_positive(**numbers: float) -> None:
    """Require numbers above zero."""
    for name, number in numbers.items():
        if not number > 0:
            raise ValueError(f"{name} must be positive, got {number}")


def require_positive_int(**numbers: int) -> None:
    """Require positive integers, such as sizes, lengths and counts."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise ValueError(f"{name} must be a positive integer, got {number!r}")


def require_multiple(d_model: int, num_heads: int) -> None:
    """Require that ``d_model`` is divisible by ``num_heads``."""
    require_positive_int(d_model=d_model, num_heads=num_heads)
    if d_model % num_heads:
        raise ValueError(f"d_model ({d_model}) must be a multiple of num_heads ({num_heads})")


def require_probability(**numbers: float) -> None:
    """Require dropout probabilities p with 0 ≤ p < 1."""
    for name, number in numbers.items():
        if not 0 <= number < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, got {number}")


def require_choice(choices: tuple[str, ...], **names: str) -> None:
    """Require names that are among ``choices``."""
    for argument, name in names.items():
        if name not in choices:
            raise ValueError(f"{argument} must be one of {', '.join(map(repr, choices))}, got {name!r}")


def require_width(width: int, **arrays: Any) -> None:
    """Require a last axis of size ``width``."""
    for name, array in arrays.items():
        require_axes(1, **{name: array})
        if array.shape[-1] != width:
            raise ValueError(
                f"{name} must have size {width} in its last axis, got shape {tuple(array.shape)}"
            )


def require_shape(shape: tuple[int, ...], **arrays: Any) -> None:
    """Require exactly this shape."""
    for name, array in arrays.items():
        if tuple(array.shape) != tuple(shape):
            raise ValueError(f"{name} must have shape {tuple(shape)}, got {tuple(array.shape)}")


def require_same_batch(**arrays: Any) -> None:
    """Require the same number of sentences: first axes of equal length."""
    require_axes(1, **arrays)
    if len({array.shape[0] for array in arrays.values()}) > 1:
        given = " and ".join(f"{name} ({array.shape[0]})" for name, array in arrays.items())
        raise ValueError(f"{given} must have the same number of sentences")


def require_same_dtype(**arrays: Any) -> None:
    """Require arrays of the same dtype."""
    if len({array.dtype for array in arrays.values()}) > 1:
        given = " and ".join(f"{name} ({array.dtype})" for name, array in arrays.items())
        raise ValueError(f"{given} must have the same dtype")


def require_mask(mask: Any, shape: tuple[int, ...], name: str = "attn_mask") -> None:
    """Require a boolean mask that broadcasts to ``shape``."""
    if not hasattr(mask, "dtype"):
        raise ValueError(f"{name} must be an array of booleans, got {type(mask).__name__}")
    if str(mask.dtype).removeprefix("torch.") != "bool":
        raise ValueError(f"{name} must be boolean (True = may attend), got {mask.dtype}")
    try:
        fits = np.broadcast_shapes(tuple(mask.shape), tuple(shape)) == tuple(shape)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{name} must broadcast against {tuple(shape)}, got shape {tuple(mask.shape)}")


def require_attention_inputs(query: Any, key: Any, value: Any = None, attn_mask: Any = None) -> None:
    """Require equal widths of query and key, equal lengths of key and value, and a fitting mask."""
    vectors = {"query": query, "key": key} | ({} if value is None else {"value": value})
    require_floating(**vectors)
    require_axes(2, **vectors)
    require_not_empty(**vectors)
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query ({query.shape[-1]}) and key ({key.shape[-1]}) must have the same width")
    if value is not None and key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key ({key.shape[-2]}) and value ({value.shape[-2]}) must have the same length")
    for name, vector in vectors.items():
        if vector.shape[:-2] != query.shape[:-2]:
            raise ValueError(
                f"query and {name} must have the same batch axes, "
                f"got {tuple(query.shape[:-2])} and {tuple(vector.shape[:-2])}"
            )
    if attn_mask is not None:
        require_mask(attn_mask, (*query.shape[:-1], key.shape[-2]))


def require_additive_inputs(query: Any, key: Any, value: Any, attn_mask: Any = None) -> None:
    """Require equal batch axes, equal lengths of key and value, and a fitting mask; widths may differ."""
    vectors = {"query": query, "key": key, "value": value}
    require_floating(**vectors)
    require_axes(2, **vectors)
    require_not_empty(**vectors)
    require_shape((*query.shape[:-2], *key.shape[-2:]), key=key)
    require_shape((*key.shape[:-1], value.shape[-1]), value=value)
    if attn_mask is not None:
        require_mask(attn_mask, (*query.shape[:-1], key.shape[-2]))


def require_integers(**arrays: Any) -> None:
    """Require arrays of integers that are not empty."""
    for name, array in arrays.items():
        if "int" not in str(getattr(array, "dtype", "")):
            kind = getattr(array, "dtype", type(array).__name__)
            raise ValueError(f"{name} must hold whole numbers, got {kind}")
    require_not_empty(**arrays)


def require_recurrent_inputs(x: Any, input_weight: Any, hidden_weight: Any, bias: Any, *, gates: int) -> int:
    """Validate the inputs of a recurrent network with ``gates`` gates, and return the width of its state."""
    require_floating(x=x, input_weight=input_weight, hidden_weight=hidden_weight, bias=bias)
    require_axes(2, x=x, input_weight=input_weight, hidden_weight=hidden_weight)
    require_not_empty(x=x)
    d_hidden: int = hidden_weight.shape[0]
    require_shape((d_hidden, gates * d_hidden), hidden_weight=hidden_weight)
    require_shape((x.shape[-1], gates * d_hidden), input_weight=input_weight)
    require_shape((gates * d_hidden,), bias=bias)
    return d_hidden


def require_ids(name: str, ids: Any, vocabulary_size: int | None = None) -> None:
    """Require token ids: integers of at least 0, and below ``vocabulary_size`` if given."""
    require_integers(**{name: ids})
    lowest, highest = int(ids.min()), int(ids.max())
    if lowest < 0 or highest >= (math.inf if vocabulary_size is None else vocabulary_size):
        bound = "" if vocabulary_size is None else f" and below the vocabulary size ({vocabulary_size})"
        raise ValueError(f"{name} must be at least 0{bound}, got ids from {lowest} to {highest}")

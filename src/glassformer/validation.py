"""Answer bad input at once: which argument it was, what was wanted, and what came.

The checks read only `shape` and `dtype`, so that NumPy arrays and torch tensors share them.
"""

import math
from typing import Any

import numpy as np


def require_floating(**arrays: Any) -> None:
    """Each argument is an array of floating-point numbers."""
    for name, array in arrays.items():
        if not hasattr(array, "dtype"):
            raise ValueError(f"{name} must be an array of floats, got {type(array).__name__}")
        if "float" not in str(array.dtype):
            raise ValueError(f"{name} must hold floating-point numbers, got {array.dtype}")


def require_no_nan(**arrays: np.ndarray) -> None:
    """Each argument is free of NaN."""
    for name, array in arrays.items():
        if count := int(np.isnan(array).sum()):
            raise ValueError(f"{name} must not hold NaN, got {count} among {array.size} numbers")


def require_axes(least: int, **arrays: Any) -> None:
    """Each argument has at least so many axes."""
    for name, array in arrays.items():
        if len(array.shape) < least:
            raise ValueError(f"{name} must have at least {least} axes, got shape {tuple(array.shape)}")


def require_not_empty(**arrays: Any) -> None:
    """Each argument holds at least one number: no sequence of length 0."""
    for name, array in arrays.items():
        if 0 in array.shape:
            raise ValueError(f"{name} must not be empty, got shape {tuple(array.shape)}")


def require_positive(**numbers: float) -> None:
    """Each argument is above zero."""
    for name, number in numbers.items():
        if not number > 0:
            raise ValueError(f"{name} must be positive, got {number}")


def require_whole(**numbers: int) -> None:
    """Each argument is a whole number of at least 1: a size, a length, a count."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {number!r}")


def require_multiple(d_model: int, num_heads: int) -> None:
    """The width splits into heads without a rest."""
    require_whole(d_model=d_model, num_heads=num_heads)
    if d_model % num_heads:
        raise ValueError(f"d_model ({d_model}) must be a multiple of num_heads ({num_heads})")


def require_probability(**numbers: float) -> None:
    """Each argument is a probability of dropping something: from 0 up to, but not, 1."""
    for name, number in numbers.items():
        if not 0 <= number < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, got {number}")


def require_choice(choices: tuple[str, ...], **names: str) -> None:
    """Each argument is one of the names there are."""
    for argument, name in names.items():
        if name not in choices:
            raise ValueError(f"{argument} must be one of {', '.join(map(repr, choices))}, got {name!r}")


def require_width(wanted: int, **arrays: Any) -> None:
    """The last axis of each argument is as wide as wanted."""
    for name, array in arrays.items():
        require_axes(1, **{name: array})
        if array.shape[-1] != wanted:
            raise ValueError(f"{name} must be {wanted} wide in its last axis, got shape {tuple(array.shape)}")


def require_shape(wanted: tuple[int, ...], **arrays: Any) -> None:
    """Each argument has exactly this shape."""
    for name, array in arrays.items():
        if tuple(array.shape) != tuple(wanted):
            raise ValueError(f"{name} must have shape {tuple(wanted)}, got {tuple(array.shape)}")


def require_same_batch(**arrays: Any) -> None:
    """All arguments hold equally many sentences in their first axis."""
    require_axes(1, **arrays)
    if len({array.shape[0] for array in arrays.values()}) > 1:
        given = " and ".join(f"{name} ({array.shape[0]})" for name, array in arrays.items())
        raise ValueError(f"{given} must hold equally many sentences")


def require_same_dtype(**arrays: Any) -> None:
    """All arguments hold numbers of the same type."""
    if len({array.dtype for array in arrays.values()}) > 1:
        given = " and ".join(f"{name} ({array.dtype})" for name, array in arrays.items())
        raise ValueError(f"{given} must hold one type of number")


def require_mask(mask: Any, shape: tuple[int, ...], name: str = "attn_mask") -> None:
    """The mask is boolean and broadcasts against a shape without enlarging it."""
    if not hasattr(mask, "dtype"):
        raise ValueError(f"{name} must be an array of booleans, got {type(mask).__name__}")
    if str(mask.dtype).removeprefix("torch.") != "bool":
        raise ValueError(f"{name} must be boolean (True = may look), got {mask.dtype}")
    try:
        fits = np.broadcast_shapes(tuple(mask.shape), tuple(shape)) == tuple(shape)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{name} must broadcast against {tuple(shape)}, got shape {tuple(mask.shape)}")


def require_attention_inputs(query: Any, key: Any, value: Any = None, attn_mask: Any = None) -> None:
    """Queries and keys are equally wide, keys and values equally many, and the mask fits their scores."""
    vectors = {"query": query, "key": key} | ({} if value is None else {"value": value})
    require_floating(**vectors)
    require_axes(2, **vectors)
    require_not_empty(**vectors)
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query ({query.shape[-1]}) and key ({key.shape[-1]}) must be equally wide")
    if value is not None and key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key ({key.shape[-2]}) and value ({value.shape[-2]}) must be equally many")
    for name, vector in vectors.items():
        if vector.shape[:-2] != query.shape[:-2]:
            raise ValueError(
                f"query and {name} must share their batch axes, "
                f"got {tuple(query.shape[:-2])} and {tuple(vector.shape[:-2])}"
            )
    if attn_mask is not None:
        require_mask(attn_mask, (*query.shape[:-1], key.shape[-2]))


def require_integers(**arrays: Any) -> None:
    """Each argument is an array of at least one integer."""
    for name, array in arrays.items():
        if "int" not in str(getattr(array, "dtype", "")):
            kind = getattr(array, "dtype", type(array).__name__)
            raise ValueError(f"{name} must hold whole numbers, got {kind}")
    require_not_empty(**arrays)


def require_ids(name: str, ids: Any, vocabulary_size: int | None = None) -> None:
    """Token ids are whole numbers of at least 0, below the size of the vocabulary if one is given."""
    require_integers(**{name: ids})
    lowest, highest = int(ids.min()), int(ids.max())
    if lowest < 0 or highest >= (math.inf if vocabulary_size is None else vocabulary_size):
        bound = "" if vocabulary_size is None else f" and below the vocabulary size ({vocabulary_size})"
        raise ValueError(f"{name} must be at least 0{bound}, got ids from {lowest} to {highest}")

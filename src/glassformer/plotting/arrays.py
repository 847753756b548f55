"""Convert the arguments of plot functions: NumPy arrays, nested lists, and tensors on any device."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.validation import require_no_nan, require_not_empty


def to_array(name: str, numbers: Any, axes: tuple[int, ...]) -> Array:
    """Convert numbers to a NumPy array, and check that they can be drawn.

    Args:
        name: name of the argument, for the error message.
        numbers: array, nested list or tensor.
        axes: allowed numbers of axes.

    Raises:
        ValueError: ``numbers`` are not real and finite, are empty, or have another number of axes.
    """
    if hasattr(numbers, "detach"):
        numbers = numbers.detach().cpu()
        if str(numbers.dtype) == "torch.bfloat16":  # NumPy has no such type
            numbers = numbers.float()
        numbers = numbers.numpy()
    try:
        array = np.asarray(numbers)
    except ValueError:
        raise ValueError(f"{name} must be rectangular, got rows of unequal lengths") from None
    if array.ndim not in axes:
        wanted = " or ".join(map(str, axes))
        raise ValueError(f"{name} must have {wanted} axes, got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got {array.dtype}")
    require_not_empty(**{name: array})
    require_no_nan(**{name: array})
    if count := int(np.isinf(array).sum()):
        raise ValueError(f"{name} must be finite, got {count} infinite among {array.size} numbers")
    return array


def to_arrays(name: str, numbers_of: Mapping[str, Any], axes: tuple[int, ...]) -> dict[str, Array]:
    """Convert each entry of a mapping as `to_array` does, and require at least one."""
    if not numbers_of:
        raise ValueError(f"{name} must hold at least 1, got 0")
    return {key: to_array(f"{name}[{key!r}]", numbers, axes) for key, numbers in numbers_of.items()}


def require_shares(name: str, array: Array) -> None:
    """Require numbers from 0 to 1, up to rounding errors."""
    low, high = array.min(), array.max()
    if low < 0 or high > 1 + 1e-6:
        raise ValueError(f"{name} must be between 0 and 1, got numbers from {low:g} to {high:g}")


def require_labels(name: str, labels: Sequence[str] | None, count: int) -> None:
    """Require one label per row or column."""
    if labels is not None and len(labels) != count:
        raise ValueError(f"{name} ({len(labels)}) must be as many as the rows or columns ({count})")

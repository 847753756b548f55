"""Convert the arguments of plot functions: NumPy arrays, nested lists, and tensors on any device."""

from collections.abc import Sequence
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


def require_labels(name: str, labels: Sequence[str] | None, count: int) -> None:
    """Require one label per row or column."""
    if labels is not None and len(labels) != count:
        raise ValueError(f"{name} ({len(labels)}) must be as many as the rows or columns ({count})")

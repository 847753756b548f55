"""What figures accept: NumPy arrays, nested lists, and torch tensors on any device."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.validation import require_no_nan, require_not_empty


def to_array(name: str, numbers: Any, axes: tuple[int, ...]) -> Array:
    """Read numbers from wherever they live, and see that they can be drawn.

    Args:
        name: the argument's name, for the message.
        numbers: array, nested list or tensor.
        axes: how many axes it may have.

    Raises:
        ValueError: it holds anything but real numbers, has another number of axes, is empty, or holds NaN
            or infinities.
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
    """There is one label for each row or column."""
    if labels is not None and len(labels) != count:
        raise ValueError(f"{name} ({len(labels)}) must be as many as in the matrix ({count})")

"""Compare answers within a tolerance that depends on their precision: lists, NumPy arrays or tensors."""

from typing import Any

import numpy as np
from numpy import ndarray as Array

#: Relative and absolute tolerance by dtype.
_TOLERANCES = {
    "float64": (1e-4, 1e-6),
    "float32": (1e-3, 1e-5),
    "float16": (1e-2, 5e-3),
    "bfloat16": (5e-2, 2e-2),
}


class Part:
    """One result of an answer as an array, with the tolerance of its dtype.

    Raises:
        ValueError: the result is a list of rows that do not form an array.
    """

    def __init__(self, answer: Any) -> None:
        precision = str(getattr(answer, "dtype", "")).removeprefix("torch.")
        try:
            self.array = np.asarray(_to_arrays(answer))
        except ValueError:
            raise ValueError("your answer is not an array: its rows have different lengths") from None
        self.tolerance = _TOLERANCES.get(precision or str(self.array.dtype), _TOLERANCES["float64"])


def parts_of(answer: Any, expected: Any) -> list[Part]:
    """Split an answer into its results if a tuple of several is expected."""
    if isinstance(expected, tuple) and isinstance(answer, tuple | list):
        return [Part(part) for part in answer]
    if isinstance(expected, tuple) and np.ndim(_to_arrays(answer)) and len(answer) == len(expected):
        return [Part(part) for part in answer]
    return [Part(answer)]


def is_close(answer: Any, expected: Any) -> bool:
    """Return True if an answer has the expected form and, within tolerance, the expected numbers."""
    if form_error(answer, expected):
        return False
    pairs = zip(parts_of(answer, expected), parts_of(expected, expected), strict=True)
    return not any(mismatches(part, expected_part.array).any() for part, expected_part in pairs)


def form_error(answer: Any, expected: Any) -> str:
    """Describe a wrong number of results, a wrong dtype or a wrong shape; "" if the form is as expected."""
    try:
        parts, expected_parts = parts_of(answer, expected), parts_of(expected, expected)
    except ValueError as error:
        return str(error)
    if len(parts) != len(expected_parts):
        count = f"{len(parts)} results" if len(parts) != 1 else "1 result"
        return f"expected {len(expected_parts)} results, yours returns {count}"
    for number, (part, expected_part) in enumerate(zip(parts, expected_parts, strict=True), start=1):
        if fault := _part_error(part.array, expected_part.array):
            return f"result {number}: {fault}" if len(parts) > 1 else fault
    return ""


def mismatches(part: Part, expected: Array) -> Array:
    """Mark the entries of a result of the expected shape that differ by more than the tolerance."""
    relative, absolute = part.tolerance
    close = np.isclose(part.array, expected, rtol=relative, atol=absolute, equal_nan=True)
    return np.logical_not(close, out=np.empty(expected.shape, dtype=bool))


def _part_error(array: Array, expected: Array) -> str:
    if array.dtype.kind not in "biufc":
        kind = "text" if array.dtype.kind == "U" else type(array.flat[0]).__name__
        return f"expected numbers, yours is {kind}"
    if (array.dtype.kind == "b") != (expected.dtype.kind == "b"):
        kind = "a mask of True and False" if expected.dtype.kind == "b" else "numbers"
        return f"expected {kind}, yours holds {array.dtype}"
    if array.dtype.kind == "c":
        return f"expected real numbers, yours are {array.dtype}"
    if array.shape != expected.shape:
        target = f"shape {expected.shape}" if expected.ndim else "a single number"
        found = f"has shape {array.shape}" if array.ndim else "is a single number"
        return f"expected {target}, yours {found}"
    return ""


def _to_arrays(answer: Any) -> Any:
    """Convert tensors to arrays, also inside lists; bfloat16, which NumPy lacks, becomes float32."""
    if isinstance(answer, list | tuple):
        return [_to_arrays(entry) for entry in answer]
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu()
        return answer.float().numpy() if "bfloat16" in str(answer.dtype) else answer.numpy()
    return answer

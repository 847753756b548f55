"""Whether an answer is the wanted one, however it was computed: loops, NumPy or torch, any precision."""

from typing import Any

import numpy as np
from numpy import ndarray as Array

#: How far an answer may be off, relative and absolute, by what its numbers were computed with.
_TOLERANCES = {
    "float64": (1e-4, 1e-6),
    "float32": (1e-3, 1e-5),
    "float16": (1e-2, 5e-3),
    "bfloat16": (5e-2, 2e-2),
}


class Numbers:
    """What an answer, or a part of it, holds: an array, and how precisely it was computed.

    Raises:
        ValueError: the answer is a list of rows that make no array.
    """

    def __init__(self, answer: Any) -> None:
        precision = str(getattr(answer, "dtype", "")).removeprefix("torch.")
        try:
            self.array = np.asarray(_plain(answer))
        except ValueError:
            raise ValueError("your answer is no array: its rows have different lengths") from None
        self.tolerance = _TOLERANCES.get(precision or str(self.array.dtype), _TOLERANCES["float64"])


def parts_of(answer: Any, wanted: Any) -> list[Numbers]:
    """Split an answer where the wanted one is a tuple of several."""
    if isinstance(wanted, tuple) and isinstance(answer, tuple | list):
        return [Numbers(part) for part in answer]
    if isinstance(wanted, tuple) and np.ndim(_plain(answer)) and len(answer) == len(wanted):
        return [Numbers(part) for part in answer]
    return [Numbers(answer)]


def agrees(answer: Any, wanted: Any) -> bool:
    """Say whether an answer has the form of the wanted one, and the same numbers."""
    if fault_of_form(answer, wanted):
        return False
    pairs = zip(parts_of(answer, wanted), parts_of(wanted, wanted), strict=True)
    return not any(differences(part, wanted_part.array).any() for part, wanted_part in pairs)


def fault_of_form(answer: Any, wanted: Any) -> str:
    """Say how the number of parts, a kind of numbers or a shape is not the wanted one, if so."""
    try:
        parts, wanted_parts = parts_of(answer, wanted), parts_of(wanted, wanted)
    except ValueError as error:
        return str(error)
    if len(parts) != len(wanted_parts):
        return f"wanted {len(wanted_parts)} results, got {len(parts)}"
    for number, (part, wanted_part) in enumerate(zip(parts, wanted_parts, strict=True), start=1):
        if fault := _fault_of_part(part.array, wanted_part.array):
            return f"result {number}: {fault}" if len(parts) > 1 else fault
    return ""


def differences(part: Numbers, wanted: Array) -> Array:
    """Mark where an answer of the right form has other numbers."""
    relative, absolute = part.tolerance
    close = np.isclose(part.array, wanted, rtol=relative, atol=absolute, equal_nan=True)
    return np.logical_not(close, out=np.empty(wanted.shape, dtype=bool))


def _fault_of_part(array: Array, wanted: Array) -> str:
    if array.dtype.kind not in "biufc":
        return f"wanted numbers, got {'text' if array.dtype.kind == 'U' else type(array.flat[0]).__name__}"
    if (array.dtype.kind == "b") != (wanted.dtype.kind == "b"):
        holds = "True and False" if wanted.dtype.kind == "b" else "numbers"
        thing = "a mask" if holds == "True and False" else "the answer"
        return f"{thing} holds {holds}, got {array.dtype}"
    if array.dtype.kind == "c":
        return f"wanted real numbers, got {array.dtype}"
    if array.shape != wanted.shape:
        return f"wanted {_tell_shape(wanted)}, got {_tell_shape(array)}"
    return ""


def _tell_shape(array: Array) -> str:
    return f"shape {array.shape}" if array.ndim else "one number"


def _plain(answer: Any) -> Any:
    """Take tensors apart into arrays, in lists, too; NumPy has no bfloat16."""
    if isinstance(answer, list | tuple):
        return [_plain(entry) for entry in answer]
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu()
        return answer.float().numpy() if "bfloat16" in str(answer.dtype) else answer.numpy()
    return answer

"""Describe the inputs for which a partly correct attempt works."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array


def describe_scope(cases: Sequence[tuple], passed: Sequence[bool]) -> str:
    """Name the property shared by all cases that pass and by none that fails; "" if there is none."""
    passing = [_arrays(case) for case, ok in zip(cases, passed, strict=True) if ok]
    failing = [_arrays(case) for case, ok in zip(cases, passed, strict=True) if not ok]
    if all(array.size == 1 for arrays in passing for array in arrays):
        return ""  # passing on single numbers says little
    for message, holds in _PROPERTIES.items():
        if all(map(holds, passing)) and not any(map(holds, failing)):
            return f"{message}: "
    return ""


def _has_batch_of_one(arrays: Sequence[Array]) -> bool:
    return any(array.ndim > 2 for array in arrays) and all(len(a) == 1 for a in arrays if a.ndim > 2)


def _is_square(arrays: Sequence[Array]) -> bool:
    matrices = [array for array in arrays if array.ndim > 1]
    return bool(matrices) and all(matrix.shape[-1] == matrix.shape[-2] for matrix in matrices)


def _has_one_row(arrays: Sequence[Array]) -> bool:
    return bool(arrays) and (arrays[0].ndim == 1 or (arrays[0].ndim == 2 and len(arrays[0]) == 1))


def _have_equally_many_rows(arrays: Sequence[Array]) -> bool:
    return len({array.shape[-2] for array in arrays if array.ndim > 1}) == 1


_PROPERTIES: dict[str, Callable[[Sequence[Array]], bool]] = {
    "works only for a batch of one": _has_batch_of_one,
    "works only for square inputs": _is_square,
    "works only for a single row": _has_one_row,
    "works only if all inputs have equally many rows": _have_equally_many_rows,
}


def _arrays(case: Sequence[Any]) -> list[Array]:
    return [argument for argument in case if isinstance(argument, np.ndarray) and argument.ndim]

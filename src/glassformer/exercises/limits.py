"""What an attempt that is right for some inputs only has in common with them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array


def tell_limit(cases: Sequence[tuple], passed: Sequence[bool]) -> str:
    """Say which inputs the attempt works for, if one thing tells them from those it does not work for."""
    met = [_arrays(case) for case, right in zip(cases, passed, strict=True) if right]
    missed = [_arrays(case) for case, right in zip(cases, passed, strict=True) if not right]
    if all(array.size == 1 for arrays in met for array in arrays):
        return ""  # to be right for single numbers says little
    for message, holds in _LIMITS.items():
        if all(map(holds, met)) and not any(map(holds, missed)):
            return f"{message}: "
    return ""


def _has_batch_of_one(arrays: Sequence[Array]) -> bool:
    return any(array.ndim > 2 for array in arrays) and all(len(a) == 1 for a in arrays if a.ndim > 2)


def _is_square(arrays: Sequence[Array]) -> bool:
    tables = [array for array in arrays if array.ndim > 1]
    return bool(tables) and all(table.shape[-1] == table.shape[-2] for table in tables)


def _has_one_row(arrays: Sequence[Array]) -> bool:
    return bool(arrays) and (arrays[0].ndim == 1 or (arrays[0].ndim == 2 and len(arrays[0]) == 1))


def _have_as_many_rows(arrays: Sequence[Array]) -> bool:
    rows = {array.shape[-2] for array in arrays if array.ndim > 1}
    return len(rows) == 1


_LIMITS: dict[str, Callable[[Sequence[Array]], bool]] = {
    "works for a batch of one only": _has_batch_of_one,
    "works for square inputs only": _is_square,
    "works for one row only": _has_one_row,
    "works only if all inputs have as many rows": _have_as_many_rows,
}


def _arrays(case: Sequence[Any]) -> list[Array]:
    return [argument for argument in case if isinstance(argument, np.ndarray) and argument.ndim]

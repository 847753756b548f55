"""How a function is judged: on inputs from small to large, against the right one and the usual slips."""

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.exercises.checking import Slip

Answer = Callable[..., Any]


def compare(attempt: Answer, right: Answer, slips: Mapping[str, Answer], cases: Sequence[tuple]) -> None:
    """Pass what agrees with the right function; name the slip that it agrees with instead.

    Args:
        attempt: the function to judge.
        right: what it should compute.
        slips: messages, and functions that make the slip which the message names.
        cases: arguments to call them with, the smallest first, so that a mistake which is no usual slip
            is shown on the smallest input on which it differs.

    Raises:
        Slip: the attempt differs from the right function.
    """
    with np.errstate(all="ignore"):
        answers = [attempt(*case) for case in cases]
        if _all_same(answers, right, cases):
            return
        for message, slip in slips.items():
            if _all_same(answers, slip, cases):
                raise Slip(message)
    for answer, case in zip(answers, cases, strict=True):
        if not _same(answer, wanted := right(*case)):
            given = ", ".join(map(_show, case))
            raise Slip(f"wrong for {given}: wanted {_show(wanted)}, got {_show(answer)}")


def compare_number(
    attempt: Any, wanted: float | int, slips: Mapping[Any, str], otherwise: Callable[[float], str]
) -> None:
    """Pass the wanted number; name the slip that leads to the number given instead.

    Args:
        attempt: the answer to judge.
        wanted: the right number. A whole one must be met, any other within one hundredth.
        slips: numbers that usual slips lead to, and what to say to them.
        otherwise: what to say to any other number: best, what would follow from it.

    Raises:
        Slip: the attempt is not the wanted number.
    """
    if isinstance(attempt, bool) or not isinstance(attempt, Real):
        raise Slip(f"wanted one number, got {type(attempt).__name__}")
    number = float(attempt)
    if math.isclose(number, wanted, rel_tol=0.01 if wanted % 1 else 1e-6):
        return
    for slip, message in slips.items():
        if math.isclose(number, slip, rel_tol=0.001):
            raise Slip(message)
    raise Slip(otherwise(number))


def _all_same(answers: Sequence[Any], function: Answer, cases: Sequence[tuple]) -> bool:
    return all(_same(answer, function(*case)) for answer, case in zip(answers, cases, strict=True))


def _same(answer: Any, wanted: Any) -> bool:
    parts, wanted_parts = _parts(answer), _parts(wanted)
    return len(parts) == len(wanted_parts) and all(map(_same_numbers, parts, wanted_parts))


def _same_numbers(numbers: Array, wanted: Array) -> bool:
    return (
        numbers.dtype.kind in "iuf"
        and numbers.shape == wanted.shape
        and np.allclose(numbers, wanted, rtol=1e-4, atol=1e-6, equal_nan=True)
    )


def _parts(answer: Any) -> list[Array]:
    """An answer is an array, or a tuple of several; a tuple of mere numbers is an array, too."""
    parts = answer if isinstance(answer, tuple) and any(map(np.ndim, answer)) else (answer,)
    return [np.asarray(part.detach().cpu() if hasattr(part, "detach") else part) for part in parts]


def _show(answer: Any) -> str:
    return " and ".join(
        str((np.round(part, 3) + 0.0 if part.dtype.kind == "f" else part).tolist()) for part in _parts(answer)
    )

"""Compare an attempt with the solution and with functions that make the usual slips."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.checking.drawing import draw_answers, draw_input, draw_shapes
from glassformer.checking.scope import describe_scope
from glassformer.checking.slips import Slip, Stopped
from glassformer.checking.tolerance import form_error, is_close

Answer = Callable[..., Any]


class Hint(str):
    """Message of a slip that another section explains than the rest of the exercise.

    Attributes:
        see: section of the chapter to read again.
    """

    see: str

    def __new__(cls, message: str, *, see: str) -> "Hint":
        """Attach the section to the message."""
        hint = super().__new__(cls, message)
        hint.see = see
        return hint


def sample(rng: np.random.Generator, *shape: int) -> Array:
    """Draw readable numbers: two decimals, absolute values uniform in [0.2, 2], random signs."""
    return np.round(rng.uniform(0.2, 2, shape) * rng.choice([-1, 1], shape), 2)


def compare(attempt: Any, solution: Answer, slips: Mapping[str, Answer], cases: Sequence[tuple]) -> None:
    """Accept an attempt that agrees with the solution; otherwise name the slip that it agrees with.

    Args:
        attempt: function to judge.
        solution: correct function. A tuple stands for several results.
        slips: functions that make a usual slip, keyed by the message that names it.
        cases: arguments to call the functions with, smallest first: an unknown mistake is shown on the
            first case that it gets wrong.

    Raises:
        Slip: the attempt differs from the solution.
    """
    if not callable(attempt):
        raise Slip(f"expected a function, yours is of type {type(attempt).__name__}")
    with np.errstate(all="ignore"):
        expected = [solution(*case) for case in cases]
        answers = _call_all(attempt, solution, expected, cases)
        passed = [is_close(answer, target) for answer, target in zip(answers, expected, strict=True)]
        if all(passed):
            return
        for message, slip in slips.items():
            if _makes(slip, answers, cases):
                raise _slip(message)
        first = passed.index(False)
        arguments = _name_arguments(cases[first], attempt, solution)
        raise _unknown(arguments, expected[first], answers[first], describe_scope(cases, passed))


def compare_number(
    attempt: Any,
    solution: float | int,
    slips: Mapping[Any, str],
    otherwise: Callable[[float], str],
) -> None:
    """Accept the correct number; otherwise name the slip that leads to the number given.

    Args:
        attempt: answer to judge.
        solution: correct number. An integer must be met exactly, any other number within 1 %.
        slips: messages keyed by the number that the slip leads to.
        otherwise: message for any other number, ideally a consequence of it.

    Raises:
        Slip: the attempt is another number, or none.
    """
    number = read_number(attempt)
    if math.isclose(number, solution, rel_tol=0.01 if solution % 1 else 1e-6):
        return
    for slip, message in slips.items():
        if math.isclose(number, slip, rel_tol=0.001):
            raise _slip(message)
    raise Slip(otherwise(number))


def read_number(attempt: Any) -> float:
    """Convert a Python number, or an array or tensor with a single entry, to float.

    Raises:
        Slip: the attempt is not a finite number.
    """
    single = attempt.item() if hasattr(attempt, "item") and math.prod(attempt.shape) == 1 else attempt
    if isinstance(single, bool) or not isinstance(single, Real):
        raise Slip(f"expected one number, yours is of type {type(attempt).__name__}")
    if not math.isfinite(single):
        raise Slip(f"expected a finite number, yours is {single}")
    return float(single)


def _call_all(
    attempt: Answer, solution: Answer, expected: Sequence[Any], cases: Sequence[tuple]
) -> list[Any]:
    answers: list[Any] = []
    for case in cases:
        try:
            answers.append(attempt(*case))
        except Stopped as stopped:
            for earlier, target, answer in zip(cases, expected, answers, strict=False):
                if not is_close(answer, target):
                    slip = _unknown(_name_arguments(earlier, attempt, solution), target, answer)
                    message = f"{slip.message}, and for a larger input {stopped.message}"
                    raise Stopped(message, drawing=slip.drawing) from stopped
            so_far = "right for smaller inputs, but here " if answers else ""
            drawing = draw_input(_name_arguments(case, attempt, solution))
            raise Stopped(so_far + stopped.message, drawing=drawing) from stopped
    return answers


def _makes(slip: Answer, answers: Sequence[Any], cases: Sequence[tuple]) -> bool:
    pairs = list(zip(answers, cases, strict=True))
    return all(is_close(answer, slip(*case)) for answer, case in reversed(pairs))  # large cases differ first


def _slip(message: str) -> Slip:
    return Slip(str(message), see=message.see if isinstance(message, Hint) else "")


def _unknown(arguments: Mapping[str, Any], expected: Any, answer: Any, scope: str = "") -> Slip:
    inputs = draw_input(arguments)
    if error := form_error(answer, expected):
        return Slip(scope + error, drawing=_join(inputs, _draw_shapes(expected, answer)))
    return Slip(f"{scope}wrong for this input", drawing=_join(inputs, draw_answers(expected, answer)))


def _draw_shapes(expected: Any, answer: Any) -> str:
    try:
        return draw_shapes(expected, answer)
    except ValueError:  # rows of different lengths
        return ""


def _join(*drawings: str) -> str:
    return "\n\n".join(filter(None, drawings))


def _name_arguments(case: tuple, *functions: Answer) -> dict[str, Any]:
    """Name arguments by the parameters of the first function whose signature fits."""
    for function in functions:
        try:
            parameters = inspect.signature(function).bind(*case).arguments
        except (TypeError, ValueError):
            continue
        if len(parameters) == len(case):
            return parameters
    return {f"argument {number}": argument for number, argument in enumerate(case, start=1)}

"""How an attempt is judged: on inputs from small to large, against the right answer and the usual slips."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.exercises.agreement import agrees, fault_of_form
from glassformer.exercises.drawing import draw_answers, draw_input, draw_shapes
from glassformer.exercises.limits import tell_limit
from glassformer.exercises.slips import Slip, Stopped

Answer = Callable[..., Any]


class Hint(str):
    """A message whose explanation stands in another section than that of the whole exercise.

    Attributes:
        see: the section of the chapter where to look again.
    """

    see: str

    def __new__(cls, message: str, *, see: str) -> "Hint":
        """Add the section to the message."""
        hint = super().__new__(cls, message)
        hint.see = see
        return hint


def sample(rng: np.random.Generator, *shape: int) -> Array:
    """Draw numbers that read well: two decimals, between 0.2 and 2 or their negatives, none near zero."""
    return np.round(rng.uniform(0.2, 2, shape) * rng.choice([-1, 1], shape), 2)


def compare(attempt: Any, right: Answer, slips: Mapping[str, Answer], cases: Sequence[tuple]) -> None:
    """Pass what agrees with the right function; name the slip that it agrees with instead.

    Args:
        attempt: the function to judge.
        right: what it should compute. A tuple is an answer in several parts.
        slips: messages, and functions that make the slip which the message names.
        cases: arguments to call them with, the smallest first, so that a mistake which is no usual slip
            is shown on the smallest input on which it differs.

    Raises:
        Slip: the attempt differs from the right function.
    """
    if not callable(attempt):
        raise Slip(f"wanted a function, got {type(attempt).__name__}")
    with np.errstate(all="ignore"):
        wanted = [right(*case) for case in cases]
        answers = _answer_all(attempt, right, wanted, cases)
        passed = [agrees(answer, target) for answer, target in zip(answers, wanted, strict=True)]
        if all(passed):
            return
        for message, slip in slips.items():
            if _makes(slip, answers, cases):
                raise _slip(message)
        place = passed.index(False)
        arguments = _name(cases[place], attempt, right)
        limit = tell_limit(cases, passed)
        raise _unknown(arguments, wanted[place], answers[place], limit)


def compare_number(
    attempt: Any,
    wanted: float | int,
    slips: Mapping[Any, str],
    otherwise: Callable[[float], str],
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
    number = read_number(attempt)
    if math.isclose(number, wanted, rel_tol=0.01 if wanted % 1 else 1e-6):
        return
    for slip, message in slips.items():
        if math.isclose(number, slip, rel_tol=0.001):
            raise _slip(message)
    raise Slip(otherwise(number))


def read_number(attempt: Any) -> float:
    """Read the one number of an answer, be it Python's, NumPy's or a tensor's.

    Raises:
        Slip: it is none.
    """
    single = attempt.item() if hasattr(attempt, "item") and math.prod(attempt.shape) == 1 else attempt
    if isinstance(single, bool) or not isinstance(single, Real):
        raise Slip(f"wanted one number, got {type(attempt).__name__}")
    if not math.isfinite(single):
        raise Slip(f"wanted a finite number, got {single}")
    return float(single)


def _answer_all(attempt: Answer, right: Answer, wanted: Sequence[Any], cases: Sequence[tuple]) -> list[Any]:
    answers: list[Any] = []
    for case in cases:
        try:
            answers.append(attempt(*case))
        except Stopped as stopped:
            for earlier, target, answer in zip(cases, wanted, answers, strict=False):
                if not agrees(answer, target):
                    slip = _unknown(_name(earlier, attempt, right), target, answer)
                    message = f"{slip.message}, and for a larger one {stopped.message}"
                    raise Stopped(message, drawing=slip.drawing) from stopped
            so_far = "right for smaller inputs, but here " if answers else ""
            drawing = draw_input(_name(case, attempt, right))
            raise Stopped(so_far + stopped.message, drawing=drawing) from stopped
    return answers


def _makes(slip: Answer, answers: Sequence[Any], cases: Sequence[tuple]) -> bool:
    pairs = list(zip(answers, cases, strict=True))
    return all(agrees(answer, slip(*case)) for answer, case in reversed(pairs))  # large ones differ sooner


def _slip(message: str) -> Slip:
    return Slip(str(message), see=message.see if isinstance(message, Hint) else "")


def _unknown(arguments: Mapping[str, Any], wanted: Any, answer: Any, limit: str = "") -> Slip:
    given = draw_input(arguments)
    if fault := fault_of_form(answer, wanted):
        return Slip(limit + fault, drawing=_join(given, _draw_fault(wanted, answer)))
    return Slip(f"{limit}wrong for this input", drawing=_join(given, draw_answers(wanted, answer)))


def _draw_fault(wanted: Any, answer: Any) -> str:
    try:
        return draw_shapes(wanted, answer)
    except ValueError:  # rows of different lengths
        return ""


def _join(*drawings: str) -> str:
    return "\n\n".join(filter(None, drawings))


def _name(case: tuple, *functions: Answer) -> dict[str, Any]:
    """Call arguments what the first of the functions that has names for them calls them."""
    for function in functions:
        try:
            parameters = inspect.signature(function).bind(*case).arguments
        except (TypeError, ValueError):
            continue
        if len(parameters) == len(case):
            return parameters
    return {f"argument {number}": argument for number, argument in enumerate(case, start=1)}

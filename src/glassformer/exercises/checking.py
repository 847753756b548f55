"""What all checks share: an attempt not begun is greeted, a right one praised, a wrong one told its slip."""

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np


class Slip(AssertionError):  # noqa: N818 (a slip is no error of the program)
    """An attempt is wrong, and the message says how."""

    def _render_traceback_(self) -> list[str]:
        """Show a learner the message alone, not the inside of the check."""
        return [f"✘ {self}"]


class _NotBegunError(Exception):
    """An attempt still holds the dots it was handed out with."""


def check(judge: Callable[[Any], None]) -> Callable[[Any], None]:
    """Turn a judge, which raises `Slip` for a wrong attempt, into the check of an exercise.

    An attempt that is ``...``, or a function that still returns None, is not begun: nothing is raised.
    A function is watched while it is judged: that it runs, and that it leaves its arguments alone.
    """
    name = judge.__name__.removeprefix("check_").replace("_", " ")

    @functools.wraps(judge)
    def run(attempt: Any) -> None:
        try:
            if attempt is None or attempt is ...:
                raise _NotBegunError
            judge(_watched(attempt) if callable(attempt) else attempt)
        except _NotBegunError:
            print(f"◦ {name}: nothing to check yet. Write your answer and run the cell again.")
        else:
            print(f"✔ {name}: right.")

    return run


def _watched(attempt: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        before = copy.deepcopy((args, kwargs))
        try:
            answer = attempt(*args, **kwargs)
        except NotImplementedError:
            raise _NotBegunError from None
        except Exception as error:
            raise Slip(f"your function stopped with {type(error).__name__}: {error}") from error
        if answer is None or answer is ...:
            raise _NotBegunError
        if not all(map(_same, (*before[0], *before[1].values()), (*args, *kwargs.values()))):
            raise Slip("your function changed its input: work on a copy, the caller still needs the original")
        return answer

    return run


def _same(before: Any, after: Any) -> bool:
    before, after = np.asarray(before), np.asarray(after)
    return bool(np.array_equal(before, after, equal_nan=before.dtype.kind in "fc"))

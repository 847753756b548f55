"""Judge an attempt at an exercise as right, wrong or not started, and report it to the learner."""

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from glassformer.checking.sandbox import argument_conversions, sandboxed
from glassformer.checking.slips import NotStartedError, Slip, Stopped


@dataclass(frozen=True)
class Verdict:
    """Outcome of a check; as text, the line that the learner reads.

    Attributes:
        exercise: name of the exercise, in words.
        state: outcome.
        slip: mistake in a wrong attempt.
    """

    exercise: str
    state: Literal["right", "wrong", "not started"]
    slip: Slip | None = None

    def __str__(self) -> str:
        if self.state == "wrong":
            return f"✘ {self.exercise}: {self.slip}"
        if self.state == "right":
            return f"✔ {self.exercise}: right."
        return f"◦ {self.exercise}: nothing to check yet. Write your answer and run the cell again."


class Check:
    """Check of one exercise: call it to print the verdict, or use `judge` to get it.

    ``...``, None and functions without a body are not started, which raises nothing. Functions run in
    the sandbox, which reports errors, endless loops and changed arguments as slips.

    Attributes:
        name: name that the learner defines.
        see: section of the chapter that explains the exercise.
    """

    def __init__(self, judge: Callable[..., None], see: str) -> None:
        functools.update_wrapper(self, judge)
        self.name = judge.__name__.removeprefix("check_")
        self.see = see
        self._judge = judge
        self._needs_rng = len(inspect.signature(judge).parameters) > 1

    def __call__(self, attempt: Any, seed: int = 0) -> None:
        """Judge an attempt and print the verdict.

        Raises:
            Slip: the attempt is wrong.
        """
        verdict = self.judge(attempt, seed)
        if verdict.slip:
            raise verdict.slip
        print(verdict)

    def judge(self, attempt: Any, seed: int = 0) -> Verdict:
        """Judge an attempt on the cases drawn with this seed."""
        exercise = self.name.replace("_", " ")
        try:
            if attempt is None or attempt is ...:
                raise NotStartedError
            self._try(attempt, seed)
        except NotStartedError:
            return Verdict(exercise, "not started")
        except Slip as slip:
            slip.exercise = exercise
            slip.see = slip.see or self.see
            return Verdict(exercise, "wrong", slip)
        return Verdict(exercise, "right")

    def _try(self, attempt: Any, seed: int) -> None:
        """Judge on arrays, then on tensors if the function stops: it may have been written for PyTorch."""
        if not callable(attempt):
            return self._judge_once(attempt, seed)
        stops: list[Stopped] = []
        for convert in argument_conversions():
            try:
                with warnings.catch_warnings(action="ignore") if stops else contextlib.nullcontext():
                    return self._judge_once(sandboxed(attempt, convert), seed)
            except Stopped as stopped:
                stops.append(stopped)
        raise next((stopped for stopped in stops if "Tensor" not in stopped.message), stops[0])

    def _judge_once(self, attempt: Any, seed: int) -> None:
        rng = (np.random.default_rng(seed),) if self._needs_rng else ()
        try:
            self._judge(attempt, *rng)
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            raise Slip(f"your answer has a form that the check cannot read: {error}") from error


def check(see: str) -> Callable[[Callable[..., None]], Check]:
    """Turn a function that raises `Slip` for wrong attempts into the check of an exercise.

    The function takes the attempt and, if its cases are random, the generator that draws them.

    Args:
        see: section of the chapter to read again, unless a slip names another.
    """
    return lambda judge: Check(judge, see)

"""What all checks share: an attempt is judged, and a right, a wrong, or an unwritten one is told so."""

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from glassformer.exercises.slips import NotBegunError, Slip, Stopped
from glassformer.exercises.watching import retellings, watched


@dataclass(frozen=True)
class Verdict:
    """What there is to say to an attempt.

    Attributes:
        exercise: its name, in words.
        state: whether the attempt is right, wrong, or not begun.
        slip: what is wrong, and where to look again.
    """

    exercise: str
    state: Literal["right", "wrong", "not begun"]
    slip: Slip | None = None

    def __str__(self) -> str:
        if self.state == "wrong":
            return f"✘ {self.exercise}: {self.slip}"
        if self.state == "right":
            return f"✔ {self.exercise}: right."
        return f"◦ {self.exercise}: nothing to check yet. Write your answer and run the cell again."


class Check:
    """The check of an exercise: call it with an attempt to be told, or ask it for a `Verdict`.

    An attempt that is ``...``, or a function with nothing in it, is not begun: nothing is raised. A function
    is watched while it is judged: that it runs and comes back, and that it leaves its arguments alone.

    Attributes:
        name: of what the learner defines.
        see: the section of the chapter that explains it.
    """

    def __init__(self, judge: Callable[..., None], see: str) -> None:
        functools.update_wrapper(self, judge)
        self.name = judge.__name__.removeprefix("check_")
        self.see = see
        self._judge = judge
        self._draws = len(inspect.signature(judge).parameters) > 1

    def __call__(self, attempt: Any, seed: int = 0) -> None:
        """Print that the attempt is right, or not begun.

        Raises:
            Slip: it is wrong.
        """
        verdict = self.judge(attempt, seed)
        if verdict.slip:
            raise verdict.slip
        print(verdict)

    def judge(self, attempt: Any, seed: int = 0) -> Verdict:
        """Judge an attempt on the cases that this seed draws."""
        exercise = self.name.replace("_", " ")
        try:
            if attempt is None or attempt is ...:
                raise NotBegunError
            self._try(attempt, seed)
        except NotBegunError:
            return Verdict(exercise, "not begun")
        except Slip as slip:
            slip.exercise = exercise
            slip.see = slip.see or self.see
            return Verdict(exercise, "wrong", slip)
        return Verdict(exercise, "right")

    def _try(self, attempt: Any, seed: int) -> None:
        """Judge a function that stops on arrays on tensors, too: whoever writes with torch expects them."""
        if not callable(attempt):
            return self._judge_once(attempt, seed)
        stops: list[Stopped] = []
        for retell in retellings():
            try:
                with warnings.catch_warnings(action="ignore") if stops else contextlib.nullcontext():
                    return self._judge_once(watched(attempt, retell), seed)
            except Stopped as stopped:
                stops.append(stopped)
        raise next((stopped for stopped in stops if "Tensor" not in stopped.message), stops[0])

    def _judge_once(self, attempt: Any, seed: int) -> None:
        drawn = (np.random.default_rng(seed),) if self._draws else ()
        try:
            self._judge(attempt, *drawn)
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            raise Slip(f"your answer is of another kind than the one asked for: {error}") from error


def check(see: str) -> Callable[[Callable[..., None]], Check]:
    """Turn a judge, which raises `Slip` for a wrong attempt, into the check of an exercise.

    The judge takes the attempt and, where its cases are drawn by chance, the generator that draws them.

    Args:
        see: the section of the chapter where to look again, unless a slip names another one.
    """
    return lambda judge: Check(judge, see)

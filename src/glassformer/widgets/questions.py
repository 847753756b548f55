"""Quiz questions: single choice, multiple choice or a number, with feedback on every answer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """An option of a question, with feedback that explains why it is right or wrong."""

    text: str
    why: str
    is_right: bool


def right(text: str, why: str) -> Option:
    """Make a right option."""
    return Option(text, why, is_right=True)


def wrong(text: str, why: str) -> Option:
    """Make a wrong option; ``why`` explains the mistake."""
    return Option(text, why, is_right=False)


@dataclass(frozen=True)
class OneOf:
    """Single-choice question.

    Args:
        id: permanent name, beginning with the chapter's.
        text: text of the question, with code between backticks.
        options: at least three options in the order of the page.

    Raises:
        ValueError: not exactly one option is right, there are fewer than three, or two have the same text.
    """

    id: str
    text: str
    options: Sequence[Option]

    def __post_init__(self) -> None:
        _require_options(self.id, self.options)
        if count := sum(option.is_right for option in self.options) - 1:
            raise ValueError(f"options of {self.id} must include exactly one right option, got {count + 1}")


@dataclass(frozen=True)
class SeveralOf:
    """Multiple-choice question; arguments as in `OneOf`, and right and wrong options must both occur."""

    id: str
    text: str
    options: Sequence[Option]

    def __post_init__(self) -> None:
        _require_options(self.id, self.options)
        if len({option.is_right for option in self.options}) == 1:
            raise ValueError(f"options of {self.id} must include right and wrong ones")


@dataclass(frozen=True)
class Number:
    """Question whose answer is a number that the package computes.

    Args:
        id: permanent name, beginning with the chapter's.
        text: text of the question, with code between backticks.
        answer: correct number.
        why: explanation of the answer.
        within: absolute tolerance; 0 asks for an integer.
        mistakes: wrong numbers that common mistakes lead to, each with its feedback.

    Raises:
        ValueError: the answer is not finite, is not an integer although ``within`` is 0, or equals a mistake.
    """

    id: str
    text: str
    answer: float | int
    why: str
    within: float | int = 0
    mistakes: Sequence[tuple[float | int, str]] = ()

    def __post_init__(self) -> None:
        if not math.isfinite(self.answer):
            raise ValueError(f"answer of {self.id} must be finite, got {self.answer}")
        if self.within == 0 and self.answer != round(self.answer):
            raise ValueError(f"answer of {self.id} must be whole where within is 0, got {self.answer}")
        for number, _ in self.mistakes:
            if abs(number - self.answer) <= self.within:
                raise ValueError(f"mistakes of {self.id} must differ from its answer, got {number}")

    @property
    def wanted(self) -> str:
        """Description of the accepted numbers."""
        return f"± {self.within:g} counts as right" if self.within else "a whole number"


Question = OneOf | SeveralOf | Number


def _require_options(name: str, options: Sequence[Option]) -> None:
    texts = {option.text for option in options}
    if not len(options) == len(texts) >= 3:
        raise ValueError(
            f"options of {name} must be at least three and all different, got {len(texts)} different ones"
        )
    for option in options:
        if not option.why:
            raise ValueError(
                f"options of {name} must all have feedback, but there is none for {option.text!r}"
            )

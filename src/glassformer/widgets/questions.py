"""The questions of a quiz: one of several, several of several, or a number; each answer says why."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """An answer to choose, whether it is right, and why it is or is not."""

    text: str
    why: str
    is_right: bool


def right(text: str, why: str) -> Option:
    """Make an option that is right."""
    return Option(text, why, is_right=True)


def wrong(text: str, why: str) -> Option:
    """Make an option that is wrong; ``why`` teaches those who took it."""
    return Option(text, why, is_right=False)


@dataclass(frozen=True)
class OneOf:
    """A question with several options, of which exactly one is right.

    Args:
        id: a name that stays, beginning with the chapter's.
        text: the question, with code between backticks.
        options: what there is to choose from, in the order of the page.

    Raises:
        ValueError: none or more than one of the options are right, or two have the same text.
    """

    id: str
    text: str
    options: Sequence[Option]

    def __post_init__(self) -> None:
        _require_options(self.id, self.options)
        if count := sum(option.is_right for option in self.options) - 1:
            raise ValueError(f"options of {self.id} must hold exactly one right one, got {count + 1}")


@dataclass(frozen=True)
class SeveralOf:
    """A question with several options, of which one or more are right; arguments and errors as `OneOf`."""

    id: str
    text: str
    options: Sequence[Option]

    def __post_init__(self) -> None:
        _require_options(self.id, self.options)
        if len({option.is_right for option in self.options}) == 1:
            raise ValueError(f"options of {self.id} must hold right ones and wrong ones")


@dataclass(frozen=True)
class Number:
    """A question whose answer is a number that the package computes.

    Args:
        id: a name that stays, beginning with the chapter's.
        text: the question, with code between backticks.
        answer: the right number.
        why: how it comes about.
        within: how far an answer may lie from it; 0 asks for a whole number.
        mistakes: numbers that those will give who make a usual mistake, each with what to tell them.

    Raises:
        ValueError: the answer is not finite or not whole where it should be, or equals a mistake.
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
        """Which numbers are taken for right, in words."""
        return f"± {self.within:g} counts as right" if self.within else "a whole number"


Question = OneOf | SeveralOf | Number


def _require_options(name: str, options: Sequence[Option]) -> None:
    texts = {option.text for option in options}
    if not len(options) == len(texts) >= 3:
        raise ValueError(f"options of {name} must be at least three, all different, got {len(texts)}")
    for option in options:
        if not option.why:
            raise ValueError(f"options of {name} must all say why, got none for {option.text!r}")

"""A task with a known cause: of all letters one is a capital, and it alone decides the answer."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from glassformer.data.vocabulary import SPECIAL_TOKENS
from glassformer.validation import require_whole


class CapitalBatch(NamedTuple):
    """Rows of letters with what is to be said of each, and why.

    Attributes:
        source_ids: the letters.
        labels: the answer, the small letter of the capital.
        cause_positions: where the capitals stand, from left to right.
    """

    source_ids: Int[Array, "batch length"]
    labels: Int[Array, "batch"]
    cause_positions: Int[Array, "batch capitals"]


@dataclass(frozen=True)
class CapitalTask:
    """Read ``length`` letters and blanks, and say which letter stands there as a capital.

    Small letters and blanks are drawn evenly and say nothing about the answer, so whatever a model answers
    rightly more often than once in ``num_letters`` times, it has from the capital. With several capitals,
    all are the same letter: each of them would do alone.

    Raises:
        ValueError: a number is not a whole one of at least 1, there are more capitals than places, or fewer
            than 2 or more than 26 letters.
    """

    length: int
    num_letters: int
    num_capitals: int = 1

    BLANK_ID: ClassVar[int] = len(SPECIAL_TOKENS)

    def __post_init__(self) -> None:
        require_whole(length=self.length, num_letters=self.num_letters, num_capitals=self.num_capitals)
        if self.num_capitals > self.length:
            raise ValueError(
                f"num_capitals ({self.num_capitals}) must be at most the length ({self.length}): "
                "each capital stands in a place of its own"
            )
        if not 2 <= self.num_letters <= len(ascii_lowercase):
            raise ValueError(f"num_letters must be from 2 to {len(ascii_lowercase)}, got {self.num_letters}")

    @property
    def words(self) -> tuple[str, ...]:
        """The name of each id: the marks of every vocabulary, the blank, small letters, capitals."""
        letters = ascii_lowercase[: self.num_letters]
        return (*SPECIAL_TOKENS, "_", *letters, *letters.upper())

    def sample(self, batch_size: int, rng: np.random.Generator) -> CapitalBatch:
        """Draw rows of letters; the same ``rng`` state draws the same ones.

        Raises:
            ValueError: ``batch_size`` is not a whole number of at least 1.
        """
        require_whole(batch_size=batch_size)
        first_letter = self.BLANK_ID + 1
        source_ids = rng.integers(
            self.BLANK_ID, first_letter + self.num_letters, size=(batch_size, self.length)
        )
        labels = rng.integers(first_letter, first_letter + self.num_letters, size=batch_size)
        places = rng.permuted(np.tile(np.arange(self.length), (batch_size, 1)), axis=1)
        causes = np.sort(places[:, : self.num_capitals])
        source_ids[np.arange(batch_size)[:, None], causes] = labels[:, None] + self.num_letters
        return CapitalBatch(source_ids, labels, causes)

    def decode(self, ids: Iterable[int] | Int[Array, " length"]) -> str:
        """Write ids as letters: "b _ a C d"."""
        return " ".join(self.words[int(id)] for id in ids)

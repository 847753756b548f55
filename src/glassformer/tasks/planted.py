"""A planted cause: among random letters, only a capital decides the answer."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from glassformer.data.vocabulary import SPECIAL_TOKENS
from glassformer.validation import require_positive_int


class CapitalBatch(NamedTuple):
    """Rows of letters, with their answers and the positions that decide them.

    Attributes:
        source_ids: letters of each row.
        labels: lower-case form of the capital.
        cause_positions: positions of the capitals, from left to right.
    """

    source_ids: Int[Array, "batch length"]
    labels: Int[Array, "batch"]
    cause_positions: Int[Array, "batch capitals"]


@dataclass(frozen=True)
class CapitalTask:
    """Sample rows of ``length`` letters and blanks, and ask which letter occurs as a capital.

    Lower-case letters and blanks are drawn uniformly and say nothing about the answer, so a model that is
    right more often than once in ``num_letters`` times must use the capital. If there are several capitals,
    all are the same letter, and any one of them suffices.

    Attributes:
        length: number of letters and blanks in a row.
        num_letters: number of distinct letters.
        num_capitals: number of capitals in a row.

    Raises:
        ValueError: a number is not a positive integer, there are more capitals than positions, or
            fewer than 2 or more than 26 letters.
    """

    length: int
    num_letters: int
    num_capitals: int = 1

    BLANK_ID: ClassVar[int] = len(SPECIAL_TOKENS)

    def __post_init__(self) -> None:
        require_positive_int(length=self.length, num_letters=self.num_letters, num_capitals=self.num_capitals)
        if self.num_capitals > self.length:
            raise ValueError(
                f"num_capitals ({self.num_capitals}) must be at most the length ({self.length}): "
                "each capital has its own position"
            )
        if not 2 <= self.num_letters <= len(ascii_lowercase):
            raise ValueError(f"num_letters must be from 2 to {len(ascii_lowercase)}, got {self.num_letters}")

    @property
    def words(self) -> tuple[str, ...]:
        """The name of each id: special tokens, the blank, lower-case letters, capitals."""
        letters = ascii_lowercase[: self.num_letters]
        return (*SPECIAL_TOKENS, "_", *letters, *letters.upper())

    def sample(self, batch_size: int, rng: np.random.Generator) -> CapitalBatch:
        """Sample a batch of rows; the same ``rng`` state gives the same batch.

        Raises:
            ValueError: ``batch_size`` is not a positive integer.
        """
        require_positive_int(batch_size=batch_size)
        first_letter = self.BLANK_ID + 1
        source_ids = rng.integers(
            self.BLANK_ID, first_letter + self.num_letters, size=(batch_size, self.length)
        )
        labels = rng.integers(first_letter, first_letter + self.num_letters, size=batch_size)
        positions = rng.permuted(np.tile(np.arange(self.length), (batch_size, 1)), axis=1)
        causes = np.sort(positions[:, : self.num_capitals])
        source_ids[np.arange(batch_size)[:, None], causes] = labels[:, None] + self.num_letters
        return CapitalBatch(source_ids, labels, causes)

    def decode(self, ids: Iterable[int] | Int[Array, " length"]) -> str:
        """Convert ids to letters, such as "b _ a C d"."""
        return " ".join(self.words[int(id)] for id in ids)

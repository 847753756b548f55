"""Recall: repeat a sequence of random symbols after reading all of it."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from glassformer.validation import require_positive_int, require_shape


class RecallBatch(NamedTuple):
    """Sequences to recall, as sources, decoder inputs and labels.

    Attributes:
        source_ids: symbols to remember.
        decoder_input_ids: start id, then all symbols except the last.
        labels: the same symbols, one for each decoder position.
    """

    source_ids: Int[Array, "batch length"]
    decoder_input_ids: Int[Array, "batch length"]
    labels: Int[Array, "batch length"]


@dataclass(frozen=True)
class RecallTask:
    """Sample sequences of ``length`` symbols, drawn uniformly and independently from ``num_symbols``.

    A symbol that is not remembered can only be guessed, which succeeds once in ``num_symbols`` times. Ids 0
    and 1 are the padding and start tokens.

    Attributes:
        length: number of symbols in a sequence.
        num_symbols: number of distinct symbols.

    Raises:
        ValueError: ``length`` is below 1, or ``num_symbols`` below 2.
    """

    length: int
    num_symbols: int

    PAD_ID: ClassVar[int] = 0
    START_ID: ClassVar[int] = 1

    def __post_init__(self) -> None:
        require_positive_int(length=self.length, num_symbols=self.num_symbols)
        if self.num_symbols < 2:
            raise ValueError(f"num_symbols must be at least 2, got {self.num_symbols}")

    @property
    def vocabulary_size(self) -> int:
        """Number of ids: the symbols, padding and start."""
        return self.num_symbols + 2

    @property
    def bits(self) -> float:
        """Information in a sequence in bits, length · log₂(num_symbols)."""
        return self.length * float(np.log2(self.num_symbols))

    def sample(self, batch_size: int, rng: np.random.Generator) -> RecallBatch:
        """Sample a batch of sequences; the same ``rng`` state gives the same batch.

        Raises:
            ValueError: ``batch_size`` is not a positive integer.
        """
        require_positive_int(batch_size=batch_size)
        symbols = rng.integers(2, self.vocabulary_size, size=(batch_size, self.length))
        start = np.full((batch_size, 1), self.START_ID)
        return RecallBatch(symbols, np.concatenate([start, symbols[:, :-1]], axis=1), symbols)


def recall_accuracy(predicted_ids: Int[Array, "batch length"], batch: RecallBatch) -> float:
    """Compute the fraction of symbols recalled at their own position.

    Raises:
        ValueError: the shapes of predictions and labels differ.
    """
    require_shape(batch.labels.shape, predicted_ids=predicted_ids)
    return float((predicted_ids == batch.labels).mean())

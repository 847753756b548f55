"""A task with one difficulty only: to say back a sequence of random symbols after having read all of it."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from glassformer.validation import require_shape, require_whole


class RecallBatch(NamedTuple):
    """Sequences to remember, and what a translator is given and must answer to say them back.

    Attributes:
        source_ids: the symbols to remember.
        decoder_input_ids: what the decoder is given: the start id, then the symbols one place late.
        labels: what it must answer at each place: the symbols again.
    """

    source_ids: Int[Array, "batch length"]
    decoder_input_ids: Int[Array, "batch length"]
    labels: Int[Array, "batch length"]


@dataclass(frozen=True)
class RecallTask:
    """Say back ``length`` symbols, each drawn evenly from ``num_symbols``, none a hint of another.

    Whatever is not carried from the source to the target can only be guessed: a guess is right once in
    ``num_symbols`` times. Ids 0 and 1 are kept for padding and for the start.

    Raises:
        ValueError: ``length`` is not a whole number of at least 1, or ``num_symbols`` not one of at
            least 2.
    """

    length: int
    num_symbols: int

    PAD_ID: ClassVar[int] = 0
    START_ID: ClassVar[int] = 1

    def __post_init__(self) -> None:
        require_whole(length=self.length, num_symbols=self.num_symbols)
        if self.num_symbols < 2:
            raise ValueError(f"num_symbols must be at least 2, got {self.num_symbols}")

    @property
    def vocabulary_size(self) -> int:
        """How many ids there are: the symbols, the padding and the start."""
        return self.num_symbols + 2

    @property
    def bits(self) -> float:
        """How much one sequence says: length · log₂(num_symbols), in bits."""
        return self.length * float(np.log2(self.num_symbols))

    def sample(self, batch_size: int, rng: np.random.Generator) -> RecallBatch:
        """Draw sequences; the same ``rng`` state draws the same ones.

        Raises:
            ValueError: ``batch_size`` is not a whole number of at least 1.
        """
        require_whole(batch_size=batch_size)
        symbols = rng.integers(2, self.vocabulary_size, size=(batch_size, self.length))
        start = np.full((batch_size, 1), self.START_ID)
        return RecallBatch(symbols, np.concatenate([start, symbols[:, :-1]], axis=1), symbols)


def recall_accuracy(predicted_ids: Int[Array, "batch length"], batch: RecallBatch) -> float:
    """Share of symbols said back rightly, each in its own place.

    Raises:
        ValueError: the predictions have another shape than the symbols.
    """
    require_shape(batch.labels.shape, predicted_ids=predicted_ids)
    return float((predicted_ids == batch.labels).mean())

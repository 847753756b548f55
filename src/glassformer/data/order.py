"""Questions that nobody can answer who does not know where each word stands."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from glassformer.validation import require_choice, require_whole


class OrderBatch(NamedTuple):
    """Sequences of random words, and the answer to one question about each.

    Attributes:
        ids: the words.
        wanted_ids: the word that answers the question.
    """

    ids: Int[Array, "batch time"]
    wanted_ids: Int[Array, "batch"]


@dataclass(frozen=True)
class OrderTask:
    """Read random words; then, at the last of them, answer a question about their order.

    - "before": which word stands just before the last one?
    - "first": which word stands first?
    - "later": words 0 and 1 stand once each, somewhere before the last word: which of them stands later?

    All words but 0 and 1 are drawn evenly from ``num_symbols``, none a hint of another, and the last word
    has no part in the answer.

    Raises:
        ValueError: the question does not exist, or ``num_symbols`` is not a whole number of at least 1.
    """

    question: Literal["before", "first", "later"]
    num_symbols: int

    _FIRST_SYMBOL: ClassVar[int] = 2

    def __post_init__(self) -> None:
        require_choice(("before", "first", "later"), question=self.question)
        require_whole(num_symbols=self.num_symbols)

    @property
    def vocabulary_size(self) -> int:
        """How many ids there are: the symbols, and the two words that "later" asks about."""
        return self.num_symbols + self._FIRST_SYMBOL

    @property
    def shortest(self) -> int:
        """How many words the question takes at least."""
        return 3 if self.question == "later" else 2

    def sample(self, batch_size: int, length: int, rng: np.random.Generator) -> OrderBatch:
        """Draw sequences of one length; the same ``rng`` state draws the same ones.

        Raises:
            ValueError: ``batch_size`` or ``length`` is not a whole number, or too small.
        """
        require_whole(batch_size=batch_size, length=length)
        if length < self.shortest:
            raise ValueError(f"length ({length}) must be at least {self.shortest} to ask {self.question!r}")
        ids = rng.integers(self._FIRST_SYMBOL, self.vocabulary_size, size=(batch_size, length))
        if self.question == "before":
            return OrderBatch(ids, ids[:, -2].copy())
        if self.question == "first":
            return OrderBatch(ids, ids[:, 0].copy())
        places = rng.permuted(np.tile(np.arange(length - 1), (batch_size, 1)), axis=1)[:, :2]
        np.put_along_axis(ids, places, np.array([[0, 1]]), axis=1)
        return OrderBatch(ids, places.argmax(axis=1))

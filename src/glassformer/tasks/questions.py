"""A task for more looks than one: several questions about one list, all asked at once, answered in order."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from glassformer.validation import require_shape, require_whole


class QuestionBatch(NamedTuple):
    """Lists of pairs, and several questions about each.

    Attributes:
        query_ids: the symbols asked for, in the order of the questions, all different within a list.
        key_ids: the symbols of the pairs, all different within a list.
        value_ids: the values of the pairs.
        labels: for each question the value that stands beside its symbol.
    """

    query_ids: Int[Array, "batch questions"]
    key_ids: Int[Array, "batch pairs"]
    value_ids: Int[Array, "batch pairs"]
    labels: Int[Array, "batch questions"]


@dataclass(frozen=True)
class QuestionTask:
    """Read pairs of a symbol and a value, then say the values of ``num_questions`` symbols, in order.

    Everything is drawn anew for every list. All questions are asked at once, by one card: see `cards`.

    Raises:
        ValueError: a number is not a whole one of at least 1, or there are more questions than pairs, or
            more pairs than symbols.
    """

    num_pairs: int
    num_symbols: int
    num_values: int
    num_questions: int = 2

    def __post_init__(self) -> None:
        require_whole(
            num_pairs=self.num_pairs,
            num_symbols=self.num_symbols,
            num_values=self.num_values,
            num_questions=self.num_questions,
        )
        if self.num_pairs > self.num_symbols:
            raise ValueError(
                f"num_pairs ({self.num_pairs}) must be at most num_symbols ({self.num_symbols}): "
                "the symbols of a list are all different"
            )
        if self.num_questions > self.num_pairs:
            raise ValueError(
                f"num_questions ({self.num_questions}) must be at most num_pairs ({self.num_pairs}): "
                "each question asks for another pair"
            )

    @property
    def chance(self) -> float:
        """How often all answers are right when each is guessed."""
        return self.num_values**-self.num_questions

    @property
    def min_width(self) -> int:
        """How wide the cards must at least be, and the answer: a place for each symbol and each value."""
        return max(
            self.num_questions * self.num_symbols,
            self.num_symbols + self.num_values,
            self.num_questions * self.num_values,
        )

    def sample(self, batch_size: int, rng: np.random.Generator) -> QuestionBatch:
        """Draw lists and questions; the same ``rng`` state draws the same ones.

        Raises:
            ValueError: ``batch_size`` is not a whole number of at least 1.
        """
        require_whole(batch_size=batch_size)
        every_symbol = np.tile(np.arange(self.num_symbols), (batch_size, 1))
        every_place = np.tile(np.arange(self.num_pairs), (batch_size, 1))
        key_ids = rng.permuted(every_symbol, axis=1)[:, : self.num_pairs]
        value_ids = rng.integers(self.num_values, size=key_ids.shape)
        places = rng.permuted(every_place, axis=1)[:, : self.num_questions]
        query_ids, labels = (np.take_along_axis(ids, places, axis=1) for ids in (key_ids, value_ids))
        return QuestionBatch(query_ids, key_ids, value_ids, labels)

    def encode(
        self, batch: QuestionBatch, width: int | None = None
    ) -> tuple[Float[Array, "batch 1 width"], Float[Array, "batch pairs width"]]:
        """Write a batch on cards of zeros and ones.

        The one card that asks has a field for each question, with a one at the symbol asked for. The card of
        a pair has a field for its symbol and a field for its value.

        Args:
            batch: lists and questions of this task.
            width: how wide all cards are; what is left of a card stays zero. Without it, `min_width`.

        Raises:
            ValueError: ``width`` is less than `min_width`.
        """
        width = self.min_width if width is None else width
        if width < self.min_width:
            raise ValueError(f"width ({width}) must be at least {self.min_width}")
        symbols, values = (np.eye(size, dtype=np.float32) for size in (self.num_symbols, self.num_values))
        question = symbols[batch.query_ids].reshape(len(batch.query_ids), 1, -1)
        pairs = np.concatenate([symbols[batch.key_ids], values[batch.value_ids]], axis=-1)
        return _widen(question, width), _widen(pairs, width)


def accuracy_per_question(
    predicted_ids: Int[Array, "batch questions"], batch: QuestionBatch
) -> Float[Array, "questions"]:
    """Share of right answers to each question.

    Raises:
        ValueError: the predictions have another shape than the answers.
    """
    require_shape(batch.labels.shape, predicted_ids=predicted_ids)
    return (predicted_ids == batch.labels).mean(axis=0)


def exact_match_rate(predicted_ids: Int[Array, "batch questions"], batch: QuestionBatch) -> float:
    """Share of lists of which every question is answered rightly.

    Raises:
        ValueError: the predictions have another shape than the answers.
    """
    require_shape(batch.labels.shape, predicted_ids=predicted_ids)
    return float((predicted_ids == batch.labels).all(axis=-1).mean())


def _widen(cards: Float[Array, "*shape fields"], width: int) -> Float[Array, "*shape width"]:
    """Fill cards up with zeros on the right."""
    blank = np.zeros((*cards.shape[:-1], width - cards.shape[-1]), cards.dtype)
    return np.concatenate([cards, blank], axis=-1)

"""Several questions about a list of pairs, asked at once and answered in order: a task for several heads."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from glassformer.tasks.lookup import PairTask
from glassformer.validation import require_axes, require_positive_int, require_shape


class QuestionBatch(NamedTuple):
    """Lists of symbol-value pairs, with several questions about each list.

    Attributes:
        query_ids: symbols to look up, in the order of the questions, all distinct within a list.
        key_ids: symbols of the pairs, all distinct within a list.
        value_ids: values of the pairs.
        labels: value paired with each queried symbol.
    """

    query_ids: Int[Array, "batch questions"]
    key_ids: Int[Array, "batch pairs"]
    value_ids: Int[Array, "batch pairs"]
    labels: Int[Array, "batch questions"]


@dataclass(frozen=True)
class QuestionTask(PairTask):
    """Sample lists as in `PairTask`, and ask for the values of ``num_questions`` symbols, in order.

    A single query vector asks all questions at once: see `encode`.

    Attributes:
        num_questions: number of questions about a list.

    Raises:
        ValueError: a number is not a positive integer, or there are more questions than pairs, or
            more pairs than symbols.
    """

    num_questions: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive_int(num_questions=self.num_questions)
        if self.num_questions > self.num_pairs:
            raise ValueError(
                f"num_questions ({self.num_questions}) must be at most num_pairs ({self.num_pairs}): "
                "each question asks for a different pair"
            )

    @property
    def chance(self) -> float:
        """Probability of guessing all answers correctly."""
        return self.num_values**-self.num_questions

    @property
    def min_width(self) -> int:
        """Minimum width of the vectors: room for each symbol and each value of queries, pairs and answers."""
        return max(
            self.num_questions * self.num_symbols,
            self.num_symbols + self.num_values,
            self.num_questions * self.num_values,
        )

    def sample(self, batch_size: int, rng: np.random.Generator) -> QuestionBatch:
        """Sample a batch of lists and questions; the same ``rng`` state gives the same batch."""
        key_ids, value_ids = self.sample_pairs(batch_size, rng)
        every_pair = np.tile(np.arange(self.num_pairs), (batch_size, 1))
        asked = rng.permuted(every_pair, axis=1)[:, : self.num_questions]
        query_ids, labels = (np.take_along_axis(ids, asked, axis=1) for ids in (key_ids, value_ids))
        return QuestionBatch(query_ids, key_ids, value_ids, labels)

    def encode(
        self, batch: QuestionBatch, width: int | None = None
    ) -> tuple[Float[Array, "batch 1 width"], Float[Array, "batch pairs width"]]:
        """Encode a batch as vectors of zeros and ones: one query vector per list, and one vector per pair.

        The query concatenates a one-hot vector for each queried symbol. The vector of a pair concatenates
        one-hot vectors of its symbol and its value.

        Args:
            batch: batch of this task.
            width: width of all vectors, which are padded with zeros; by default `min_width`.

        Raises:
            ValueError: ``width`` is below `min_width`.
        """
        width = self.min_width if width is None else width
        if width < self.min_width:
            raise ValueError(f"width ({width}) must be at least {self.min_width}")
        symbols, values = (np.eye(size, dtype=np.float32) for size in (self.num_symbols, self.num_values))
        question = symbols[batch.query_ids].reshape(len(batch.query_ids), 1, -1)
        pairs = np.concatenate([symbols[batch.key_ids], values[batch.value_ids]], axis=-1)
        return _pad(question, width), _pad(pairs, width)


def accuracy_per_question(
    predicted_ids: Int[Array, "batch questions"], batch: QuestionBatch
) -> Float[Array, "questions"]:
    """Compute the fraction of correct answers to each question.

    Raises:
        ValueError: the shapes of predictions and labels differ.
    """
    require_shape(batch.labels.shape, predicted_ids=predicted_ids)
    return (predicted_ids == batch.labels).mean(axis=0)


def exact_match_rate(predicted_ids: Int[Array, "batch questions"], batch: QuestionBatch) -> float:
    """Compute the fraction of lists whose questions are all answered correctly.

    Raises:
        ValueError: the shapes of predictions and labels differ.
    """
    require_shape(batch.labels.shape, predicted_ids=predicted_ids)
    return float((predicted_ids == batch.labels).all(axis=-1).mean())


def weight_per_question(
    weights: Float[Array, "batch heads pairs"], batch: QuestionBatch
) -> Float[Array, "heads questions"]:
    """Compute the mean attention weight of each head on the pair that each question asks for.

    Args:
        weights: attention weights of the query vector in each head.
        batch: batch whose pairs were attended to.

    Raises:
        ValueError: the weights have another shape.
    """
    require_axes(3, weights=weights)
    require_shape((len(batch.key_ids), weights.shape[1], batch.key_ids.shape[1]), weights=weights)
    queried = batch.query_ids[:, :, None] == batch.key_ids[:, None, :]
    return np.einsum("bhp,bqp->hq", weights, queried) / len(weights)


def _pad(vectors: Float[Array, "*shape fields"], width: int) -> Float[Array, "*shape width"]:
    """Pad vectors with zeros on the right."""
    zeros = np.zeros((*vectors.shape[:-1], width - vectors.shape[-1]), vectors.dtype)
    return np.concatenate([vectors, zeros], axis=-1)

"""Questions about the order of words: the task, and an attention layer that learns it."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array
from torch import Tensor, nn

from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.configuration import Positions
from glassformer.modules.positions import make_absolute_positional_encoding, make_relative_positional_encoding
from glassformer.validation import require_choice, require_positive_int

Question = Literal["before", "first", "later"]


class OrderBatch(NamedTuple):
    """Sequences of random words, with the answer to a question about each.

    Attributes:
        ids: words of the sequences.
        labels: word that answers the question.
    """

    ids: Int[Array, "batch time"]
    labels: Int[Array, "batch"]


@dataclass(frozen=True)
class OrderTask:
    """Sample sequences of random words and ask a question about their order.

    - "before": which word comes just before the last one?
    - "first": which word comes first?
    - "later": words 0 and 1 occur once each, before the last word. Which of them comes later?

    All words but 0 and 1 are drawn uniformly and independently, and the last word is not part of the answer.

    Attributes:
        question: question about the order.
        num_symbols: number of distinct words besides 0 and 1.

    Raises:
        ValueError: the question is unknown, or ``num_symbols`` is not a positive integer.
    """

    question: Question
    num_symbols: int

    _FIRST_SYMBOL: ClassVar[int] = 2

    def __post_init__(self) -> None:
        require_choice(get_args(Question), question=self.question)
        require_positive_int(num_symbols=self.num_symbols)

    @property
    def vocabulary_size(self) -> int:
        """Number of ids: the symbols, and the two words that "later" asks about."""
        return self.num_symbols + self._FIRST_SYMBOL

    @property
    def min_length(self) -> int:
        """Minimum number of words in a sequence."""
        return 3 if self.question == "later" else 2

    def sample(self, batch_size: int, length: int, rng: np.random.Generator) -> OrderBatch:
        """Sample a batch of sequences of one length; the same ``rng`` state gives the same batch.

        Raises:
            ValueError: ``batch_size`` or ``length`` is not an integer or is too small.
        """
        require_positive_int(batch_size=batch_size, length=length)
        if length < self.min_length:
            raise ValueError(f"length ({length}) must be at least {self.min_length} to ask {self.question!r}")
        ids = rng.integers(self._FIRST_SYMBOL, self.vocabulary_size, size=(batch_size, length))
        if self.question == "before":
            return OrderBatch(ids, ids[:, -2].copy())
        if self.question == "first":
            return OrderBatch(ids, ids[:, 0].copy())
        positions = rng.permuted(np.tile(np.arange(length - 1), (batch_size, 1)), axis=1)[:, :2]
        np.put_along_axis(ids, positions, np.array([[0, 1]]), axis=1)
        return OrderBatch(ids, positions.argmax(axis=1))


class OrderReader(nn.Module):
    """Answer an order question with one attention layer, in which the last word attends to all words.

    The last word has no future, so no causal mask is needed.

    Args:
        vocabulary_size: number of distinct words.
        d_model: width of the word vectors.
        num_heads: number of attention heads.
        positions: positional encoding. "sinusoidal" and "learned" are added to the vectors, "rotary" rotates
            queries and keys, "alibi" is added to the scores.
        max_length: number of positions for "learned".

    Raises:
        ValueError: a size or ``positions`` is invalid.
    """

    def __init__(
        self, vocabulary_size: int, *, d_model: int, num_heads: int, positions: Positions, max_length: int
    ) -> None:
        super().__init__()
        require_positive_int(vocabulary_size=vocabulary_size, d_model=d_model, max_length=max_length)
        require_choice(get_args(Positions), positions=positions)
        self.word = nn.Embedding(vocabulary_size, d_model)
        self.position = make_absolute_positional_encoding(positions, d_model, max_length)
        self.attention = MultiHeadAttention(
            d_model, num_heads, positions=make_relative_positional_encoding(positions)
        )
        self.answer_proj = nn.Linear(d_model, vocabulary_size)

    def forward(
        self, ids: Int[Tensor, "batch time"], start: int = 0, attn_mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch vocabulary"]:
        """Compute the logits of the answer.

        Args:
            ids: words of the sequences.
            start: position of the first word, for encodings that are added to the vectors.
            attn_mask: True where the last word may attend; broadcast against ``batch heads 1 time``.
        """
        x = self.word(ids)
        if self.position is not None:
            x = self.position(x, start)
        return self.answer_proj(self.attention(x[:, -1:], x, x, attn_mask, need_weights=False)[0].squeeze(-2))

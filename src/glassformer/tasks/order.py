"""Answer questions about the order of words: the task, and an attention layer that learns it."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array
from torch import Tensor, nn

from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.configuration import Positions
from glassformer.modules.positions import (
    AlibiPositions,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
)
from glassformer.validation import require_choice, require_whole


class OrderBatch(NamedTuple):
    """Sequences of random words, and the answer to one question about each.

    Attributes:
        ids: the words.
        labels: the word that answers the question.
    """

    ids: Int[Array, "batch time"]
    labels: Int[Array, "batch"]


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
    def min_length(self) -> int:
        """How many words the question takes at least."""
        return 3 if self.question == "later" else 2

    def sample(self, batch_size: int, length: int, rng: np.random.Generator) -> OrderBatch:
        """Draw sequences of one length; the same ``rng`` state draws the same ones.

        Raises:
            ValueError: ``batch_size`` or ``length`` is not a whole number, or too small.
        """
        require_whole(batch_size=batch_size, length=length)
        if length < self.min_length:
            raise ValueError(f"length ({length}) must be at least {self.min_length} to ask {self.question!r}")
        ids = rng.integers(self._FIRST_SYMBOL, self.vocabulary_size, size=(batch_size, length))
        if self.question == "before":
            return OrderBatch(ids, ids[:, -2].copy())
        if self.question == "first":
            return OrderBatch(ids, ids[:, 0].copy())
        places = rng.permuted(np.tile(np.arange(length - 1), (batch_size, 1)), axis=1)[:, :2]
        np.put_along_axis(ids, places, np.array([[0, 1]]), axis=1)
        return OrderBatch(ids, places.argmax(axis=1))


class OrderReader(nn.Module):
    """Let the last word look once at all words, and answer with one of them: attention, and nothing else.

    Nobody stands behind the last word, so there is no future to mask.

    Args:
        vocabulary_size: how many words there are.
        d_model: the width of their vectors.
        num_heads: how many heads look.
        positions: how it knows where words stand. "sinusoidal" and "learned" are added to the vectors,
            "rotary" turns queries and keys, "alibi" is added to the scores.
        max_length: how many positions "learned" has.

    Raises:
        ValueError: a size or ``positions`` does not fit.
    """

    def __init__(
        self, vocabulary_size: int, *, d_model: int, num_heads: int, positions: Positions, max_length: int
    ) -> None:
        super().__init__()
        require_whole(vocabulary_size=vocabulary_size, d_model=d_model, max_length=max_length)
        require_choice(("none", "sinusoidal", "learned", "rotary", "alibi"), positions=positions)
        added = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
        inside = {"rotary": RotaryPositions, "alibi": AlibiPositions}
        self.word = nn.Embedding(vocabulary_size, d_model)
        self.position = added[positions](d_model, max_length) if positions in added else None
        self.attention = MultiHeadAttention(
            d_model, num_heads, positions=inside[positions]() if positions in inside else None
        )
        self.answer_proj = nn.Linear(d_model, vocabulary_size)

    def forward(
        self, ids: Int[Tensor, "batch time"], start: int = 0, attn_mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch vocabulary"]:
        """Give the logits of the answer.

        Args:
            ids: the words.
            start: the position of the first word, for what is added.
            attn_mask: True where the last word may look at a word; broadcast against ``batch heads 1 time``.
        """
        x = self.word(ids)
        if self.position is not None:
            x = self.position(x, start)
        return self.answer_proj(self.attention(x[:, -1:], x, x, attn_mask, need_weights=False)[0].squeeze(-2))

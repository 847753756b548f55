"""The smallest model that needs to know where words stand: one attention, with a choice of positions."""

from typing import Literal

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.positions import (
    LearnedPositions,
    LinearBiasPositions,
    RotaryPositions,
    SinusoidalPositions,
)
from glassformer.validation import require_choice, require_whole

Positions = Literal["none", "sinusoidal", "learned", "rotary", "linear_bias"]


class OrderReader(nn.Module):
    """Let the last word look once at all words, and answer with one of them: attention, and nothing else.

    Nobody stands behind the last word, so there is no future to mask.

    Args:
        vocabulary_size: how many words there are.
        d_model: the width of their vectors.
        num_heads: how many heads look.
        positions: how it knows where words stand. "sinusoidal" and "learned" are added to the vectors,
            "rotary" turns queries and keys, "linear_bias" is added to the scores.
        max_length: how many positions "learned" has.

    Raises:
        ValueError: a size or ``positions`` does not fit.
    """

    def __init__(
        self, vocabulary_size: int, *, d_model: int, num_heads: int, positions: Positions, max_length: int
    ) -> None:
        super().__init__()
        require_whole(vocabulary_size=vocabulary_size, d_model=d_model, max_length=max_length)
        require_choice(("none", "sinusoidal", "learned", "rotary", "linear_bias"), positions=positions)
        added = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
        inside = {"rotary": RotaryPositions, "linear_bias": LinearBiasPositions}
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
        return self.answer_proj(self.attention.attend(x[:, -1:], x, x, attn_mask).squeeze(-2))

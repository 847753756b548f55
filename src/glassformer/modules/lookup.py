"""The smallest model that must learn where to look: one attention layer, whose scale can be chosen."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.modules.attention import merge_heads, split_heads
from glassformer.validation import require_multiple, require_positive, require_whole


class AttentionLookup(nn.Module):
    """Answer a look-up with softmax(QKᵀ / scale) V and one linear map: attention, and nothing else.

    A symbol is a fixed random vector with components of unit variance, a value a one-hot vector. What is
    learned is where to look (``query_weight``, ``key_weight``) and what to make of what is found there
    (``value_weight``, ``output_weight``), each begun as Glorot & Bengio (2010) propose.

    Args:
        num_symbols: how many symbols can be asked for.
        num_values: how many answers there are.
        d_model: the width of a symbol's vector.
        num_heads: how many attentions share that width.
        scale: what the scores are divided by; attention as published takes √d_k, with
            d_k = d_model / num_heads.
        generator: where the random vectors and weights come from, on the CPU.

    Raises:
        ValueError: a size or the scale does not fit.
    """

    symbols: Tensor

    def __init__(
        self,
        num_symbols: int,
        num_values: int,
        *,
        d_model: int,
        num_heads: int,
        scale: float | int,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        require_whole(num_symbols=num_symbols, num_values=num_values)
        require_multiple(d_model, num_heads)
        require_positive(scale=scale)
        self.num_values, self.num_heads, self.scale = num_values, num_heads, scale

        def normal(rows: int, columns: int) -> Tensor:
            return torch.randn(rows, columns, generator=generator)

        def projection(rows: int, columns: int) -> nn.Parameter:
            return nn.Parameter(normal(rows, columns) * math.sqrt(2 / (rows + columns)))

        self.register_buffer("symbols", normal(num_symbols, d_model))
        self.query_weight = projection(d_model, d_model)
        self.key_weight = projection(d_model, d_model)
        self.value_weight = projection(num_values, d_model)
        self.output_weight = projection(d_model, num_values)

    def scores(self) -> Float[Tensor, "heads symbols symbols"]:
        """Score every symbol as a query against every symbol as a key, in each head."""
        query = split_heads(self.symbols @ self.query_weight, self.num_heads)
        key = split_heads(self.symbols @ self.key_weight, self.num_heads)
        return query @ key.transpose(-2, -1) / self.scale

    def forward(
        self,
        query_ids: Int[Tensor, " batch"],
        key_ids: Int[Tensor, "batch pairs"],
        value_ids: Int[Tensor, "batch pairs"],
    ) -> tuple[Float[Tensor, "batch num_values"], Float[Tensor, "heads batch pairs"]]:
        """Look a symbol up in each list.

        Returns:
            Logits over the values, and each head's weights over the pairs.
        """
        weights = self.scores()[:, query_ids[:, None], key_ids].softmax(-1)
        value = F.one_hot(value_ids, self.num_values).to(weights.dtype)
        found = torch.einsum("hbp,bpv->hbv", weights, value)
        attended = merge_heads(found @ split_heads(self.value_weight, self.num_heads))
        return attended @ self.output_weight, weights

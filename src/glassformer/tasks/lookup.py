"""Look up the value that is paired with a symbol: the task, and an attention layer that learns it."""

import copy
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray as Array
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.modules.attention import merge_heads, split_heads
from glassformer.validation import require_multiple, require_positive, require_positive_int


class LookupBatch(NamedTuple):
    """Lists of symbol-value pairs, with one query about each list.

    Attributes:
        query_ids: symbol to look up in each list.
        key_ids: symbols of the pairs, all distinct within a list.
        value_ids: values of the pairs.
        labels: value paired with the queried symbol.
    """

    query_ids: Int[Array, "batch"]
    key_ids: Int[Array, "batch pairs"]
    value_ids: Int[Array, "batch pairs"]
    labels: Int[Array, "batch"]


@dataclass(frozen=True)
class PairTask:
    """Sample lists of ``num_pairs`` symbol-value pairs.

    Values are drawn independently for every list, so a symbol says nothing about its value.

    Attributes:
        num_pairs: number of pairs in a list.
        num_symbols: number of distinct symbols.
        num_values: number of distinct values.

    Raises:
        ValueError: a number is not a positive integer, or there are more pairs than symbols.
    """

    num_pairs: int
    num_symbols: int
    num_values: int

    def __post_init__(self) -> None:
        require_positive_int(
            num_pairs=self.num_pairs, num_symbols=self.num_symbols, num_values=self.num_values
        )
        if self.num_pairs > self.num_symbols:
            raise ValueError(
                f"num_pairs ({self.num_pairs}) must be at most num_symbols ({self.num_symbols}): "
                "the symbols of a list are all different"
            )

    def sample_pairs(
        self, batch_size: int, rng: np.random.Generator
    ) -> tuple[Int[Array, "batch pairs"], Int[Array, "batch pairs"]]:
        """Sample the symbols and the values of a batch of lists.

        Raises:
            ValueError: ``batch_size`` is not a positive integer.
        """
        require_positive_int(batch_size=batch_size)
        every_symbol = np.tile(np.arange(self.num_symbols), (batch_size, 1))
        key_ids = rng.permuted(every_symbol, axis=1)[:, : self.num_pairs]
        return key_ids, rng.integers(self.num_values, size=key_ids.shape)


class LookupTask(PairTask):
    """Sample lists as in `PairTask`, and ask for the value of one symbol of each.

    A random guess is right once in ``num_values`` times; guessing the most common value of the list is right
    more often.
    """

    def sample(self, batch_size: int, rng: np.random.Generator) -> LookupBatch:
        """Sample a batch of lists and queries; the same ``rng`` state gives the same batch."""
        key_ids, value_ids = self.sample_pairs(batch_size, rng)
        asked = rng.integers(self.num_pairs, size=batch_size)
        row = np.arange(batch_size)
        return LookupBatch(key_ids[row, asked], key_ids, value_ids, value_ids[row, asked])


class AttentionLookup(nn.Module):
    """Answer a look-up with softmax(QKᵀ / scale) V and a linear map.

    A symbol is a fixed random vector with components of unit variance, and a value is a one-hot vector. The
    four weight matrices are learned, starting from the initialisation of Glorot and Bengio (2010).

    Args:
        num_symbols: number of distinct symbols.
        num_values: number of distinct values, which is also the number of logits.
        d_model: width of a symbol's vector.
        num_heads: number of attention heads.
        scale: divisor of the scores; scaled dot-product attention uses √d_k, with d_k = d_model / num_heads.
        generator: random number generator, on the CPU, for the symbols and the initial weights.

    Raises:
        ValueError: a size or the scale is invalid.
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
        require_positive_int(num_symbols=num_symbols, num_values=num_values)
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

    def with_scale(self, scale: float | int) -> "AttentionLookup":
        """Return a copy with another divisor and the same scores.

        The query and key weights of the copy are multiplied by √(scale / self.scale), so that both models
        compute the same function; an optimizer step changes them differently.

        Args:
            scale: divisor of the copy's scores.

        Raises:
            ValueError: ``scale`` is not positive.
        """
        require_positive(scale=scale)
        model = copy.deepcopy(self)
        model.scale = scale
        with torch.no_grad():
            for weight in (model.query_weight, model.key_weight):
                weight.mul_(math.sqrt(scale / self.scale))
        return model

    def scores(self) -> Float[Tensor, "heads symbols symbols"]:
        """Compute the score of every symbol as a query with every symbol as a key, in each head."""
        query = split_heads(self.symbols @ self.query_weight, self.num_heads)
        key = split_heads(self.symbols @ self.key_weight, self.num_heads)
        return query @ key.transpose(-2, -1) / self.scale

    def forward(
        self,
        query_ids: Int[Tensor, " batch"],
        key_ids: Int[Tensor, "batch pairs"],
        value_ids: Int[Tensor, "batch pairs"],
    ) -> tuple[Float[Tensor, "batch num_values"], Float[Tensor, "heads batch pairs"]]:
        """Look up one symbol in each list.

        Returns:
            Logits over the values, and each head's attention weights over the pairs.
        """
        weights = self.scores()[:, query_ids[:, None], key_ids].softmax(-1)
        value = F.one_hot(value_ids, self.num_values).to(weights.dtype)
        found = torch.einsum("hbp,bpv->hbv", weights, value)
        attended = merge_heads(found @ split_heads(self.value_weight, self.num_heads))
        return attended @ self.output_weight, weights

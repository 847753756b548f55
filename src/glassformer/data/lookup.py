"""A task that attention is made for: find the one pair whose symbol is asked for, and say its value."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from glassformer.validation import require_whole


class LookupBatch(NamedTuple):
    """Lists of pairs, and one question about each.

    Attributes:
        query_ids: the symbol that is asked for.
        key_ids: the symbols of the pairs, all different within a list.
        value_ids: the values of the pairs.
        wanted_ids: the value that stands beside the symbol asked for.
    """

    query_ids: Int[Array, "batch"]
    key_ids: Int[Array, "batch pairs"]
    value_ids: Int[Array, "batch pairs"]
    wanted_ids: Int[Array, "batch"]


@dataclass(frozen=True)
class LookupTask:
    """Read ``num_pairs`` pairs of a symbol and a value, then say the value of one symbol.

    The values are drawn anew for every list, so that no symbol hints at its value: an answer without
    looking is right once in ``num_values`` times.

    Raises:
        ValueError: a number is not a whole one of at least 1, or there are more pairs than symbols.
    """

    num_pairs: int
    num_symbols: int
    num_values: int

    def __post_init__(self) -> None:
        require_whole(num_pairs=self.num_pairs, num_symbols=self.num_symbols, num_values=self.num_values)
        if self.num_pairs > self.num_symbols:
            raise ValueError(
                f"num_pairs ({self.num_pairs}) must be at most num_symbols ({self.num_symbols}): "
                "the symbols of a list are all different"
            )

    def sample(self, batch_size: int, rng: np.random.Generator) -> LookupBatch:
        """Draw lists and questions; the same ``rng`` state draws the same ones.

        Raises:
            ValueError: ``batch_size`` is not a whole number of at least 1.
        """
        require_whole(batch_size=batch_size)
        every_symbol = np.tile(np.arange(self.num_symbols), (batch_size, 1))
        key_ids = rng.permuted(every_symbol, axis=1)[:, : self.num_pairs]
        value_ids = rng.integers(self.num_values, size=key_ids.shape)
        asked = rng.integers(self.num_pairs, size=batch_size)
        row = np.arange(batch_size)
        return LookupBatch(key_ids[row, asked], key_ids, value_ids, value_ids[row, asked])

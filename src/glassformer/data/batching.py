"""Batches of sentence pairs of similar length, as many as fit a budget of tokens."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray as Array
from torch import Tensor

from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID
from glassformer.validation import require_ids, require_whole


class Batch(NamedTuple):
    """Pairs of sentences, the short ones filled up with `PAD_ID`.

    Attributes:
        source_ids: each source, ended by `END_ID`.
        target_ids: each target, begun by `START_ID` and ended by `END_ID`.
    """

    source_ids: Int[Tensor, "batch source"]
    target_ids: Int[Tensor, "batch target"]


class TokenBatches:
    """Cuts pairs of sentences into batches that fit a budget: rows · longest sentence ≤ ``max_tokens``.

    Sentences of similar length come together, so that little is spent on padding (Vaswani et al., 2017,
    section 5.1), and the batches come in random order. What an epoch holds depends on ``seed`` and its
    number alone, so that a training that was interrupted goes on with the batches it would have had.

    Args:
        sources: the ids of each sentence to translate, without marks.
        targets: the ids of each translation, without marks.
        max_tokens: what rows times the longest sentence may come to on either side, marks and padding
            included.
        seed: what draws the order.

    Raises:
        ValueError: there is no pair, the sides hold not equally many, a sentence holds a mark, or one is
            longer than ``max_tokens``; the message says which.
    """

    def __init__(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        max_tokens: int,
        seed: int,
    ) -> None:
        require_whole(max_tokens=max_tokens)
        _require_not_negative(seed=seed)
        if len(sources) != len(targets) or not sources:
            raise ValueError(
                f"sources ({len(sources)}) and targets ({len(targets)}) must have the same number of "
                "sentences, at least 1"
            )
        self._sources = _Rows("sources", sources, after=[END_ID])
        self._targets = _Rows("targets", targets, before=[START_ID], after=[END_ID])
        self._widths = np.maximum(self._sources.lengths, self._targets.lengths)
        self._max_tokens, self._seed = max_tokens, seed
        for name, rows in (("sources", self._sources), ("targets", self._targets)):
            if len(too_long := np.flatnonzero(rows.lengths > max_tokens)):
                raise ValueError(
                    f"{name} must fit max_tokens ({max_tokens}) with their marks, but {len(too_long)} are "
                    f"longer, the first of them {name}[{too_long[0]}] with {rows.lengths[too_long[0]]}"
                )

    def epoch(self, number: int) -> list[Int[Array, " rows"]]:
        """Plan one pass over all pairs: for each batch, the indices of its pairs; every pair in exactly one.

        Raises:
            ValueError: ``number`` is not a whole number of at least 0.
        """
        _require_not_negative(number=number)
        # The raw stream of a bit generator is the part of NumPy's randomness that no version may change.
        stream = np.random.PCG64([self._seed, number])
        shuffled = np.argsort(stream.random_raw(len(self._widths)), kind="stable")
        lengths = self._sources.lengths[shuffled], self._targets.lengths[shuffled]
        batches = self._cut(shuffled[np.lexsort(lengths)])
        return [batches[place] for place in np.argsort(stream.random_raw(len(batches)), kind="stable")]

    def _cut(self, indices: Int[Array, " pairs"]) -> list[Int[Array, " rows"]]:
        """Cut a line of pairs into stretches, each as long as the budget allows."""
        batches = []
        start = 0
        while start < len(indices):
            most = self._max_tokens // self._widths[indices[start]]
            longest = np.maximum.accumulate(self._widths[indices[start : start + most]])
            rows = int(np.count_nonzero(longest * np.arange(1, len(longest) + 1) <= self._max_tokens))
            batches.append(indices[start : start + rows])
            start += rows
        return batches

    def num_labels(self, indices: Int[Array, " rows"]) -> int:
        """Count the target tokens that a model is asked for in a batch: all but the start."""
        return int(self._targets.lengths[indices].sum()) - len(indices)

    def collate(self, indices: Int[Array, " rows"]) -> Batch:
        """Stack the pairs of a batch.

        Raises:
            ValueError: there is no index, or one that is not the index of a pair.
        """
        require_ids("indices", indices, len(self._widths))
        return Batch(self._sources.padded(indices), self._targets.padded(indices))


def shard(indices: Int[Array, " rows"], rank: int, world_size: int) -> Int[Array, " shard"]:
    """Return the rows of a batch that one of ``world_size`` processes works on: each row goes to one.

    Long and short rows are dealt out in turn, so that the shards take equally long. Where there are fewer
    rows than processes, some shards are empty.

    Raises:
        ValueError: ``world_size`` is below 1, or ``rank`` not from 0 up to, but not, ``world_size``.
    """
    require_whole(world_size=world_size)
    if not 0 <= rank < world_size:
        raise ValueError(f"rank must be at least 0 and below world_size ({world_size}), got {rank}")
    return indices[rank::world_size]


class _Rows:
    """Rows of different lengths in one flat array, so that a batch is one look-up."""

    def __init__(
        self, name: str, rows: Sequence[Sequence[int]], *, before: Sequence[int] = (), after: Sequence[int]
    ) -> None:
        marked = [[*before, *row, *after] for row in rows]
        self.lengths = np.fromiter(map(len, marked), np.int64, len(marked))
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._ids = np.fromiter(chain.from_iterable(marked), np.int64, self.lengths.sum())
        marks = np.add.reduceat(self._ids <= max(PAD_ID, START_ID, END_ID), self._starts, dtype=np.int64)
        if len(wrong := np.flatnonzero(marks > len(before) + len(after))):
            raise ValueError(
                f"{name} must hold no marks (ids up to {max(PAD_ID, START_ID, END_ID)}) and no negative id, "
                f"got {name}[{wrong[0]}] = {list(rows[wrong[0]])}"
            )

    def padded(self, indices: Int[Array, " rows"]) -> Int[Tensor, "rows longest"]:
        """Stack some rows, filled up with `PAD_ID` to the longest of them."""
        lengths = self.lengths[indices, None]
        places = np.arange(lengths.max())
        inside = places < lengths
        ids = np.full(inside.shape, PAD_ID)
        ids[inside] = self._ids[(self._starts[indices, None] + places)[inside]]
        return torch.from_numpy(ids)


def _require_not_negative(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 0:
            raise ValueError(f"{name} must be at least 0, got {number}")

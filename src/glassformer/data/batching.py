"""Batches of sentence pairs of similar length, limited by their number of tokens."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray as Array
from torch import Tensor

from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID
from glassformer.validation import require_ids, require_positive_int


class Batch(NamedTuple):
    """Sentence pairs, padded with `PAD_ID`.

    Attributes:
        source_ids: source sentences, each followed by `END_ID`.
        target_ids: target sentences, each between `START_ID` and `END_ID`.
    """

    source_ids: Int[Tensor, "batch source"]
    target_ids: Int[Tensor, "batch target"]


class TokenBatches:
    """Split sentence pairs into batches in which rows · longest sentence ≤ ``max_tokens``.

    A batch holds sentences of similar length, so there is little padding (Vaswani et al., 2017, section 5.1),
    and the batches are shuffled. An epoch depends only on ``seed`` and its number, so a resumed run uses the
    same batches as an uninterrupted one.

    Args:
        sources: ids of each source sentence, without special tokens.
        targets: ids of each translation, without special tokens.
        max_tokens: maximum number of tokens per batch on either side, including special tokens and padding.
        seed: seed for shuffling.

    Raises:
        ValueError: there is no pair, the numbers of sources and targets differ, or a sentence contains a
            special token or is longer than ``max_tokens``; the message says which.
    """

    def __init__(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        max_tokens: int,
        seed: int,
    ) -> None:
        require_positive_int(max_tokens=max_tokens)
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
                    f"{name} must have at most max_tokens ({max_tokens}) with special tokens, but "
                    f"{len(too_long)} are longer; the first is {name}[{too_long[0]}] with "
                    f"{rows.lengths[too_long[0]]}"
                )

    def epoch(self, number: int) -> list[Int[Array, " rows"]]:
        """Return the indices of the pairs in each batch of an epoch; every pair is in exactly one batch.

        Raises:
            ValueError: ``number`` is negative.
        """
        _require_not_negative(number=number)
        # Only the raw stream of a bit generator is guaranteed to be the same in every version of NumPy.
        stream = np.random.PCG64([self._seed, number])
        shuffled = np.argsort(stream.random_raw(len(self._widths)), kind="stable")
        lengths = self._sources.lengths[shuffled], self._targets.lengths[shuffled]
        batches = self._cut(shuffled[np.lexsort(lengths)])
        return [batches[index] for index in np.argsort(stream.random_raw(len(batches)), kind="stable")]

    def _cut(self, indices: Int[Array, " pairs"]) -> list[Int[Array, " rows"]]:
        """Split pairs into consecutive batches, each as large as ``max_tokens`` allows."""
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
        """Count the labels of a batch: all target tokens except the start tokens."""
        return int(self._targets.lengths[indices].sum()) - len(indices)

    def collate(self, indices: Int[Array, " rows"]) -> Batch:
        """Stack the pairs of a batch, padded on either side to the longest sentence.

        Raises:
            ValueError: ``indices`` is empty or contains an index out of range.
        """
        require_ids("indices", indices, len(self._widths))
        return Batch(self._sources.padded(indices), self._targets.padded(indices))


def shard(indices: Int[Array, " rows"], rank: int, world_size: int) -> Int[Array, " shard"]:
    """Return the rows of a batch that belong to one of ``world_size`` processes.

    Rows are assigned to processes in turn, so that every shard has long and short ones. If there are fewer
    rows than processes, some shards are empty.

    Raises:
        ValueError: ``world_size`` is below 1, or ``rank`` is below 0 or at least ``world_size``.
    """
    require_positive_int(world_size=world_size)
    if not 0 <= rank < world_size:
        raise ValueError(f"rank must be at least 0 and below world_size ({world_size}), got {rank}")
    return indices[rank::world_size]


class _Rows:
    """Rows of different lengths in one flat array, so that stacking a batch is a single look-up."""

    def __init__(
        self, name: str, rows: Sequence[Sequence[int]], *, before: Sequence[int] = (), after: Sequence[int]
    ) -> None:
        rows_of_ids = [[*before, *row, *after] for row in rows]
        self.lengths = np.fromiter(map(len, rows_of_ids), np.int64, len(rows_of_ids))
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._ids = np.fromiter(chain.from_iterable(rows_of_ids), np.int64, self.lengths.sum())
        special = np.add.reduceat(self._ids <= max(PAD_ID, START_ID, END_ID), self._starts, dtype=np.int64)
        if len(wrong := np.flatnonzero(special > len(before) + len(after))):
            raise ValueError(
                f"{name} must not contain special tokens (ids up to {max(PAD_ID, START_ID, END_ID)}), "
                f"got {name}[{wrong[0]}] = {list(rows[wrong[0]])}"
            )

    def padded(self, indices: Int[Array, " rows"]) -> Int[Tensor, "rows longest"]:
        """Stack rows, padded with `PAD_ID` to the length of the longest one."""
        lengths = self.lengths[indices, None]
        positions = np.arange(lengths.max())
        inside = positions < lengths
        ids = np.full(inside.shape, PAD_ID)
        ids[inside] = self._ids[(self._starts[indices, None] + positions)[inside]]
        return torch.from_numpy(ids)


def _require_not_negative(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 0:
            raise ValueError(f"{name} must be at least 0, got {number}")

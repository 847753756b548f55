"""Caches for decoding: keys, values and states that one step computes and later steps reuse.

Without a cache, a decoder recomputes the keys and values of all earlier tokens at every step, although under
the causal mask they do not change.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class KVCache:
    """Keys and values of one attention layer.

    With ``positions``, the cache grows: each `update` appends the keys and values of new tokens, in memory
    that is allocated once. Without ``positions``, the first `update` fills the cache and makes it final. Such
    a cache serves a cross-attention layer, whose keys and values come from the encoder output.

    Args:
        positions: position of the token in each slot, where each new token fills the next slot; None for a
            cache that is filled once.
    """

    def __init__(self, positions: Int[Tensor, " slots"] | None = None) -> None:
        self._positions = positions
        self._slots: tuple[Tensor, ...] = ()  # keys and values, ``*batch slots d_head``
        self._length = 0

    @property
    def is_final(self) -> bool:
        """True once a cache without positions is filled; it then accepts no more keys and values."""
        return self._positions is None and self._length > 0

    def read(self) -> tuple[Float[Tensor, "*batch key d_head"], Float[Tensor, "*batch key d_v"]]:
        """Return the cached keys and values.

        Raises:
            ValueError: the cache is empty.
        """
        if not self._slots:
            raise ValueError("the cache is empty: update it before reading")
        key, value = (slots[..., : self._length, :] for slots in self._slots)
        return key, value

    def positions(self, num_new: int) -> Int[Tensor, " key"]:
        """Return the positions of all cached tokens and of the next ``num_new`` tokens.

        Raises:
            ValueError: the cache has no positions, or too few slots.
        """
        if self._positions is None:
            raise ValueError("a cache without positions cannot serve an attention layer that needs them")
        length = self._length + num_new
        if length > len(self._positions):
            raise ValueError(f"the cache has {len(self._positions)} slots, got {length} tokens")
        return self._positions[:length]

    def update(
        self, key: Float[Tensor, "*batch new d_head"], value: Float[Tensor, "*batch new d_v"]
    ) -> tuple[Float[Tensor, "*batch key d_head"], Float[Tensor, "*batch key d_v"]]:
        """Append keys and values of new tokens, and return those of all tokens.

        Raises:
            ValueError: the cache is final, or has too few slots.
        """
        if self.is_final:
            raise ValueError("the cache is final: its keys and values cannot be updated")
        if self._positions is None:
            self._slots, self._length = (key.contiguous(), value.contiguous()), key.shape[-2]
            return self.read()
        start, self._length = self._length, len(self.positions(key.shape[-2]))
        if not self._slots:
            self._slots = tuple(_allocate(part, len(self._positions)) for part in (key, value))
        for slots, part in zip(self._slots, (key, value), strict=True):
            slots[..., start : self._length, :] = part
        return self.read()

    def select_batch(self, indices: Int[Tensor, " selected"]) -> None:
        """Keep only the rows at these batch indices."""
        if self.is_final or not self._slots:
            self._slots = tuple(slots[indices] for slots in self._slots)
            return
        key, value = (part[indices] for part in self.read())
        self._slots, self._length = (), 0
        self.update(key, value)


class LayerCache(NamedTuple):
    """Self-attention cache and cross-attention cache of one decoder layer."""

    self_attention: KVCache
    cross_attention: KVCache


class DecoderCache:
    """The caches of a Transformer's decoder, for sentences with one or more beams each.

    All beams of a sentence share the keys and values of its source, so the queries of the beams are stacked
    along the time axis. The keys and values of the target stay in the slots where they were written. A mask
    lets each beam attend only to its own ancestors, so reordering the beams moves no keys or values.

    Args:
        num_layers: number of decoder layers.
        slots: maximum number of cached tokens per sentence, over all its beams, current and dropped.
        device: device of the model.

    Attributes:
        layers: one pair of caches per layer.
    """

    def __init__(self, num_layers: int, slots: int, device: torch.device) -> None:
        self._positions = torch.zeros(slots, dtype=torch.int64, device=device)
        self.layers = [LayerCache(KVCache(self._positions), KVCache()) for _ in range(num_layers)]
        self._used = self._time = 0
        self._ancestry: Bool[Tensor, "sentences 1 beams used"] | None = None  # None: still one beam

    def reserve_slots(self, num_beams: int) -> tuple[int, Bool[Tensor, "sentences 1 num_beams slots"] | None]:
        """Reserve slots for the next token of every beam; return the position of these tokens and a mask.

        The mask is True at the slots that hold the tokens of a beam's own hypothesis. It is None until
        `reorder` first makes several beams.

        Args:
            num_beams: number of beams per sentence: one at first, then as many as `reorder` made.
        """
        position, used = self._time, self._used + num_beams
        self._positions[self._used : used] = position
        if self._ancestry is not None:
            itself = torch.eye(num_beams, dtype=torch.bool, device=self._ancestry.device)
            itself = itself.expand(len(self._ancestry), 1, num_beams, num_beams)
            self._ancestry = torch.cat([self._ancestry, itself], dim=-1)
        self._used, self._time = used, position + 1
        return position, self._ancestry

    def reorder(self, parents: Int[Tensor, "sentences new_beams"]) -> None:
        """Reorder the beams: new beam i of sentence s continues its old beam ``parents[s, i]``."""
        if self._ancestry is None:
            if parents.shape[1] == 1:
                return
            shape = (len(parents), 1, 1, self._used)
            self._ancestry = torch.ones(shape, dtype=torch.bool, device=parents.device)
        rows = parents[:, None, :, None].expand(-1, -1, -1, self._used)
        self._ancestry = self._ancestry.gather(2, rows)

    def select_batch(self, indices: Int[Tensor, " selected"]) -> None:
        """Keep only the sentences at these batch indices."""
        for layer in self.layers:
            for cache in layer:
                cache.select_batch(indices)
        if self._ancestry is not None:
            self._ancestry = self._ancestry[indices]


class RecurrentCache:
    """Hidden state and cell state of a recurrent decoder for each beam, and cached keys and values.

    Attributes:
        state: hidden state and cell state, each ``layers rows d_model`` with one row per beam; None before
            the first step.
        memory: cache of the attention layer's projected keys and its values, which all beams of a source
            sentence share.
    """

    def __init__(self) -> None:
        self.state: tuple[Tensor, Tensor] | None = None
        self.memory = KVCache()
        self._beams = 1

    def reorder(self, parents: Int[Tensor, "sentences new_beams"]) -> None:
        """Reorder the beams: new beam i of sentence s continues its old beam ``parents[s, i]``."""
        if self._beams == parents.shape[1] == 1:
            return
        first = torch.arange(len(parents), device=parents.device)[:, None] * self._beams
        self._select_rows((first + parents).flatten())
        self._beams = parents.shape[1]

    def select_batch(self, indices: Int[Tensor, " selected"]) -> None:
        """Keep only the sentences at these batch indices."""
        beams = torch.arange(self._beams, device=indices.device)
        self._select_rows((indices[:, None] * self._beams + beams).flatten())
        self.memory.select_batch(indices)

    def _select_rows(self, rows: Tensor) -> None:
        if self.state is not None:
            state, cell = self.state
            self.state = state[:, rows], cell[:, rows]


def takes_cache(*functions: Callable[..., Any]) -> bool:
    """Return True if every function has a parameter ``cache``; a method overridden in a subclass may not."""
    return all("cache" in signature(function).parameters for function in functions)


def _allocate(part: Tensor, slots: int) -> Tensor:
    return part.new_empty((*part.shape[:-2], slots, part.shape[-1]))

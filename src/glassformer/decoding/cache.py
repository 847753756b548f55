"""What is kept of a translation while it is written, so that each step computes only what is new.

Writing token after token, a model without a cache computes keys and values of all earlier tokens again at
every step. They cannot have changed: under the causal mask, no token sees what comes after it.
"""

from functools import partial
from typing import Protocol, TypeGuard, cast, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.modules.attention import Past
from glassformer.modules.layers import DecoderLayer
from glassformer.modules.recurrent import AdditiveAttentionTranslator, FixedContextTranslator
from glassformer.modules.transformer import Transformer

AnyTranslator = Transformer | FixedContextTranslator


@runtime_checkable
class Cache(Protocol):
    """A batch of sentences that is being translated, each along one beam or several.

    A beam is one way to go on. At first each sentence has a single beam, and nothing is written.
    """

    def step(self, last_ids: Int[Tensor, "sentences beams"]) -> Float[Tensor, "sentences beams vocabulary"]:
        """Take in the last token of every beam, and give the logits of the next."""

    def reorder(self, parents: Int[Tensor, "sentences new_beams"]) -> None:
        """Go on with other beams: each new one continues the beam of its sentence that is named here."""

    def keep(self, sentences: Int[Tensor, " kept"]) -> None:
        """Go on with these sentences alone."""


def start_cache(
    model: AnyTranslator,
    source_ids: Int[Tensor, "sentences source"],
    *,
    max_length: int,
    beam_size: int = 1,
    cached: bool = True,
) -> Cache:
    """Read the sentences, and get ready to write.

    Args:
        model: what writes, in evaluation mode.
        source_ids: the sentences to translate, filled up with the pad id.
        max_length: how many steps there will be at most.
        beam_size: how many beams a sentence will have at most.
        cached: whether anything is kept at all. A model whose class decodes in a way of its own is never
            cached: what it does is not known.
    """
    if cached and _steps_like_a_transformer(model):
        return KeyValueCache(model, source_ids, max_length=max_length, beam_size=beam_size)
    if cached and type(model) in (FixedContextTranslator, AdditiveAttentionTranslator):
        return StateCache(cast(FixedContextTranslator, model), source_ids)
    return NoCache(model, source_ids)


class KeyValueCache:
    """The keys and values of a Transformer's decoder, in memory that is allocated once.

    Those of the source are computed once a sentence and serve all of its beams, which stand side by side as
    queries. Those of the target stay where they were written: each beam looks, through a mask, at the tokens
    it descends from, so that a change of beams moves no keys and no values. Arguments as in `start_cache`.
    """

    def __init__(
        self,
        model: Transformer,
        source_ids: Int[Tensor, "sentences source"],
        *,
        max_length: int,
        beam_size: int = 1,
    ) -> None:
        config = model.config
        self._model = model
        memory, memory_mask = model.encode(source_ids)
        self._layers = cast(list[DecoderLayer], list(model.decoder.layers))
        self._memory = [layer.cross_attention.project_memory(memory) for layer in self._layers]
        self._memory_mask = None if bool(memory_mask.all()) else memory_mask
        slots = 1 + (max_length - 1) * beam_size
        heads, d_head = config.num_heads, config.d_model // config.num_heads
        shape = (config.num_decoder_layers, 2, len(source_ids), heads, slots, d_head)
        self._kept = memory.new_empty(shape)
        self._positions = torch.empty(slots, dtype=torch.int64, device=memory.device)
        self._used = self._time = 0
        self._descent: Tensor | None = None  # sentences 1 beams used; None while nobody has a rival

    def step(self, last_ids: Int[Tensor, "sentences beams"]) -> Float[Tensor, "sentences beams vocabulary"]:
        """Take in the last token of every beam, and give the logits of the next."""
        model, beams = self._model, last_ids.shape[1]
        new = slice(self._used, self._used + beams)
        self._positions[new] = self._time
        if self._descent is not None:
            oneself = torch.eye(beams, dtype=torch.bool, device=last_ids.device)
            self._descent = torch.cat([self._descent, oneself.expand(len(last_ids), 1, beams, beams)], dim=-1)
        x = model.target_embedding(last_ids.reshape(-1, 1), self._time).view(*last_ids.shape, -1)
        for number, layer in enumerate(self._layers):
            past = Past(
                remember=partial(self._remember, number, new),
                position=self._positions[self._used, None],
                key_positions=self._positions[: new.stop],
                attn_mask=self._descent,
            )
            x = layer.step(x, past, self._memory[number], self._memory_mask)
        self._used, self._time = new.stop, self._time + 1
        return model.output_proj(model.decoder.final_norm(x))

    def reorder(self, parents: Int[Tensor, "sentences new_beams"]) -> None:
        """Go on with other beams: each new one continues the beam of its sentence that is named here."""
        if self._descent is None:
            if parents.shape[1] == 1:
                return
            shape = (len(parents), 1, 1, self._used)
            self._descent = torch.ones(shape, dtype=torch.bool, device=parents.device)
        chosen = parents[:, None, :, None].expand(-1, -1, -1, self._used)
        self._descent = self._descent.gather(2, chosen)

    def keep(self, sentences: Int[Tensor, " kept"]) -> None:
        """Go on with these sentences alone."""
        old, used = self._kept, self._used
        self._kept = old.new_empty((*old.shape[:2], len(sentences), *old.shape[3:]))
        self._kept[..., :used, :] = old[..., :used, :].index_select(2, sentences)
        self._memory = [(key[sentences], value[sentences]) for key, value in self._memory]
        if self._memory_mask is not None:
            self._memory_mask = self._memory_mask[sentences]
        if self._descent is not None:
            self._descent = self._descent[sentences]

    def _remember(self, layer: int, new: slice, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = self._kept[layer]
        keys[:, :, new], values[:, :, new] = key, value
        return keys[:, :, : new.stop], values[:, :, : new.stop]


class StateCache:
    """The state and cell of a recurrent decoder, which are all that it keeps by itself.

    What it looks back at is projected once a sentence and serves all of its beams.
    """

    def __init__(self, model: FixedContextTranslator, source_ids: Int[Tensor, "sentences source"]) -> None:
        self._model = model
        self._remembered, self._context = model.remember(source_ids)
        self._sentences, self._beams = len(source_ids), 1

    def step(self, last_ids: Int[Tensor, "sentences beams"]) -> Float[Tensor, "sentences beams vocabulary"]:
        """Take in the last token of every beam, and give the logits of the next."""
        states, self._context = self._model.step(last_ids, self._context, *self._remembered)
        return self._model.output_proj(states)

    def reorder(self, parents: Int[Tensor, "sentences new_beams"]) -> None:
        """Go on with other beams: each new one continues the beam of its sentence that is named here."""
        if self._beams == parents.shape[1] == 1:
            return
        first = torch.arange(self._sentences, device=parents.device)[:, None] * self._beams
        self._take((first + parents).flatten())
        self._beams = parents.shape[1]

    def keep(self, sentences: Int[Tensor, " kept"]) -> None:
        """Go on with these sentences alone."""
        beams = torch.arange(self._beams, device=sentences.device)
        self._take((sentences[:, None] * self._beams + beams).flatten())
        self._remembered = tuple(part[sentences] for part in self._remembered)
        self._sentences = len(sentences)

    def _take(self, rows: Tensor) -> None:
        state, cell = self._context
        self._context = state[:, rows], cell[:, rows]


class NoCache:
    """Nothing but the tokens: everything is computed again at every step. The yardstick for the others."""

    def __init__(self, model: AnyTranslator, source_ids: Int[Tensor, "sentences source"]) -> None:
        self._model, self._source_ids = model, source_ids
        self._memory = model.encode(source_ids) if isinstance(model, Transformer) else None
        self._written = source_ids.new_empty((len(source_ids), 1, 0))

    def step(self, last_ids: Int[Tensor, "sentences beams"]) -> Float[Tensor, "sentences beams vocabulary"]:
        """Take in the last token of every beam, and give the logits of the next."""
        beams = last_ids.shape[1]
        self._written = torch.cat([self._written, last_ids[..., None]], dim=-1)
        written = self._written.flatten(0, 1)
        if isinstance(self._model, Transformer) and self._memory is not None:
            memory, memory_mask = (part.repeat_interleave(beams, dim=0) for part in self._memory)
            logits = self._model.decode(written, memory, memory_mask)
        else:
            logits = self._model(self._source_ids.repeat_interleave(beams, dim=0), written)
        return logits[:, -1].view(*last_ids.shape, -1)

    def reorder(self, parents: Int[Tensor, "sentences new_beams"]) -> None:
        """Go on with other beams: each new one continues the beam of its sentence that is named here."""
        time = self._written.shape[-1]
        self._written = self._written.gather(1, parents[..., None].expand(-1, -1, time))

    def keep(self, sentences: Int[Tensor, " kept"]) -> None:
        """Go on with these sentences alone."""
        self._source_ids, self._written = self._source_ids[sentences], self._written[sentences]
        if self._memory is not None:
            memory, memory_mask = self._memory
            self._memory = memory[sentences], memory_mask[sentences]


def _steps_like_a_transformer(model: AnyTranslator) -> TypeGuard[Transformer]:
    """Whether each step of the model is what `DecoderLayer.step` computes."""
    return (
        isinstance(model, Transformer)
        and type(model).decode is Transformer.decode
        and type(model).decode_states is Transformer.decode_states
        and all(type(layer) is DecoderLayer for layer in model.decoder.layers)
    )

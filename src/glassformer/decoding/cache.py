"""Step-by-step decoding of a batch, with one or more beams per sentence, with and without a cache."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.modules.cache import DecoderCache, RecurrentCache
from glassformer.modules.storage import AnyTranslator
from glassformer.validation import require_ids


def start_decoding(
    model: AnyTranslator,
    source_ids: Int[Tensor, "sentences source"],
    *,
    max_length: int,
    beam_size: int = 1,
    use_cache: bool = True,
) -> "CachedDecoding | UncachedDecoding":
    """Encode the source sentences and prepare to decode their translations.

    Args:
        model: model, in evaluation mode.
        source_ids: sentences to translate, padded with the pad id.
        max_length: maximum number of steps.
        beam_size: maximum number of beams per sentence.
        use_cache: True to reuse the keys, values and states of earlier steps; False recomputes them at every
            step, as for a model whose ``make_cache`` returns None.

    Raises:
        ValueError: a source id is outside the vocabulary, or ``source_ids`` is not a batch of sentences.
    """
    require_ids("source_ids", source_ids, model.config.source_vocabulary_size)
    cache = model.make_cache(max_length, beam_size) if use_cache else None
    if cache is None:
        return UncachedDecoding(model, source_ids)
    return CachedDecoding(model, source_ids, cache)


class CachedDecoding:
    """Decoding of a batch of sentences with a cache: each step computes only the new position.

    Each sentence starts with one empty beam.

    Args:
        model: model, in evaluation mode.
        source_ids: sentences to translate, padded with the pad id.
        cache: empty cache from the model's ``make_cache``.
    """

    def __init__(
        self,
        model: AnyTranslator,
        source_ids: Int[Tensor, "sentences source"],
        cache: DecoderCache | RecurrentCache,
    ) -> None:
        self._model: Any = model
        self._cache = cache
        # A mask that hides nothing would cost time at every step.
        self._encoded = tuple(
            None if part.dtype == torch.bool and bool(part.all()) else part
            for part in model.encode(source_ids)
        )

    def step(self, last_ids: Int[Tensor, "sentences beams"]) -> Float[Tensor, "sentences beams vocabulary"]:
        """Append the last token of every beam, and return the logits of the next token."""
        logits: Tensor = self._model.decode(last_ids, *self._encoded, cache=self._cache)
        return logits

    def reorder(self, parents: Int[Tensor, "sentences new_beams"]) -> None:
        """Reorder the beams: new beam i of sentence s continues its old beam ``parents[s, i]``."""
        self._cache.reorder(parents)

    def select_batch(self, indices: Int[Tensor, " selected"]) -> None:
        """Keep only the sentences at these batch indices."""
        self._encoded = tuple(part if part is None else part[indices] for part in self._encoded)
        self._cache.select_batch(indices)


class UncachedDecoding:
    """Decoding of a batch without a cache: each step runs the decoder on all tokens so far.

    The source is encoded once. `CachedDecoding` computes the same logits.

    Args:
        model: model, in evaluation mode.
        source_ids: sentences to translate, padded with the pad id.
    """

    def __init__(self, model: AnyTranslator, source_ids: Int[Tensor, "sentences source"]) -> None:
        self._model: Any = model
        self._encoded: tuple[Tensor, ...] = model.encode(source_ids)
        self._target_ids = source_ids.new_empty(len(source_ids), 1, 0)

    def step(self, last_ids: Int[Tensor, "sentences beams"]) -> Float[Tensor, "sentences beams vocabulary"]:
        """Append the last token of every beam, and return the logits of the next token."""
        self._target_ids = torch.cat([self._target_ids, last_ids[..., None]], dim=-1)
        encoded = (part.repeat_interleave(last_ids.shape[1], dim=0) for part in self._encoded)
        logits: Tensor = self._model.decode(self._target_ids.flatten(0, 1), *encoded)
        return logits[:, -1].view(*last_ids.shape, -1)

    def reorder(self, parents: Int[Tensor, "sentences new_beams"]) -> None:
        """Reorder the beams: new beam i of sentence s continues its old beam ``parents[s, i]``."""
        length = self._target_ids.shape[-1]
        self._target_ids = self._target_ids.gather(1, parents[..., None].expand(-1, -1, length))

    def select_batch(self, indices: Int[Tensor, " selected"]) -> None:
        """Keep only the sentences at these batch indices."""
        self._encoded = tuple(part[indices] for part in self._encoded)
        self._target_ids = self._target_ids[indices]

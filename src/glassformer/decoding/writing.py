"""Write one translation of each sentence, token by token."""

from collections.abc import Callable, Collection

import torch
from jaxtyping import Int
from torch import Tensor

from glassformer.decoding.cache import AnyTranslator, start_cache
from glassformer.decoding.choosing import forbid_tokens
from glassformer.decoding.limits import length_limits

# Once so many of the sentences in the batch have ended, it is worth moving the others closer together.
ENOUGH_ENDED = 0.25

# From the logits of some rows, and the sentences they belong to, to one token for each.
Choose = Callable[[Tensor, Tensor], Tensor]


@torch.no_grad()
def write(
    model: AnyTranslator,
    source_ids: Int[Tensor, "batch source"],
    choose: Choose,
    *,
    start_id: int,
    end_id: int,
    max_length: int | Int[Tensor, " batch"] | None,
    forbidden_ids: Collection[int],
    cached: bool,
) -> Int[Tensor, "batch time"]:
    """Add to each sentence the token that is chosen next, until it ends or is as long as it may be.

    Arguments and result as in `decoding.greedy.greedy_decode`.
    """
    limits = length_limits(model, source_ids, max_length, start_id=start_id, end_id=end_id)
    longest, pad_id = int(limits.max()), model.config.pad_id
    cache = start_cache(model, source_ids, max_length=longest, cached=cached)
    written = torch.full((len(source_ids), longest), pad_id, device=source_ids.device)
    sentences = torch.arange(len(source_ids), device=source_ids.device)
    last_ids = torch.full_like(sentences, start_id)
    goes_on = torch.ones_like(sentences, dtype=torch.bool)
    for time in range(longest):
        logits = forbid_tokens(cache.step(last_ids[:, None])[:, 0], {pad_id, *forbidden_ids})
        last_ids = choose(logits, sentences)
        written[sentences, time] = torch.where(goes_on, last_ids, pad_id)
        goes_on = goes_on & (last_ids != end_id) & (limits[sentences] > time + 1)
        left = int(goes_on.sum())
        if not left:
            return written[:, : time + 1]
        if left <= (1 - ENOUGH_ENDED) * len(sentences):
            kept = goes_on.nonzero()[:, 0]
            cache.keep(kept)
            sentences, last_ids, goes_on = sentences[kept], last_ids[kept], goes_on[kept]
    return written

"""Forbid tokens and find the most probable ones, given logits or log-probabilities."""

import math
from collections.abc import Iterable

import torch
from jaxtyping import Float, Int
from torch import Tensor

_BLOCK = 128


def forbid_tokens(
    scores: Float[Tensor, "*rows vocabulary"], ids: Iterable[int]
) -> Float[Tensor, "*rows vocabulary"]:
    """Set the logits or log-probabilities of the tokens ``ids`` to −∞ in place, and return ``scores``.

    Raises:
        ValueError: an id is outside the vocabulary.
    """
    ids = sorted(set(ids))
    if ids and not 0 <= ids[0] <= ids[-1] < scores.shape[-1]:
        raise ValueError(f"forbidden_ids must be at least 0 and below {scores.shape[-1]}, got {ids}")
    return scores.index_fill_(-1, torch.tensor(ids, device=scores.device, dtype=torch.int64), -math.inf)


def topk(
    scores: Float[Tensor, "*rows vocabulary"], count: int
) -> tuple[Float[Tensor, "*rows count"], Int[Tensor, "*rows count"]]:
    """Return the ``count`` highest scores of each row and their ids, highest first; NaN counts as highest.

    This function returns the same scores as `torch.topk`, but may choose differently among equal scores. With
    a small ``count``, it is several times faster on a CPU: the highest scores of a row lie in the blocks with
    the highest maxima, and maxima are cheap to compute.
    """
    size = scores.shape[-1]
    blocks, rest = divmod(size, _BLOCK)
    if blocks < 2 * count:
        return scores.topk(count)
    maxima = scores[..., : size - rest].reshape(*scores.shape[:-1], blocks, _BLOCK).amax(-1)
    best_blocks = maxima.topk(count).indices
    inside = torch.arange(_BLOCK, device=scores.device)
    after_the_blocks = torch.arange(size - rest, size, device=scores.device).expand(*scores.shape[:-1], rest)
    ids = torch.cat([(best_blocks[..., None] * _BLOCK + inside).flatten(-2), after_the_blocks], dim=-1)
    values, places = scores.gather(-1, ids).topk(count)
    return values, ids.gather(-1, places)


def require_finite(scores: Float[Tensor, "..."]) -> None:
    """Check that scores are neither NaN nor infinite.

    Raises:
        ValueError: a score is NaN or infinite.
    """
    if not bool(scores.isfinite().all()):
        raise ValueError(
            "the logits of the model must be finite, got NaN or infinity: its weights are damaged, or its "
            "activations overflow"
        )

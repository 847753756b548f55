"""What a translator is asked while it learns: the next word, with the right ones before it in sight."""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.modules.transformer import Transformer
from glassformer.validation import require_ids


def shift(
    target_ids: Int[Tensor, "batch marked"],
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """Cut marked sentences into what the decoder is given and what is wanted of it, one step ahead.

    >>> shift(torch.tensor([[START_ID, 7, 5, END_ID]]))                     # doctest: +SKIP
    (tensor([[START_ID, 7, 5]]), tensor([[7, 5, END_ID]]))

    Raises:
        ValueError: there are not at least two tokens in each sentence, its start and its end.
    """
    if target_ids.ndim != 2 or target_ids.shape[1] < 2:
        raise ValueError(
            f"target_ids must have 2 axes (sentence, token) and at least 2 tokens, "
            f"got shape {tuple(target_ids.shape)}"
        )
    return target_ids[:, :-1], target_ids[:, 1:]


def cross_entropy(
    logits: Float[Tensor, "batch time vocabulary"], wanted_ids: Int[Tensor, "batch time"], pad_id: int
) -> Float[Tensor, ""]:
    """Mean over all wanted tokens of −log p(token); padding is not wanted, and does not count.

    Raises:
        ValueError: the shapes do not fit, an id is outside the vocabulary, or nothing but padding is wanted.
    """
    if logits.shape[:-1] != wanted_ids.shape:
        raise ValueError(
            f"logits {tuple(logits.shape[:-1])} and wanted_ids {tuple(wanted_ids.shape)} "
            f"must hold equally many sentences and tokens"
        )
    require_ids("wanted_ids", wanted_ids, logits.shape[-1])
    if not (wanted_ids != pad_id).any():
        raise ValueError(f"wanted_ids must hold something else than padding, got only the id {pad_id}")
    return F.cross_entropy(logits.flatten(0, 1), wanted_ids.flatten(), ignore_index=pad_id)


def teacher_forced_loss(
    model: Transformer, source_ids: Int[Tensor, "batch source"], target_ids: Int[Tensor, "batch target"]
) -> Float[Tensor, ""]:
    """Ask for every token of the target at once, given the source and the right tokens before it.

    Args:
        model: what is to learn.
        source_ids: the sentences to read, filled up with the pad id.
        target_ids: their translations, from start to end, filled up likewise.
    """
    given_ids, wanted_ids = shift(target_ids)
    return cross_entropy(model(source_ids, given_ids), wanted_ids, model.config.pad_id)

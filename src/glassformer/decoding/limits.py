"""What every way of writing must know before it begins, and how long it may go on."""

import torch
from jaxtyping import Int
from torch import Tensor

from glassformer.modules.recurrent import FixedContextTranslator
from glassformer.modules.transformer import Transformer
from glassformer.validation import require_shape, require_whole


def usual_max_length(source_ids: Int[Tensor, "sentences source"], pad_id: int) -> Int[Tensor, " sentences"]:
    """Allow a translation twice as many tokens as its source has, and 10 more."""
    return 2 * (source_ids != pad_id).sum(-1) + 10


def length_limits(
    model: Transformer | FixedContextTranslator,
    source_ids: Int[Tensor, "sentences source"],
    max_length: int | Int[Tensor, " sentences"] | None,
    *,
    start_id: int,
    end_id: int,
) -> Int[Tensor, " sentences"]:
    """Check what a model is asked to write, and say how many tokens each translation may have.

    Args:
        model: what is to write.
        source_ids: what it is to translate.
        max_length: the greatest length of all, or of each; `usual_max_length` without it, but never more
            than the model has learned positions.
        start_id: what stands before the first token.
        end_id: what the model writes when it is done.

    Raises:
        ValueError: the model is in training mode, where dropout would garble what it writes; a mark is the
            pad id; or a length is not above zero, or beyond the learned positions.
    """
    if model.training:
        raise ValueError("model must be in evaluation mode, got training mode: call model.eval() first")
    for name, id in (("start_id", start_id), ("end_id", end_id)):
        if id == model.config.pad_id:
            raise ValueError(f"{name} must differ from the pad id, got {id} for both")
    places = _learned_places(model)
    if max_length is None:
        limits = usual_max_length(source_ids, model.config.pad_id)
        return limits if places is None else limits.clamp(max=places)
    if isinstance(max_length, Tensor):
        require_shape((len(source_ids),), max_length=max_length)
        limits = max_length.to(source_ids.device)
        require_whole(max_length=int(limits.min()))
    else:
        require_whole(max_length=max_length)
        limits = torch.full((len(source_ids),), max_length, device=source_ids.device)
    if places is not None and int(limits.max()) > places:
        raise ValueError(
            f"max_length must be at most {places}, the positions learned, got {int(limits.max())}"
        )
    return limits


def _learned_places(model: Transformer | FixedContextTranslator) -> int | None:
    if isinstance(model, Transformer) and model.config.positions == "learned":
        return model.config.max_length
    return None

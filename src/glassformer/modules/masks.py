"""Attention masks on any device: True lets a query attend to a key. Combine masks with ``&``."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from glassformer.validation import require_axes, require_integers, require_positive_int


def causal_mask(length: int, device: torch.device | str | None = None) -> Bool[Tensor, "query key"]:
    """Make a causal mask, as in `reference.masks.causal_mask`, on ``device`` or PyTorch's default device."""
    require_positive_int(length=length)
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def padding_mask(ids: Int[Tensor, "*batch key"], pad_id: int) -> Bool[Tensor, "*batch 1 1 key"]:
    """Make a padding mask, as in `reference.masks.padding_mask`, on the device of ``ids``."""
    require_integers(ids=ids)
    require_axes(1, ids=ids)
    return (ids != pad_id)[..., None, None, :]

"""Dropout (Srivastava et al., 2014), with chance that is cheap to draw on a CPU."""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.validation import require_floating, require_probability


def dropout(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    """Set each number to zero with probability ``p``, and let the others grow to make up for it.

    As `torch.nn.functional.dropout`, which on a CPU spends an eighth of a small model's training step on
    drawing. Here sixteen random bits decide about a number, so that ``p`` is met to within 2⁻¹⁷.

    Raises:
        ValueError: ``x`` does not hold floats, or ``p`` is not a probability below 1.
    """
    require_floating(x=x)
    require_probability(p=p)
    if p == 0 or x.device.type != "cpu" or torch.compiler.is_compiling():
        return F.dropout(x, p)
    dropped: Tensor = _Keep.apply(x, _draw_kept(x.shape, p), 1 / (1 - p))  # type: ignore[no-untyped-call]
    return dropped


class Dropout(nn.Dropout):
    """`dropout` while training, nothing in evaluation."""

    def forward(self, input: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Drop from what is given, unless in evaluation mode."""
        return dropout(input, self.p) if self.training else input


class _Keep(torch.autograd.Function):
    """x · kept · scale; for the way back it remembers which were kept, a byte each."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, kept: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(kept)
        ctx.scale = scale
        return kept.to(x.dtype).mul_(scale).mul_(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (kept,) = ctx.saved_tensors
        return gradients[0] * kept.to(gradients[0].dtype).mul_(ctx.scale), None, None


def _draw_kept(shape: torch.Size, p: float) -> Bool[Tensor, "..."]:
    """Draw for each number whether it is kept; one whole number of 64 bits decides about four."""
    size = shape.numel()
    bits = torch.empty(-(-size // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    return bits[:size].view(shape) >= min(round(p * 2**16), 2**16 - 1) - 2**15

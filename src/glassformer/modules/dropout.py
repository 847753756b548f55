"""Dropout (Srivastava et al., 2014) with cheap random bits on the CPU."""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.validation import require_floating, require_probability


def dropout(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    """Zero each element with probability ``p``, and scale the others by 1 / (1 − p).

    On a CPU, `torch.nn.functional.dropout` spends an eighth of a small model's training step on random
    numbers. This function therefore uses only sixteen random bits per element on a CPU, which approximates
    ``p`` to within 2⁻¹⁶. On other devices and under torch.compile, it calls `torch.nn.functional.dropout`.

    Args:
        x: activations, of any shape.
        p: dropout probability.

    Raises:
        ValueError: ``x`` is not floating-point, or ``p`` is not a probability below 1.
    """
    require_floating(x=x)
    require_probability(p=p)
    if p == 0 or x.device.type != "cpu" or torch.compiler.is_compiling():
        return F.dropout(x, p)
    dropped: Tensor = _DropoutFunction.apply(x, _draw_kept(x.shape, p), 1 / (1 - p))  # type: ignore[no-untyped-call]
    return dropped


class Dropout(nn.Dropout):
    """`dropout` in training mode, and the identity in evaluation mode.

    Args:
        p: dropout probability, below 1.
        inplace: argument of nn.Dropout, without effect here.

    Raises:
        ValueError: ``p`` is not a probability below 1.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        require_probability(p=p)
        super().__init__(p, inplace)

    def forward(self, input: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Apply dropout in training mode; return the input unchanged in evaluation mode."""
        return dropout(input, self.p) if self.training else input


class _DropoutFunction(torch.autograd.Function):
    """Compute x · kept · scale; the backward pass needs only the mask, one byte per element."""

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
    """Draw the mask of kept elements; each random 64-bit integer serves four elements."""
    size = shape.numel()
    bits = torch.empty(-(-size // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    return bits[:size].view(shape) >= min(round(p * 2**16), 2**16 - 1) - 2**15

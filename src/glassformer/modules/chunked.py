"""Attention for long sequences, in memory that grows with T instead of T²: the idea behind fused kernels.

The weights are made a square of ``chunk_size`` queries and keys at a time, used, and forgotten. A softmax
needs the whole row for its maximum and its sum; both can be kept up to date while the row goes by (Milakov
and Gimelshein, 2018), and what the gradient needs can be made again (Rabe and Staats, 2021; Dao et al.,
2022, algorithms 1 and 4).
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from glassformer.validation import require_attention_inputs, require_same_dtype, require_whole


def chunked_attention(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
    attn_mask: Bool[Tensor, "*#batch #query #key"] | None = None,
    *,
    chunk_size: int = 256,
) -> Float[Tensor, "*batch query d_v"]:
    """Attend to what `modules.attention.scaled_dot_product_attention` attends to, a square at a time.

    Squares that the mask hides altogether cost nothing: a causal mask halves the work.

    Args:
        query: what looks, one vector a position.
        key: what is looked at.
        value: what is handed over.
        attn_mask: True where a query may look at a key.
        chunk_size: how many queries and keys a square has; a processor's cache should hold it.

    Raises:
        ValueError: an argument's shape or type does not fit; the message names it.
    """
    require_attention_inputs(query, key, value, attn_mask)
    require_same_dtype(query=query, key=key, value=value)
    require_whole(chunk_size=chunk_size)
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*query.shape[:-1], key.shape[-2])
    with _unrounded(query):
        return _ChunkedAttention.apply(query, key, value, attn_mask, chunk_size)  # type: ignore[no-untyped-call]


class _ChunkedAttention(torch.autograd.Function):
    """Forward keeps, of all weights, one number a query: the logarithm of what its softmax divides by."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, chunk_size: int
    ) -> Tensor:
        attended = query.new_empty(*query.shape[:-1], value.shape[-1])
        log_sums = _precise(query.new_empty(*query.shape[:-1], 1))
        square = _Square(query, key, chunk_size)
        for rows in _chunks(query.shape[-2], chunk_size):
            highest = torch.full_like(log_sums[..., rows, :], torch.finfo(log_sums.dtype).min)
            total = torch.zeros_like(highest)
            mixed = _precise(torch.zeros_like(attended[..., rows, :]))
            for columns, scores in _squares(query, key, attn_mask, rows, square):
                highest_so_far = torch.maximum(highest, scores.amax(-1, keepdim=True))
                shrink = (highest - highest_so_far).exp_()
                weights = scores.sub_(highest_so_far).exp_()
                total.mul_(shrink).add_(weights.sum(-1, keepdim=True))
                mixed.mul_(shrink).add_(weights @ _precise(value[..., columns, :]))
                highest = highest_so_far
            total.clamp_(min=1)  # less than 1 only where a query may look at nothing
            attended[..., rows, :] = mixed.div_(total)
            log_sums[..., rows, :] = highest + total.log()
        ctx.save_for_backward(query, key, value, attn_mask, attended, log_sums)
        ctx.chunk_size = chunk_size
        return attended

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, attended_grad: Tensor) -> tuple[Tensor | None, ...]:
        with _unrounded(attended_grad):
            gradients = _gradients(attended_grad, *ctx.saved_tensors, chunk_size=ctx.chunk_size)
        return *gradients, None, None


def _gradients(
    attended_grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    attended: Tensor,
    log_sums: Tensor,
    *,
    chunk_size: int,
) -> tuple[Tensor, Tensor, Tensor]:
    query_grad, key_grad, value_grad = (_precise(torch.zeros_like(x)) for x in (query, key, value))
    squares = [_Square(query, key, chunk_size) for _ in range(2)]
    for rows in _chunks(query.shape[-2], chunk_size):
        row_grad = _precise(attended_grad[..., rows, :])
        mean_grad = (row_grad * attended[..., rows, :]).sum(-1, keepdim=True)
        scaled_query = _scaled(_precise(query[..., rows, :]))
        for columns, scores in _squares(query, key, attn_mask, rows, squares[0]):
            weights = scores.sub_(log_sums[..., rows, :]).exp_()
            value_grad[..., columns, :] += weights.mT @ row_grad
            weights_grad = squares[1].product(row_grad, _precise(value[..., columns, :]).mT)
            scores_grad = weights_grad.sub_(mean_grad).mul_(weights)
            query_grad[..., rows, :] += scores_grad @ _precise(key[..., columns, :])
            key_grad[..., columns, :] += scores_grad.mT @ scaled_query
    return _scaled(query_grad).to(query.dtype), key_grad.to(key.dtype), value_grad.to(value.dtype)


class _Square:
    """Memory for one square of weights, used again and again: to ask for it anew takes as long as a sum."""

    def __init__(self, query: Tensor, key: Tensor, chunk_size: int) -> None:
        self.chunk_size = chunk_size
        sides = (min(chunk_size, query.shape[-2]), min(chunk_size, key.shape[-2]))
        self.numbers = _precise(query.new_empty(query.shape[:-2].numel() * math.prod(sides)))

    def product(self, left: Tensor, right: Tensor) -> Tensor:
        """Multiply matrices; the last product that was made here is lost."""
        shape = (*left.shape[:-1], right.shape[-1])
        return torch.matmul(left, right, out=self.numbers[: math.prod(shape)].view(shape))


def _squares(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, rows: slice, square: _Square
) -> Iterator[tuple[slice, Tensor]]:
    """Give the scores of some queries a square at a time, with the place of its keys."""
    scaled_query = _scaled(_precise(query[..., rows, :]))
    for columns in _chunks(key.shape[-2], square.chunk_size):
        allowed = None if attn_mask is None else attn_mask[..., rows, columns]
        if allowed is not None and not allowed.any():
            continue
        scores = square.product(scaled_query, _precise(key[..., columns, :]).mT)
        if allowed is not None and not allowed.all():
            scores.masked_fill_(~allowed, -math.inf)
        yield columns, scores


def _chunks(length: int, chunk_size: int) -> Iterator[slice]:
    return (slice(start, start + chunk_size) for start in range(0, length, chunk_size))


def _scaled(query: Tensor) -> Tensor:
    return query / math.sqrt(query.shape[-1])


def _precise(x: Tensor) -> Tensor:
    """Sums of many numbers of half precision are taken in single precision."""
    return x if x.dtype == torch.float64 else x.float()


def _unrounded(x: Tensor) -> torch.autocast:
    """Autocast would round between one square and the next."""
    return torch.autocast(x.device.type, enabled=False)

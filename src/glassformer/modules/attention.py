"""Differentiable attention and multi-head attention (Vaswani et al., 2017, section 3.2).

Two code paths give the same result. The explicit path computes the weights and returns them. The fused path
calls PyTorch's kernel, which is faster and does not store the weights (except on a CPU with dropout, where
the fused path computes them as well).
"""

import math

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.modules.cache import KVCache
from glassformer.modules.dropout import dropout as apply_dropout
from glassformer.modules.positions import RelativePositions
from glassformer.modules.softmax import softmax
from glassformer.validation import (
    require_attention_inputs,
    require_axes,
    require_floating,
    require_multiple,
    require_probability,
    require_same_dtype,
    require_width,
)


def attention_weights(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    attn_mask: Bool[Tensor, "*#batch #query #key"] | None = None,
    *,
    score_bias: Float[Tensor, "*#batch #query #key"] | None = None,
) -> Float[Tensor, "*batch query key"]:
    """Compute attention weights differentiably, as in `reference.attention.attention_weights`.

    ``score_bias``, such as the ALiBi bias, is added to the scaled scores.
    """
    require_attention_inputs(query, key, attn_mask=attn_mask)
    require_same_dtype(query=query, key=key)
    return _weights(query, key, attn_mask, score_bias)


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
    attn_mask: Bool[Tensor, "*#batch #query #key"] | None = None,
    dropout: float = 0.0,
    *,
    score_bias: Float[Tensor, "*#batch #query #key"] | None = None,
) -> tuple[Float[Tensor, "*batch query d_v"], Float[Tensor, "*batch query key"]]:
    """Compute scaled dot-product attention differentiably and explicitly, as in `reference.attention`.

    ``score_bias`` is as in `attention_weights`. ``dropout`` is the dropout probability of the attention
    weights. As in nn.MultiheadAttention, the weights are returned after dropout, so their rows need not sum
    to one.
    """
    _require_inputs(query, key, value, attn_mask, dropout)
    return _attend(query, key, value, attn_mask, dropout, score_bias)


def fused_attention(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
    attn_mask: Bool[Tensor, "*#batch #query #key"] | None = None,
    dropout: float = 0.0,
    *,
    score_bias: Float[Tensor, "*#batch #query #key"] | None = None,
) -> Float[Tensor, "*batch query d_v"]:
    """Compute the output of `scaled_dot_product_attention` with a fused kernel, without returning weights.

    Arguments and errors are as in `scaled_dot_product_attention`. A CPU has no fused kernel with dropout, so
    there the weights are computed step by step if ``dropout`` is above zero.
    """
    _require_inputs(query, key, value, attn_mask, dropout)
    if dropout and query.device.type == "cpu":
        return _attend(query, key, value, attn_mask, dropout, score_bias)[0]
    if attn_mask is None:
        return F.scaled_dot_product_attention(query, key, value, score_bias, dropout)
    # Kernels treat fully masked queries differently, so unmask these queries and zero their output.
    attends = attn_mask.any(-1, keepdim=True)
    allowed = attn_mask | ~attends
    mask = allowed if score_bias is None else score_bias.masked_fill(~allowed, -math.inf)
    attended = F.scaled_dot_product_attention(query, key, value, mask, dropout)
    return attended.masked_fill(~attends, 0)


def split_heads(
    x: Float[Tensor, "*batch time d_model"], num_heads: int
) -> Float[Tensor, "*batch heads time d_head"]:
    """Split each vector into one part per head differentiably, as in `reference.heads.split_heads`."""
    require_axes(2, x=x)
    require_multiple(x.shape[-1], num_heads)
    return x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads).transpose(-3, -2)


def merge_heads(x: Float[Tensor, "*batch heads time d_head"]) -> Float[Tensor, "*batch time d_model"]:
    """Concatenate the outputs of all heads differentiably, as in `reference.heads.merge_heads`."""
    require_axes(3, x=x)
    return x.transpose(-3, -2).flatten(-2)


class AttentionHeads(nn.Module):
    """Scaled dot-product attention in each head, as a module whose hooks can record weights or ablate heads.

    The module has no parameters: `MultiHeadAttention` projects the vectors, and splits and merges the heads.
    With or without ``need_weights``, `MultiHeadAttention` calls its ``heads`` exactly once per forward pass,
    as ``heads(query, key, value, attn_mask, score_bias, need_weights=...)``. The call returns a pair
    ``(attended, weights)``:

    - to record the weights, a forward pre-hook (``with_kwargs=True``) sets ``need_weights`` to True, and a
      forward hook reads ``weights``, which has shape ``batch heads query key``;
    - to ablate head h, a forward hook returns ``(attended, weights)`` with ``attended[..., h, :, :]``
      replaced; ``attended`` has shape ``batch heads query d_head``.

    Args:
        dropout: dropout probability of the attention weights in training mode.

    Raises:
        ValueError: ``dropout`` is not a probability below 1.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        require_probability(dropout=dropout)
        self.dropout = dropout

    def forward(
        self,
        query: Float[Tensor, "*batch heads query d_head"],
        key: Float[Tensor, "*batch heads key d_head"],
        value: Float[Tensor, "*batch heads key d_head"],
        attn_mask: Bool[Tensor, "..."] | None = None,
        score_bias: Float[Tensor, "..."] | None = None,
        *,
        need_weights: bool = True,
    ) -> tuple[
        Float[Tensor, "*batch heads query d_head"],
        Float[Tensor, "*batch heads query key"] | None,
    ]:
        """Compute scaled dot-product attention in each head.

        Args:
            query: query vectors of each head.
            key: key vectors of each head.
            value: value vectors of each head.
            attn_mask: True where a query may attend to a key; broadcasts to ``*batch heads query key``.
            score_bias: bias added to the scaled scores; broadcasts to ``*batch heads query key``.
            need_weights: True to compute and return the attention weights; False takes the fused path.

        Returns:
            The output of each head, and its attention weights after dropout, or None without
            ``need_weights``.

        Raises:
            ValueError: the shape or dtype of an argument is invalid.
        """
        dropout = self.dropout if self.training else 0.0
        if need_weights:
            return scaled_dot_product_attention(query, key, value, attn_mask, dropout, score_bias=score_bias)
        return fused_attention(query, key, value, attn_mask, dropout, score_bias=score_bias), None


class MultiHeadAttention(nn.Module):
    """Multi-head attention: Concat(head₁, …, headₕ) W_O (Vaswani et al., 2017, section 3.2.2).

    Register hooks on its submodule ``heads``: see `AttentionHeads`.

    Args:
        d_model: width of queries, keys, values and output.
        num_heads: number of heads; must divide d_model.
        dropout: dropout probability of the attention weights.
        bias: True to add a bias to the four projections.
        positions: rotary or ALiBi positional encoding, applied in each head; None for no encoding.

    Raises:
        ValueError: a size or a probability is invalid.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        dropout: float = 0.0,
        bias: bool = True,
        positions: RelativePositions | None = None,
    ) -> None:
        super().__init__()
        require_multiple(d_model, num_heads)
        self.d_model = d_model
        self.num_heads = num_heads
        self.query_proj = nn.Linear(d_model, d_model, bias)
        self.key_proj = nn.Linear(d_model, d_model, bias)
        self.value_proj = nn.Linear(d_model, d_model, bias)
        self.output_proj = nn.Linear(d_model, d_model, bias)
        self.positions = positions
        self.heads = AttentionHeads(dropout)

    def forward(
        self,
        query: Float[Tensor, "*batch query d_model"],
        key: Float[Tensor, "*batch key d_model"],
        value: Float[Tensor, "*batch key d_model"],
        attn_mask: Bool[Tensor, "..."] | None = None,
        *,
        cache: KVCache | None = None,
        need_weights: bool = True,
    ) -> tuple[Float[Tensor, "*batch query d_model"], Float[Tensor, "*batch heads query all_keys"] | None]:
        """Compute multi-head attention, using a cache if one is given.

        Args:
            query: query vectors.
            key: key vectors.
            value: value vectors, for the same positions as ``key``.
            attn_mask: True where a query may attend to a key; broadcasts to ``*batch heads query all_keys``,
                with cached keys first.
            cache: keys and values of earlier calls. A cache with positions appends the keys and values of
                this call. A final cache supplies all keys and values, so ``key`` and ``value`` are ignored.
            need_weights: True to return the attention weights; False is faster.

        Returns:
            The output, and the attention weights of each head after dropout, or None without
            ``need_weights``.

        Raises:
            ValueError: the shape or dtype of an argument is invalid, or the cache has no slot left or lacks
                the positions that the positional encoding needs.
        """
        require_floating(query=query, key=key, value=value)
        require_width(self.d_model, query=query, key=key, value=value)
        query, score_bias = split_heads(self.query_proj(query), self.num_heads), None
        if cache is not None and cache.is_final:
            key, value = cache.read()
        else:
            key = split_heads(self.key_proj(key), self.num_heads)
            value = split_heads(self.value_proj(value), self.num_heads)
            if self.positions is not None:
                positions = None if cache is None else cache.positions(key.shape[-2])
                query, key, score_bias = self.positions(query, key, positions)
            if cache is not None:
                key, value = cache.update(key, value)
        attended, weights = self.heads(query, key, value, attn_mask, score_bias, need_weights=need_weights)
        return self.output_proj(merge_heads(attended)), weights


def _weights(query: Tensor, key: Tensor, attn_mask: Tensor | None, score_bias: Tensor | None) -> Tensor:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if score_bias is not None:
        scores = scores + score_bias
    return softmax(scores, where=attn_mask)


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout: float,
    score_bias: Tensor | None,
) -> tuple[Tensor, Tensor]:
    weights = _weights(query, key, attn_mask, score_bias)
    weights = apply_dropout(weights, dropout) if dropout else weights
    return weights @ value, weights


def _require_inputs(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout: float
) -> None:
    require_attention_inputs(query, key, value, attn_mask)
    require_same_dtype(query=query, key=key, value=value)
    require_probability(dropout=dropout)

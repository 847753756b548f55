"""Differentiable additive attention (Bahdanau et al., 2015)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.modules.cache import KVCache
from glassformer.modules.softmax import softmax
from glassformer.validation import (
    require_additive_inputs,
    require_axes,
    require_positive_int,
    require_shape,
    require_width,
)


def additive_attention(
    query: Float[Tensor, "*batch query d_query"],
    key: Float[Tensor, "*batch key d_key"],
    value: Float[Tensor, "*batch key d_v"],
    *,
    query_weight: Float[Tensor, "d_query d_hidden"],
    key_weight: Float[Tensor, "d_key d_hidden"],
    score_weight: Float[Tensor, " d_hidden"],
    attn_mask: Bool[Tensor, "*#batch #query #key"] | None = None,
) -> tuple[Float[Tensor, "*batch query d_v"], Float[Tensor, "*batch query key"]]:
    """Compute additive attention differentiably, as in `reference.recurrence.additive_attention`."""
    require_additive_inputs(query, key, value, attn_mask)
    require_axes(1, score_weight=score_weight)
    d_hidden = score_weight.shape[-1]
    require_shape((query.shape[-1], d_hidden), query_weight=query_weight)
    require_shape((key.shape[-1], d_hidden), key_weight=key_weight)
    return _attend(query @ query_weight, key @ key_weight, value, score_weight, attn_mask)


class AdditiveAttention(nn.Module):
    """Additive attention with trainable weights, as in `additive_attention` (Bahdanau et al., 2015).

    Args:
        d_model: width of queries, keys and the hidden layer.

    Raises:
        ValueError: ``d_model`` is not a positive integer.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        require_positive_int(d_model=d_model)
        self.query_weight = nn.Parameter(torch.empty(d_model, d_model))
        self.key_weight = nn.Parameter(torch.empty(d_model, d_model))
        self.score_weight = nn.Parameter(torch.empty(d_model))
        for weight in self.parameters():
            nn.init.uniform_(weight, -(d_model**-0.5), d_model**-0.5)

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_v"],
        attn_mask: Bool[Tensor, "batch #query key"] | None = None,
        *,
        cache: KVCache | None = None,
    ) -> tuple[Float[Tensor, "batch query d_v"], Float[Tensor, "batch query key"]]:
        """Compute additive attention: the weighted averages of the values, and the attention weights.

        Args:
            query: query vectors.
            key: key vectors.
            value: value vectors.
            attn_mask: True where a query may attend to a key; broadcasts to ``batch query key``.
            cache: cache without positions for the projected keys and the values. The first call fills the
                cache; later calls read it in place of ``key`` and ``value``.

        Raises:
            ValueError: the shape or dtype of an argument is invalid.
        """
        require_additive_inputs(query, key, value, attn_mask)
        require_width(len(self.score_weight), query=query, key=key)
        if cache is not None and cache.is_final:
            key, value = cache.read()
        else:
            key = key @ self.key_weight
            if cache is not None:
                cache.update(key, value)
        return _attend(query @ self.query_weight, key, value, self.score_weight, attn_mask)


def _attend(
    projected_query: Tensor,
    projected_key: Tensor,
    value: Tensor,
    score_weight: Tensor,
    attn_mask: Tensor | None,
) -> tuple[Tensor, Tensor]:
    pairs = projected_query[..., :, None, :] + projected_key[..., None, :, :]
    weights = softmax(pairs.tanh() @ score_weight, where=attn_mask)
    return weights @ value, weights

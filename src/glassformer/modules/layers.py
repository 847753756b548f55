"""Encoder and decoder layers, feed-forward networks and residual connections (Vaswani et al., 2017)."""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.cache import KVCache, LayerCache
from glassformer.modules.configuration import Norm
from glassformer.modules.dropout import Dropout
from glassformer.modules.positions import RelativePositions
from glassformer.validation import (
    require_axes,
    require_choice,
    require_floating,
    require_not_empty,
    require_positive,
    require_positive_int,
    require_probability,
    require_shape,
    require_width,
)


def layer_norm(
    x: Float[Tensor, "*batch d_model"],
    scale: Float[Tensor, " d_model"],
    shift: Float[Tensor, " d_model"],
    epsilon: float = 1e-5,
) -> Float[Tensor, "*batch d_model"]:
    """Compute layer normalisation differentiably, as in `reference.layers.layer_norm`.

    `Residual` uses nn.LayerNorm instead, which computes the same in one fused kernel.
    """
    require_floating(x=x, scale=scale)
    require_not_empty(x=x)
    require_shape(x.shape[-1:], scale=scale, shift=shift)
    require_positive(epsilon=epsilon)
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    return scale * centred / (variance + epsilon).sqrt() + shift


def feed_forward(
    x: Float[Tensor, "*batch d_model"],
    *,
    inner_weight: Float[Tensor, "d_model d_ff"],
    inner_bias: Float[Tensor, " d_ff"],
    outer_weight: Float[Tensor, "d_ff d_model"],
    outer_bias: Float[Tensor, " d_model"],
) -> Float[Tensor, "*batch d_model"]:
    """Compute the feed-forward network differentiably, as in `reference.layers.feed_forward`."""
    require_floating(x=x, inner_weight=inner_weight, outer_weight=outer_weight)
    require_axes(2, inner_weight=inner_weight)
    d_model, d_ff = inner_weight.shape
    require_width(d_model, x=x)
    require_shape((d_ff,), inner_bias=inner_bias)
    require_shape((d_ff, d_model), outer_weight=outer_weight)
    require_shape((d_model,), outer_bias=outer_bias)
    return (x @ inner_weight + inner_bias).relu() @ outer_weight + outer_bias


class FeedForward(nn.Module):
    """Position-wise feed-forward network: max(0, xW₁ + b₁)W₂ + b₂ (Vaswani et al., 2017, section 3.3).

    Args:
        d_model: width of the vectors.
        d_ff: width of the hidden layer.
        dropout: dropout probability of the hidden activations.

    Raises:
        ValueError: a size or a probability is invalid.
    """

    def __init__(self, d_model: int, d_ff: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        require_positive_int(d_model=d_model, d_ff=d_ff)
        require_probability(dropout=dropout)
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Apply the network to each position separately.

        Raises:
            ValueError: the shape or dtype of an argument is invalid.
        """
        require_floating(x=x)
        require_width(self.inner.in_features, x=x)
        return self.outer(self.dropout(self.inner(x).relu()))


class Residual(nn.Module):
    """Residual connection around a sublayer, with layer normalisation.

    Args:
        d_model: width of the vectors.
        dropout: dropout probability of the sublayer's output.
        norm: position of the normalisation. "post" normalises the sum, as in Vaswani et al. (2017, section
            3.1). "pre" normalises the sublayer's input instead, which leaves an identity path through all
            layers (Xiong et al., 2020).

    Raises:
        ValueError: a size, a probability or ``norm`` is invalid.
    """

    def __init__(self, d_model: int, *, dropout: float = 0.0, norm: Norm = "post") -> None:
        super().__init__()
        require_positive_int(d_model=d_model)
        require_probability(dropout=dropout)
        require_choice(("post", "pre"), norm=norm)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)
        self.norm_first = norm == "pre"

    def forward(
        self, x: Float[Tensor, "*batch d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "*batch d_model"]:
        """Add the sublayer's output to ``x``, and normalise the sum or, with "pre", the sublayer's input.

        The result is norm(x + dropout(sublayer(x))) for "post" and x + dropout(sublayer(norm(x))) for "pre".

        Args:
            x: one vector per position.
            sublayer: function from vectors to vectors of the same shape.
        """
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each in a residual connection.

    See Vaswani et al. (2017, Figure 1, left).

    Args:
        d_model: width of the vectors.
        num_heads: number of heads.
        d_ff: width of the feed-forward network's hidden layer.
        dropout: dropout probability of sublayer outputs.
        attention_dropout: dropout probability of attention weights; if None, that of sublayer outputs.
        activation_dropout: dropout probability of hidden activations; if None, that of sublayer outputs.
        norm: position of the normalisation, "post" or "pre", as in `Residual`.
        positions: rotary or ALiBi positional encoding of the self-attention layer; None for no encoding.

    Raises:
        ValueError: a size, a probability or ``norm`` is invalid.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        attention_dropout: float | None = None,
        activation_dropout: float | None = None,
        norm: Norm = "post",
        positions: RelativePositions | None = None,
    ) -> None:
        super().__init__()
        attention_dropout = dropout if attention_dropout is None else attention_dropout
        activation_dropout = dropout if activation_dropout is None else activation_dropout
        self.self_attention = MultiHeadAttention(
            d_model, num_heads, dropout=attention_dropout, positions=positions
        )
        self.self_attention_residual = Residual(d_model, dropout=dropout, norm=norm)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=activation_dropout)
        self.feed_forward_residual = Residual(d_model, dropout=dropout, norm=norm)

    def forward(
        self,
        x: Float[Tensor, "*batch time d_model"],
        attn_mask: Bool[Tensor, "..."] | None = None,
        *,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "*batch time d_model"]:
        """Apply self-attention, then the feed-forward network.

        Args:
            x: one vector per position.
            attn_mask: True where a query may attend to a key; broadcasts to ``*batch heads time time`` (all
                cached positions in the last axis).
            cache: keys and values of earlier positions, to which those of ``x`` are appended.

        Raises:
            ValueError: the shape or dtype of an argument is invalid; the message names the argument.
        """
        _require_vectors(self.self_attention.d_model, x=x)
        x = self.self_attention_residual(x, lambda x: _attend(self.self_attention, x, x, attn_mask, cache))
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention to the encoder output (the memory), and a feed-forward network.

    See Vaswani et al. (2017, Figure 1, right). Arguments and errors are as in `EncoderLayer`. The
    cross-attention layer uses no rotary or ALiBi encoding, because the distance between positions in two
    different sentences has no fixed meaning.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        attention_dropout: float | None = None,
        activation_dropout: float | None = None,
        norm: Norm = "post",
        positions: RelativePositions | None = None,
    ) -> None:
        super().__init__()
        attention_dropout = dropout if attention_dropout is None else attention_dropout
        activation_dropout = dropout if activation_dropout is None else activation_dropout
        self.self_attention = MultiHeadAttention(
            d_model, num_heads, dropout=attention_dropout, positions=positions
        )
        self.self_attention_residual = Residual(d_model, dropout=dropout, norm=norm)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=attention_dropout)
        self.cross_attention_residual = Residual(d_model, dropout=dropout, norm=norm)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=activation_dropout)
        self.feed_forward_residual = Residual(d_model, dropout=dropout, norm=norm)

    def forward(
        self,
        x: Float[Tensor, "*batch target d_model"],
        memory: Float[Tensor, "*batch source d_model"],
        attn_mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "*batch target d_model"]:
        """Apply self-attention, cross-attention, then the feed-forward network.

        Args:
            x: one vector per target position.
            memory: output of the encoder.
            attn_mask: True where a target position may attend to a target position; broadcasts to
                ``*batch heads target target`` (all cached positions in the last axis). There is no causal
                mask by default: see `modules.masks.causal_mask`.
            memory_mask: True where a target position may attend to a source position; broadcasts to
                ``*batch heads target source``.
            cache: keys and values of earlier target positions, to which those of ``x`` are appended, and of
                the source.

        Raises:
            ValueError: the shape or dtype of an argument is invalid; the message names the argument.
        """
        _require_vectors(self.self_attention.d_model, x=x, memory=memory)
        own, cross = cache or (None, None)
        x = self.self_attention_residual(x, lambda x: _attend(self.self_attention, x, x, attn_mask, own))
        x = self.cross_attention_residual(
            x, lambda x: _attend(self.cross_attention, x, memory, memory_mask, cross)
        )
        return self.feed_forward_residual(x, self.feed_forward)


def _attend(
    attention: MultiHeadAttention, x: Tensor, memory: Tensor, attn_mask: Tensor | None, cache: KVCache | None
) -> Tensor:
    """Attend from x to the memory, using the fused path."""
    attended, _ = attention(x, memory, memory, attn_mask, cache=cache, need_weights=False)
    return attended


def _require_vectors(d_model: int, **arrays: Tensor) -> None:
    require_floating(**arrays)
    require_axes(2, **arrays)
    require_not_empty(**arrays)
    require_width(d_model, **arrays)

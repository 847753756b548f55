"""A stack of Transformer blocks with random initial weights: forward pass and backpropagated gradient."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.reference.attention import (
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)
from glassformer.reference.heads import merge_heads, split_heads
from glassformer.reference.layers import feed_forward, layer_norm, layer_norm_backward
from glassformer.widgets.normals import repeatable_normal

ROUNDING = 1e-15  # a smaller spread is rounding error
_ROLES = ("query", "key", "value")

Back = Callable[[Array], Array]
Sublayer = Callable[[Array], tuple[Array, Back]]
Layer = dict[str, Array]


class Parts(NamedTuple):
    """Optional parts of the blocks in a stack."""

    residual: bool
    norm: str  # "none", "post" or "pre"
    feed_forward: bool


class Measures(NamedTuple):
    """Measures of the words above a layer, and of the gradient below it."""

    spread: float
    length: float
    gradient: float


class Stack:
    """Random words, layers and gradient at the top, sampled like in ``stack.js``.

    Args:
        num_words: number of words.
        d_model: width of the word vectors.
        num_heads: number of attention heads.
        d_ff: inner width of the feed-forward network.
        num_layers: number of layers.
        seed: seed of words, gradient and weights.
    """

    def __init__(
        self, num_words: int, *, d_model: int, num_heads: int, d_ff: int, num_layers: int, seed: int
    ) -> None:
        shapes = dict.fromkeys((*_ROLES, "output"), (d_model, d_model))
        shapes |= {"inner": (d_model, d_ff), "outer": (d_ff, d_model)}
        first = 2 * num_words * d_model
        size = sum(rows * columns for rows, columns in shapes.values())
        drawn = repeatable_normal(seed, first + num_layers * size)
        self.num_heads = num_heads
        self.x, self.above = drawn[:first].reshape(2, num_words, d_model)
        self.layers = [_layer(shapes, each) for each in drawn[first:].reshape(num_layers, size)]

    def run(self, parts: Parts, depth: int) -> list[Measures]:
        """Run ``depth`` layers forward and the gradient backward; return the measures at each level.

        Pre-norm has a final norm above the last layer, through which only the gradient is sent.
        """
        levels, backs = [self.x], []
        for layer in self.layers[:depth]:
            x, back = self._block(levels[-1], layer, parts)
            levels.append(x)
            backs.append(back)
        grads = [_layer_norm(levels[-1])[1](self.above) if parts.norm == "pre" else self.above]
        for back in reversed(backs):
            grads.append(back(grads[-1]))
        sent = np.linalg.norm(self.above)
        return [
            Measures(_spread(x), float(np.linalg.norm(x, axis=-1).mean()), float(np.linalg.norm(grad) / sent))
            for x, grad in zip(levels, reversed(grads), strict=True)
        ]

    def _block(self, x: Array, layer: Layer, parts: Parts) -> tuple[Array, Back]:
        x, back = _apply_sublayer(x, lambda x: _multi_head_attention(x, layer, self.num_heads), parts)
        if not parts.feed_forward:
            return x, back
        x, back_again = _apply_sublayer(x, lambda x: _feed_forward(x, layer), parts)
        return x, lambda grad: back(back_again(grad))


def _layer(shapes: dict[str, tuple[int, int]], drawn: Float[Array, "numbers"]) -> Layer:
    """Split random numbers into matrices, scaled as in Glorot & Bengio (2010)."""
    ends = np.cumsum([rows * columns for rows, columns in shapes.values()])
    pieces = zip(shapes.items(), np.split(drawn, ends[:-1]), strict=True)
    return {name: piece.reshape(shape) * np.sqrt(2 / sum(shape)) for (name, shape), piece in pieces}


def _apply_sublayer(x: Array, sublayer: Sublayer, parts: Parts) -> tuple[Array, Back]:
    """Apply a sublayer with the norm and the residual connection that the block has."""
    input_, back_input = _layer_norm(x) if parts.norm == "pre" else (x, _identity)
    output, back_output = sublayer(input_)
    added = x + output if parts.residual else output
    after, back_after = _layer_norm(added) if parts.norm == "post" else (added, _identity)

    def back(grad: Array) -> Array:
        grad = back_after(grad)
        through = back_input(back_output(grad))
        return grad + through if parts.residual else through

    return after, back


def _identity(grad: Array) -> Array:
    return grad


def _multi_head_attention(x: Array, layer: Layer, num_heads: int) -> tuple[Array, Back]:
    query, key, value = (split_heads(x @ layer[role], num_heads) for role in _ROLES)
    attended, weights = scaled_dot_product_attention(query, key, value)

    def back(grad: Array) -> Array:
        grad_attended = split_heads(grad @ layer["output"].T, num_heads)
        grads = scaled_dot_product_attention_backward(grad_attended, query, key, value, weights)
        pairs = zip(grads, _ROLES, strict=True)
        return np.sum([merge_heads(each) @ layer[role].T for each, role in pairs], axis=0)

    return merge_heads(attended) @ layer["output"], back


def _feed_forward(x: Array, layer: Layer) -> tuple[Array, Back]:
    inner, outer = layer["inner"], layer["outer"]
    biases = {"inner_bias": np.zeros(inner.shape[1]), "outer_bias": np.zeros(outer.shape[1])}
    output = feed_forward(x, inner_weight=inner, outer_weight=outer, **biases)
    return output, lambda grad: ((x @ inner > 0) * (grad @ outer.T)) @ inner.T


def _layer_norm(x: Array) -> tuple[Array, Back]:
    scale = np.ones(x.shape[-1])
    return layer_norm(x, scale, np.zeros_like(scale)), lambda grad: layer_norm_backward(grad, x, scale)[0]


def _spread(x: Float[Array, "words d_model"]) -> float:
    """Compute the distance of the words from their mean word, relative to their norm."""
    return max(float(np.linalg.norm(x - x.mean(axis=0)) / np.linalg.norm(x)), ROUNDING)

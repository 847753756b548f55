"""Questions on the Transformer block."""

import numpy as np
from torch import nn

from glassformer.modules.layers import EncoderLayer
from glassformer.reference.layers import layer_norm
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

_WORD = np.array([2.0, 4.0, 4.0, 6.0])
_NORMED = layer_norm(_WORD, np.ones(4), np.zeros(4))


def _num_parameters(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def _attention_share(expansion: int) -> float:
    """Return the share of an encoder layer's parameters that attention has, if d_ff = expansion · d_model."""
    layer = EncoderLayer(64, 4, 64 * expansion)
    return _num_parameters(layer.self_attention) / _num_parameters(layer)


QUESTIONS = (
    Number(
        "block-normed",
        "The vector of one word is (2, 4, 4, 6). What is its first component after layer norm with the "
        "initial scale and shift?",
        answer=float(_NORMED[0]),
        why="The mean is 4 and the variance (4 + 0 + 0 + 4) / 4 = 2, so it is −2 divided by the root of 2.",
        within=0.01,
        mistakes=(
            (float((_WORD - _WORD.mean())[0]), "That is the distance from the mean, not yet divided."),
            (
                float(((_WORD - _WORD.mean()) / _WORD.std(ddof=1))[0]),
                "That is divided by d − 1 = 3 in the variance. Layer norm divides by d.",
            ),
            (
                float(((_WORD - _WORD.mean()) / _WORD.var())[0]),
                "That is divided by the variance, not by its root.",
            ),
        ),
    ),
    SeveralOf(
        "block-words-talk",
        "The vector of one word is edited below an encoder layer. Which parts of the layer carry this change "
        "over to other words?",
        (
            wrong("the residual connection", "It adds to each word the output for the same word."),
            wrong("layer norm", "Each word is normalised with its own mean and variance."),
            right("self-attention", "Attention is the only part in which words see each other."),
            wrong(
                "the feed-forward network",
                "It uses the same weights for all words, and processes each word by itself.",
            ),
        ),
    ),
    Number(
        "block-share",
        "An encoder layer has d_ff = 8 · d_model, twice the usual width. About what share of its parameters "
        "belongs to attention?",
        answer=_attention_share(8),
        why="Attention has 4 d² parameters and the network 2 · 8 d² = 16 d², which makes 4 of 20.",
        within=0.01,
        mistakes=(
            (_attention_share(4), "That is the share for the usual d_ff = 4 · d_model."),
            (4 / 16, "That is the ratio of attention to network. The share is taken of both together."),
        ),
    ),
    OneOf(
        "block-dropped-row",
        "Dropout with p = 0.5 is applied to a row of weights that gives 1 to “animal” and 0 to all other "
        "words. What is the sum of the row in one training step?",
        (
            wrong("always 1", "One is the mean over many draws. A single draw is not corrected."),
            wrong("0 or 1", "A weight that is kept is divided by 1 − p, which preserves the mean."),
            right("0 or 2", "The one weight is dropped, or kept and divided by one half."),
            wrong("anything from 0 to 2", "Only one weight is not 0, and it is either kept or dropped."),
        ),
    ),
    OneOf(
        "block-pre-norm",
        "In a deep pre-norm stack with random initial weights, the stream grows from layer to layer. What "
        "follows for the last layers?",
        (
            right(
                "their outputs change the stream relatively little",
                "They read a normalised copy, so they add about as much as the first layers, but to a "
                "longer vector.",
            ),
            wrong(
                "their inputs become too large for them",
                "Their inputs are normalised and so have the same length in every layer.",
            ),
            wrong(
                "they make all words alike",
                "Attention alone does that, and post-norm does it faster than pre-norm.",
            ),
            wrong(
                "no gradient gets past them", "The residual connections leave a direct path to the bottom."
            ),
        ),
    ),
    Number(
        "block-factor",
        "Two sublayers have the slopes −0.5 and 0.2. Each has a residual connection and no norm. By what "
        "factor is a small change of the input multiplied on its way through both?",
        answer=float(np.prod(1 + np.array([-0.5, 0.2]))),
        why="Each factor is 1 plus the slope: 0.5 · 1.2.",
        within=0.01,
        mistakes=(
            (float(np.prod([-0.5, 0.2])), "That is the factor without the residual connections."),
            (float(1 + np.sum([-0.5, 0.2])), "That leaves out the path through both sublayers, −0.5 · 0.2."),
        ),
    ),
)

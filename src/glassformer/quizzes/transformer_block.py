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
        "One word’s vector is (2, 4, 4, 6). What is its first number after a fresh layer norm?",
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
        "In an encoder layer one word’s vector is edited. In which parts does that change the results of "
        "other words?",
        (
            wrong("the residual connection", "It adds to each word what was made for this word."),
            wrong("layer norm", "Its mean and variance are those of one word’s own numbers."),
            right("self-attention", "Here, and nowhere else, words look at each other."),
            wrong("the feed-forward network", "It serves all words alike, one at a time."),
        ),
    ),
    Number(
        "block-share",
        "A block has d_ff = 8 · d_model, twice the usual width. About which share of its parameters is "
        "attention’s?",
        answer=_attention_share(8),
        why="Attention has 4 d² numbers and the network 2 · 8 d² = 16 d²: 4 of 20.",
        within=0.01,
        mistakes=(
            (_attention_share(4), "So it is with the usual d_ff = 4 · d_model."),
            (4 / 16, "That is attention beside the network. Its share is of both together."),
        ),
    ),
    OneOf(
        "block-dropped-row",
        "Dropout of one half acts on a row of weights that gives 1 to “animal” and 0 to all others. What "
        "does the row sum to in one training step?",
        (
            wrong("always 1", "One is its mean over many draws. A single row is not mended."),
            wrong("0 or 1", "What is kept is divided by 1 − p, so that the mean stays right."),
            right("0 or 2", "The one weight is dropped, or kept and divided by one half."),
            wrong("anything from 0 to 2", "Only one weight is not 0, and it is kept or dropped whole."),
        ),
    ),
    OneOf(
        "block-pre-norm",
        "In a deep stack with pre-norm the stream of vectors grows from layer to layer. What follows for the "
        "last layers?",
        (
            right(
                "what they add weighs less beside what is there",
                "They read a normed copy, so they add about as much as the first ones, to a longer vector.",
            ),
            wrong(
                "their inputs become too large for them",
                "They read from behind a norm: always the same length.",
            ),
            wrong(
                "they make all words alike",
                "That is what attention alone does, and post-norm faster than pre-norm.",
            ),
            wrong("no gradient gets past them", "The addition leaves a straight path to the bottom."),
        ),
    ),
    Number(
        "block-factor",
        "Two sublayers have the slopes −0.5 and 0.2. Each is wrapped in a residual connection, without a "
        "norm. By which factor does a small change grow on its way through both?",
        answer=float(np.prod(1 + np.array([-0.5, 0.2]))),
        why="Each factor is 1 plus the slope: 0.5 · 1.2.",
        within=0.01,
        mistakes=(
            (float(np.prod([-0.5, 0.2])), "So it is without the residual connections."),
            (float(1 + np.sum([-0.5, 0.2])), "That leaves out the path through both, with −0.5 · 0.2."),
        ),
    ),
)

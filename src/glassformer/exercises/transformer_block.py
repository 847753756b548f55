"""Checks for the exercises on what stands around attention in a block."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, Hint, compare, compare_number, sample
from glassformer.reference.layers import layer_norm, layer_norm_backward
from glassformer.reference.softmax import softmax


@check(see="Two details")
def check_my_layer_norm(attempt: Answer, rng: Generator) -> None:
    """Judge ``my_layer_norm(x, scale, shift)``, which normalises along the last axis."""

    def with_root(root: Callable[[Array], Array], axis: int | None = -1) -> Answer:
        def run(x: Array, scale: Array, shift: Array) -> Array:
            centred = x - x.mean(axis=axis, keepdims=True)
            return scale * centred / root(centred) + shift

        return run

    def plain(x: Array, scale: Array, shift: Array) -> Array:
        return layer_norm(x, np.ones_like(scale), np.zeros_like(shift))

    def biased(centred: Array, axis: int | None = -1) -> Array:
        return (centred**2).mean(axis=axis, keepdims=True)

    def unbiased(centred: Array) -> Array:
        return (centred**2).sum(axis=-1, keepdims=True) / max(centred.shape[-1] - 1, 1)

    compare(
        attempt,
        layer_norm,
        {
            "divided by d − 1: layer norm divides the sum of squares by d": with_root(
                lambda centred: np.sqrt(unbiased(centred) + 1e-5)
            ),
            "ε stands beside the root: it belongs inside": with_root(
                lambda centred: np.sqrt(biased(centred)) + 1e-5
            ),
            "two slips at once: divided by d − 1, and ε beside the root": with_root(
                lambda centred: np.sqrt(unbiased(centred)) + 1e-5
            ),
            "NaN: a word whose numbers are all equal has variance 0, and there is no ε": with_root(
                lambda centred: np.sqrt(biased(centred))
            ),
            "another ε than 1e-5": with_root(lambda centred: np.sqrt(biased(centred) + 1e-6)),
            "two slips at once: one mean and one variance for all words, and no ε": with_root(
                lambda centred: np.sqrt(biased(centred, None)), axis=None
            ),
            "two slips at once: divided by d − 1, and no ε for a word whose numbers are all equal": with_root(
                lambda centred: np.sqrt(unbiased(centred))
            ),
            "divided by the variance: the root is missing": with_root(lambda centred: biased(centred) + 1e-5),
            Hint(
                "normalised down the columns: each word, a row, has a mean and a variance of its own",
                see="Keep it in scale: layer norm",
            ): with_root(lambda centred: np.sqrt(biased(centred, 0) + 1e-5), axis=0),
            Hint(
                "one mean and one variance for all words: each word has its own",
                see="Keep it in scale: layer norm",
            ): with_root(lambda centred: np.sqrt(biased(centred, None) + 1e-5), axis=None),
            Hint("divided rightly, but the mean is not taken away", see="Keep it in scale: layer norm"): (
                lambda x, scale, shift: scale * x / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + shift
            ),
            Hint("no mean is taken away, not even in the variance", see="Keep it in scale: layer norm"): (
                lambda x, scale, shift: scale * x / np.sqrt(biased(x) + 1e-5) + shift
            ),
            Hint("scale and shift play no part", see="Keep it in scale: layer norm"): plain,
            "scaled and shifted before it is normalised: that undoes half of it": (
                lambda x, scale, shift: plain(scale * x + shift, scale, shift)
            ),
            "the shift is scaled, too: shift what has been scaled": (
                lambda x, scale, shift: scale * (plain(x, scale, shift) + shift)
            ),
        },
        [
            (np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2)),
            (np.array([[1.0, 7.0, 9.0, 15.0]]), np.ones(4), np.zeros(4)),
            (sample(rng, 2, 2) / 1000, np.ones(2), np.zeros(2)),
            (np.full((2, 4), 7.0), np.ones(4), np.zeros(4)),
            (sample(rng, 3, 4), np.array([1.0, 2.0, 0.5, -1.0]), np.array([0.0, 1.0, 0.0, 3.0])),
            (sample(rng, 3, 5) / 1000, sample(rng, 5), sample(rng, 5)),
        ],
    )


@check(see="Keep what was there: the residual connection")
def check_gradient_factor(attempt: Any) -> None:
    """Judge the factor that a gradient picks up in 12 blocks of two sublayers with a slope of 0.05 each."""
    compare_number(
        attempt,
        1.05**24,
        {
            0.05**24: "that is the stack without residual connections: with them each factor is 1 + 0.05",
            1.05**12: "a block has two sublayers, each with a residual connection of its own",
            1 + 24 * 0.05: "those are the paths through at most one sublayer: the longer ones count too",
            1.1**12: "0.1 is what the two slopes of a block sum to: their product counts as well",
            0.95**24: "the slope is added to 1, not taken from it",
            2 * 1.05**12: "two sublayers a block mean two factors, not twice the product",
        },
        lambda value: (
            f"not {value:g}: what does one sublayer multiply the gradient by, and how many are there?"
        ),
    )


@check(see="The block")
def check_block(attempt: Answer, rng: Generator) -> None:
    """Judge the mended ``block(x, norm, look, work)``: pre-norm, with its straight path."""

    def norm(x: Array) -> Array:
        return layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))

    def look(x: Array) -> Array:
        return softmax(x @ x.T / np.sqrt(x.shape[-1])) @ x

    def work(x: Array) -> Array:
        return 2 * np.roll(np.maximum(0, x - 0.5), 1, axis=-1)

    def stack(step: Callable[..., Array]) -> Answer:
        return lambda x, norm, look, work: step(step(x, norm, look), norm, work)

    def pre_norm(x: Array, norm: Answer, sublayer: Answer) -> Array:
        return x + sublayer(norm(x))

    right = stack(pre_norm)
    compare(
        attempt,
        right,
        {
            "the normed words are what is added to: the straight path carries the words as they came": stack(
                lambda x, norm, sublayer: norm(x) + sublayer(norm(x))
            ),
            "that is post-norm: here the norm stands in front of each sublayer": stack(
                lambda x, norm, sublayer: norm(x + sublayer(x))
            ),
            Hint(
                "nothing is added: the words that came in are lost",
                see="Keep what was there: the residual connection",
            ): stack(lambda x, norm, sublayer: sublayer(norm(x))),
            "no norm is left": stack(lambda x, norm, sublayer: x + sublayer(x)),
            "the norm stands behind the sublayer: it belongs in front": stack(
                lambda x, norm, sublayer: x + norm(sublayer(x))
            ),
            "the feed-forward network is still wrong: treat it as you treated attention": (
                lambda x, norm, look, work: (y := norm(pre_norm(x, norm, look))) + work(y)
            ),
            "attention is still wrong: treat it as you treated the feed-forward network": (
                lambda x, norm, look, work: pre_norm(norm(x) + look(norm(x)), norm, work)
            ),
            "the feed-forward network is handed its words without a norm": (
                lambda x, norm, look, work: (y := pre_norm(x, norm, look)) + work(y)
            ),
            "both sublayers read the same words: the second reads what the first has added": (
                lambda x, norm, look, work: x + look(norm(x)) + work(norm(x))
            ),
            "a norm too many: the one at the end follows the last block only": (
                lambda x, norm, look, work: norm(right(x, norm, look, work))
            ),
            "the feed-forward network stands first: attention does": (
                lambda x, norm, look, work: right(x, norm, work, look)
            ),
        },
        [(sample(rng, *shape), norm, look, work) for shape in ((1, 2), (2, 2), (3, 5))],
    )


@check(see="Counting")
def check_number_of_parameters(attempt: Any) -> None:
    """Judge how many numbers an encoder layer with ``d_model`` 8 and ``d_ff`` 16 learns."""
    attention, network, norms = 4 * (8 * 8 + 8), 2 * 8 * 16 + 16 + 8, 2 * 2 * 8
    total = attention + network + norms
    compare_number(
        attempt,
        total,
        {
            4 * 8 * 8 + 2 * 8 * 16: "those are the matrices: biases and norms are missing",
            total - 4 * 8 - 16 - 8: "the biases are missing: of four projections and two maps",
            total - 16 - 8: "the biases of the feed-forward network are missing",
            total - norms: "32 are missing: the biases of the four projections, or the two norms",
            total
            - norms // 2: "a layer has two norms, and each a scale and a shift: half of that is missing",
            total - 8 * 8 - 8: "one projection is missing: beside W_Q, W_K and W_V there is W_O",
            attention: "that is attention alone",
            network: "that is the feed-forward network alone",
            total + attention + 2 * 8: "that is a decoder layer: an encoder layer attends once",
        },
        lambda value: f"not {value:,.0f}: count attention, feed-forward network and norms one by one",
    )


@check(see="Dropout")
def check_inverted_dropout(attempt: Answer, rng: Generator) -> None:
    """Judge ``inverted_dropout(x, kept, p)``, which drops the numbers that ``kept`` does not mark."""
    compare(
        attempt,
        lambda x, kept, p: x * kept / (1 - p),
        {
            "not scaled up: what is kept must make up for what is dropped": lambda x, kept, p: x * kept,
            "divided by p: a number is kept with probability 1 − p": lambda x, kept, p: x * kept / p,
            "made smaller: divide by 1 − p": lambda x, kept, p: x * kept * (1 - p),
            "the dropped are kept and the kept dropped": lambda x, kept, p: x * ~kept / (1 - p),
            "divided by the share that happened to be kept: then one number's fate changes all others": (
                lambda x, kept, p: x * kept / kept.mean()
            ),
            "nothing is dropped": lambda x, kept, p: x / (1 - p),
            "the dropped stay as they were: dropout sets them to zero": (
                lambda x, kept, p: np.where(kept, x / (1 - p), x)
            ),
            "these are the kept numbers alone: the others are zeros, and keep their places": (
                lambda x, kept, p: x[kept] / (1 - p)
            ),
        },
        [
            (np.array([1.0, 2.0]), np.array([True, False]), 0.2),
            (sample(rng, 2, 2), np.array([[True, False], [True, True]]), 0.4),
            (sample(rng, 3, 5), rng.random((3, 5)) > 0.3, 0.3),
        ],
    )


@check(see="Dropout")
def check_row_std(attempt: Any) -> None:
    """Judge the standard deviation of the sum of four equal weights after dropout with p = 0.2."""
    compare_number(
        attempt,
        0.25,
        {
            0.0625: "that is the variance: its root is asked for",
            math.sqrt(0.2 / 4): "the kept weights are divided by 1 − p: the factor is p / (1 − p), not p",
            0.05: "squared weights times p: divide by 1 − p, and take the root",
            0.5: "√(p / (1 − p)) alone: the weights play a part, squared",
            1.0: "that is the mean: how far do the sums lie from it?",
            0.125: "that is how one weight varies: four of them vary independently",
            0.2: "without the division by 1 − p the kept weights do not make up for the dropped",
        },
        lambda value: f"not {value:g}: add the variances of four weights, each 0 or 0.25 / 0.8",
    )


@check(see="What it forgets")
def check_norm_gradient(attempt: Answer, rng: Generator) -> None:
    """Judge ``norm_gradient(grad, x)``: the gradient of x, with a scale of ones, along the last axis."""

    def biased(centred: Array) -> Array:
        return (centred**2).mean(axis=-1, keepdims=True)

    def slip(
        formula: Callable[..., Array],
        root: Callable[[Array], Array] = lambda centred: np.sqrt(biased(centred) + 1e-5),
        axis: int | None = -1,
    ) -> Answer:
        def run(grad: Array, x: Array) -> Array:
            centred = x - x.mean(axis=-1, keepdims=True)
            normed = centred / root(centred)
            along = normed * (grad * normed).mean(axis=axis, keepdims=True)
            return formula(grad, grad.mean(axis=axis, keepdims=True), along, root(centred))

        return run

    def rightly(g: Array, m: Array, a: Array, s: Array) -> Array:
        return (g - m - a) / s

    compare(
        attempt,
        lambda grad, x: layer_norm_backward(grad, x, np.ones(x.shape[-1]))[0],
        {
            "mean and variance are taken as constants: they move with x": slip(lambda g, m, a, s: g / s),
            "the variance is taken as a constant: the part along the normed word goes, too": slip(
                lambda g, m, a, s: (g - m) / s
            ),
            "the mean is taken as a constant: it moves with x": slip(lambda g, m, a, s: (g - a) / s),
            "not divided by the root: a long word's numbers move its norm less": slip(
                lambda g, m, a, s: g - m - a
            ),
            "multiplied by the root: it divides": slip(lambda g, m, a, s: (g - m - a) * s),
            "summed, not averaged: the part along the normed word is a mean": slip(
                lambda g, m, a, s: (g - m - a * g.shape[-1]) / s
            ),
            "summed, not averaged: the mean that is taken away is one of d numbers": slip(
                lambda g, m, a, s: (g - m * g.shape[-1] - a) / s
            ),
            "the means are those of all words: each word, a row, has its own": slip(rightly, axis=None),
            Hint("ε stands beside the root: it belongs inside", see="Two details"): slip(
                rightly, lambda centred: np.sqrt(biased(centred)) + 1e-5
            ),
            Hint("there is no ε: a small variance shows it", see="Two details"): slip(
                rightly, lambda centred: np.sqrt(biased(centred))
            ),
            Hint("divided by d − 1: layer norm divides the sum of squares by d", see="Two details"): slip(
                rightly,
                lambda centred: np.sqrt(biased(centred) * centred.shape[-1] / (centred.shape[-1] - 1) + 1e-5),
            ),
            "the sign of a part is turned: both are taken away": slip(lambda g, m, a, s: (g + m + a) / s),
        },
        [
            (np.array([[1.0, 0.0, 0.0]]), np.array([[1.0, 2.0, 6.0]])),
            (sample(rng, 2, 3), sample(rng, 2, 3) / 100),
            (sample(rng, 3, 3), sample(rng, 3, 3)),
            (sample(rng, 3, 5), 3 * sample(rng, 3, 5)),
        ],
    )

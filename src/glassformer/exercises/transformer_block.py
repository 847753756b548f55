"""Checks for the exercises on the Transformer block."""

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


@check(see="Two easy mistakes")
def check_my_layer_norm(attempt: Answer, rng: Generator) -> None:
    """Check ``my_layer_norm(x, scale, shift)``: layer norm along the last axis."""

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
            "you divide by d − 1; layer norm divides the sum of squares by d": with_root(
                lambda centred: np.sqrt(unbiased(centred) + 1e-5)
            ),
            "you add ε outside the root; it belongs inside": with_root(
                lambda centred: np.sqrt(biased(centred)) + 1e-5
            ),
            "two mistakes: you divide by d − 1, and you add ε outside the root": with_root(
                lambda centred: np.sqrt(unbiased(centred)) + 1e-5
            ),
            "yours is NaN for a word whose numbers are all equal: its variance is 0, without ε": with_root(
                lambda centred: np.sqrt(biased(centred))
            ),
            "your ε is not 1e-5": with_root(lambda centred: np.sqrt(biased(centred) + 1e-6)),
            "two mistakes: you use one mean and one variance for all words, and no ε": with_root(
                lambda centred: np.sqrt(biased(centred, None)), axis=None
            ),
            "two mistakes: you divide by d − 1, and there is no ε for a word of equal numbers": with_root(
                lambda centred: np.sqrt(unbiased(centred))
            ),
            "you divide by the variance; divide by its root": with_root(
                lambda centred: biased(centred) + 1e-5
            ),
            Hint(
                "you normalise the columns; each word, a row, has its own mean and variance",
                see="Keep the scale in check: layer norm",
            ): with_root(lambda centred: np.sqrt(biased(centred, 0) + 1e-5), axis=0),
            Hint(
                "you use one mean and one variance for all words; each word has its own",
                see="Keep the scale in check: layer norm",
            ): with_root(lambda centred: np.sqrt(biased(centred, None) + 1e-5), axis=None),
            Hint(
                "you divide correctly, but do not subtract the mean",
                see="Keep the scale in check: layer norm",
            ): (lambda x, scale, shift: scale * x / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + shift),
            Hint(
                "you never subtract the mean, not even in the variance",
                see="Keep the scale in check: layer norm",
            ): (lambda x, scale, shift: scale * x / np.sqrt(biased(x) + 1e-5) + shift),
            Hint("your scale and shift have no effect", see="Keep the scale in check: layer norm"): plain,
            "you scale and shift before you normalise, which undoes half of it": (
                lambda x, scale, shift: plain(scale * x + shift, scale, shift)
            ),
            "you scale the shift too; scale first, then shift": (
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
    """Check the factor of a gradient through 12 blocks of two residual sublayers with slope 0.05."""
    compare_number(
        attempt,
        1.05**24,
        {
            0.05**24: "that is the stack without residual connections; with them each factor is 1 + 0.05",
            1.05**12: "you counted one sublayer per block; it has two, each with a residual connection",
            1 + 24 * 0.05: "you counted the paths through at most one sublayer; the longer ones count too",
            1.1**12: "you added the two slopes of a block; their product counts as well",
            0.95**24: "you subtracted the slope from 1; add it",
            2 * 1.05**12: "you doubled the product; two sublayers in a block mean two factors",
        },
        lambda value: (
            f"yours is {value:g}: what does one sublayer multiply the gradient by, and how many are there?"
        ),
    )


@check(see="The block")
def check_block(attempt: Answer, rng: Generator) -> None:
    """Check the fixed ``block(x, norm, attention, network)``: pre-norm with a residual path."""

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
            "you add to the normalised words; the residual path should carry the words unchanged": stack(
                lambda x, norm, sublayer: norm(x) + sublayer(norm(x))
            ),
            "yours is post-norm; here the norm comes before each sublayer": stack(
                lambda x, norm, sublayer: norm(x + sublayer(x))
            ),
            Hint(
                "you add nothing back, so the words that came in are lost",
                see="Keep what was there: the residual connection",
            ): stack(lambda x, norm, sublayer: sublayer(norm(x))),
            "you removed the norms": stack(lambda x, norm, sublayer: x + sublayer(x)),
            "you normalise after the sublayer; normalise before it": stack(
                lambda x, norm, sublayer: x + norm(sublayer(x))
            ),
            "your feed-forward sublayer is still wrong; treat it like your attention": (
                lambda x, norm, look, work: (y := norm(pre_norm(x, norm, look))) + work(y)
            ),
            "your attention is still wrong; treat it like your feed-forward sublayer": (
                lambda x, norm, look, work: pre_norm(norm(x) + look(norm(x)), norm, work)
            ),
            "your feed-forward network gets its words without a norm": (
                lambda x, norm, look, work: (y := pre_norm(x, norm, look)) + work(y)
            ),
            "your sublayers both read the same words; the second should read the result of the first": (
                lambda x, norm, look, work: x + look(norm(x)) + work(norm(x))
            ),
            "you have one norm too many: the final norm follows the last block only": (
                lambda x, norm, look, work: norm(right(x, norm, look, work))
            ),
            "your feed-forward network comes first; attention should": (
                lambda x, norm, look, work: right(x, norm, work, look)
            ),
        },
        [(sample(rng, *shape), norm, look, work) for shape in ((1, 2), (2, 2), (3, 5))],
    )


@check(see="Counting")
def check_number_of_parameters(attempt: Any) -> None:
    """Check the number of parameters of an encoder layer with ``d_model`` 8 and ``d_ff`` 16."""
    attention, network, norms = 4 * (8 * 8 + 8), 2 * 8 * 16 + 16 + 8, 2 * 2 * 8
    total = attention + network + norms
    compare_number(
        attempt,
        total,
        {
            4 * 8 * 8 + 2 * 8 * 16: "you counted only the matrices; biases and norms are missing",
            total - 4 * 8 - 16 - 8: "you left out the biases of four projections and two linear maps",
            total - 16 - 8: "you left out the biases of the feed-forward network",
            total - norms: "yours is short by 32: the biases of the four projections, or the two norms",
            total - norms // 2: "you counted half of the norms: there are two, each with scale and shift",
            total - 8 * 8 - 8: "you left out one projection: besides W_Q, W_K and W_V there is W_O",
            attention: "that is attention alone",
            network: "that is the feed-forward network alone",
            total + attention + 2 * 8: "that is a decoder layer; an encoder layer attends once",
        },
        lambda value: f"yours is {value:,.0f}: count attention, feed-forward network and norms one by one",
    )


@check(see="Dropout")
def check_inverted_dropout(attempt: Answer, rng: Generator) -> None:
    """Check ``inverted_dropout(x, kept, p)``: inverted dropout with the mask ``kept``."""
    compare(
        attempt,
        lambda x, kept, p: x * kept / (1 - p),
        {
            "you do not scale up; the kept numbers must make up for the dropped ones": lambda x, kept, p: (
                x * kept
            ),
            "you divide by p; a number is kept with probability 1 − p": lambda x, kept, p: x * kept / p,
            "you multiply by 1 − p; divide by it": lambda x, kept, p: x * kept * (1 - p),
            "your mask is inverted: you drop the numbers to be kept": lambda x, kept, p: x * ~kept / (1 - p),
            "you divide by the share that happened to be kept, so one dropped number changes all others": (
                lambda x, kept, p: x * kept / kept.mean()
            ),
            "you drop nothing": lambda x, kept, p: x / (1 - p),
            "your dropped numbers are unchanged; dropout sets them to zero": (
                lambda x, kept, p: np.where(kept, x / (1 - p), x)
            ),
            "you return only the kept numbers; the others should stay in place as zeros": (
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
    """Check the standard deviation of the sum of four equal weights after dropout with p = 0.2."""
    compare_number(
        attempt,
        0.25,
        {
            0.0625: "that is the variance; take its root",
            math.sqrt(0.2 / 4): "your factor is p; dividing by 1 − p makes it p / (1 − p)",
            0.05: "you multiplied squared weights by p; divide by 1 − p, and take the root",
            0.5: "yours is √(p / (1 − p)) alone; the squared weights count too",
            1.0: "that is the mean; how far do the sums lie from it?",
            0.125: "that is the standard deviation of one weight; four of them vary independently",
            0.2: "you left out the division by 1 − p",
        },
        lambda value: f"yours is {value:g}: add the variances of four weights, each 0 or 0.25 / 0.8",
    )


@check(see="Two easy mistakes")
def check_norm_gradient(attempt: Answer, rng: Generator) -> None:
    """Check ``norm_gradient(grad, x)``: gradient of layer norm with a scale of ones."""

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

    def correct(g: Array, m: Array, a: Array, s: Array) -> Array:
        return (g - m - a) / s

    compare(
        attempt,
        lambda grad, x: layer_norm_backward(grad, x, np.ones(x.shape[-1]))[0],
        {
            "you treat mean and variance as constants; they depend on x": slip(lambda g, m, a, s: g / s),
            "you treat the variance as a constant; subtract the part along the normalised word too": slip(
                lambda g, m, a, s: (g - m) / s
            ),
            "you treat the mean as a constant; it depends on x": slip(lambda g, m, a, s: (g - a) / s),
            "you do not divide by the root: the more a word varies, the less its norm moves": slip(
                lambda g, m, a, s: g - m - a
            ),
            "you multiply by the root; divide by it": slip(lambda g, m, a, s: (g - m - a) * s),
            "you sum the part along the normalised word; take the mean": slip(
                lambda g, m, a, s: (g - m - a * g.shape[-1]) / s
            ),
            "you subtract the sum of the gradient; subtract its mean": slip(
                lambda g, m, a, s: (g - m * g.shape[-1] - a) / s
            ),
            "your means are over all words; each word, a row, has its own": slip(correct, axis=None),
            Hint("you add ε outside the root; it belongs inside", see="Two easy mistakes"): slip(
                correct, lambda centred: np.sqrt(biased(centred)) + 1e-5
            ),
            Hint("yours lacks the ε, which shows at a small variance", see="Two easy mistakes"): slip(
                correct, lambda centred: np.sqrt(biased(centred))
            ),
            Hint(
                "you divide by d − 1; layer norm divides the sum of squares by d", see="Two easy mistakes"
            ): slip(
                correct,
                lambda centred: np.sqrt(biased(centred) * centred.shape[-1] / (centred.shape[-1] - 1) + 1e-5),
            ),
            "your sign of one part is wrong; both are subtracted": slip(lambda g, m, a, s: (g + m + a) / s),
        },
        [
            (np.array([[1.0, 0.0, 0.0]]), np.array([[1.0, 2.0, 6.0]])),
            (sample(rng, 2, 3), sample(rng, 2, 3) / 100),
            (sample(rng, 3, 3), sample(rng, 3, 3)),
            (sample(rng, 3, 5), 3 * sample(rng, 3, 5)),
        ],
    )

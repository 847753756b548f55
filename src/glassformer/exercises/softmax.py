"""Checks for the exercises on the softmax."""

import math
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, Hint, compare, compare_number, sample
from glassformer.reference.attention import attention_weights
from glassformer.reference.masks import causal_mask
from glassformer.reference.softmax import log_softmax, softmax, softmax_backward


@check(see="Overflow, and the shift that prevents it")
def check_stable_softmax(attempt: Answer, rng: Generator) -> None:
    """Check ``stable_softmax(x)``: weights along the last axis."""
    compare(
        attempt,
        softmax,
        {
            "your columns sum to one; the weights along the last axis should": lambda x: softmax(x, axis=0),
            "you return the logarithms of the weights": log_softmax,
            "all your weights together sum to one; each row should": lambda x: softmax(x.reshape(-1)).reshape(
                x.shape
            ),
            Hint("your weights do not sum to one", see="Five requirements"): lambda x: np.exp(
                x - x.max(axis=-1, keepdims=True)
            ),
        },
        _rows(rng),
    )
    compare(
        attempt,
        softmax,
        {
            "yours overflows: exp(1000) is infinite": lambda x: _normalised(np.exp(x)),
            "you subtract the largest score of all rows from every row; a row far below it becomes 0 / 0": (
                lambda x: _normalised(np.exp(x - x.max()))
            ),
            "you subtract the smallest score; scores far above it still overflow": (
                lambda x: _normalised(np.exp(x - x.min(axis=-1, keepdims=True)))
            ),
            "you subtract the mean; scores far above it still overflow": (
                lambda x: _normalised(np.exp(x - x.mean(axis=-1, keepdims=True)))
            ),
        },
        [
            (np.array(x),)
            for x in (
                [1000.0],
                [0.0, 1000.0],
                [0.0, 2000.0],
                [1999.0, 2000.0],
                [[0.0, 1.0], [1999.0, 2000.0]],
            )
        ],
    )


@check(see="Temperature")
def check_temperature(attempt: Any) -> None:
    """Check the temperature at which a lead of 3 gives odds of 2 to 1."""
    compare_number(
        attempt,
        3 / math.log(2),
        {
            math.log(2)
            / 3: "yours is the reciprocal: temperatures below one sharpen, but here odds must fall",
            3 / 2: "you took the lead divided by the temperature; the odds are the exponential of that",
            3 * math.log(2): "you multiplied; the lead is divided by the temperature",
            3 / math.log10(2): "you used the logarithm to base ten; use the natural logarithm",
            3: "at a temperature of 3 the odds are e to 1, not 2 to 1",
            math.exp(3) / 2: "that is the factor by which the odds fall; the temperature divides the lead",
        },
        lambda value: (
            f"at temperature {value:g} the odds are {math.exp(min(3 / value, 700)):.3g} to 1, expected 2 to 1"
            if value > 0
            else f"a temperature must be positive, yours is {value:g}"
        ),
    )


@check(see="Overflow, and the shift that prevents it")
def check_my_log_softmax(attempt: Answer, rng: Generator) -> None:
    """Check ``my_log_softmax(x)``: log-softmax along the last axis."""
    compare(
        attempt,
        log_softmax,
        {
            "you return the weights; return their logarithms": softmax,
            "your columns are normalised; normalise along the last axis": lambda x: log_softmax(x, axis=0),
            "your sign is wrong: a weight is at most one, so its logarithm is not positive": lambda x: (
                -log_softmax(x)
            ),
            "you subtract the largest score only inside the exponential; subtract it from x too": (
                lambda x: x - np.log(np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True))
            ),
            "you do not subtract the logarithm of the sum": lambda x: x - x.max(axis=-1, keepdims=True),
            "you subtract the sum, not its logarithm": lambda x: x - np.exp(x).sum(axis=-1, keepdims=True),
        },
        _rows(rng),
    )
    compare(
        attempt,
        log_softmax,
        {
            "yours is −∞ for small weights: they underflow to zero before you take the logarithm": (
                lambda x: np.log(softmax(x))
            ),
            "your sum of exponentials overflows": lambda x: x - np.log(np.exp(x).sum(axis=-1, keepdims=True)),
            "yours overflows: exp(1000) is infinite": lambda x: np.log(_normalised(np.exp(x))),
        },
        [(np.array([0.0, -1000.0]),), (np.array([[0.0, 1000.0], [1000.0, 1001.0]]),)],
    )


@check(see="Leaving keys out")
def check_masked_softmax(attempt: Answer, rng: Generator) -> None:
    """Check ``masked_softmax(x, attn_mask)``: weights along the last axis, zero where the mask is False."""

    def right(x: Array, attn_mask: Array) -> Array:
        return softmax(x, where=attn_mask)

    def fill(number: float) -> Answer:
        return lambda x, mask: softmax(np.where(mask, x, number))

    compare(
        attempt,
        right,
        {
            "your mask has no effect": lambda x, mask: softmax(x),
            "your mask is inverted: True means that a query may attend": lambda x, mask: softmax(
                x, where=~mask
            ),
            "you mask after the softmax, so rows no longer sum to one": lambda x, mask: softmax(x) * mask,
            "you set scores to zero, but exp(0) is one: a score of zero is not a weight of zero": fill(0.0),
            "you multiply the scores by the mask, which makes them zero, but exp(0) is one": (
                lambda x, mask: softmax(x * mask)
            ),
            "your columns sum to one; the weights along the last axis should": (
                lambda x, mask: softmax(x, axis=0, where=mask)
            ),
        },
        [
            (np.array([0.5]), np.array([True])),
            (np.array([1.0, 2.0]), np.array([True, False])),
            (sample(rng, 2, 2), causal_mask(2)),
            (sample(rng, 3, 5), np.arange(5) > np.array([[1], [-1], [3]])),
        ],
    )
    compare(
        attempt,
        right,
        {
            "your masked key leaks: its fill is the row's largest score; only −∞ is below all": fill(-1e9),
            "your weights underflow to 0: shift by the largest score that the mask allows": (
                lambda x, mask: np.zeros_like(x)
            ),
        },
        [(np.array([-3e9, 0.0]), np.array([True, False]))],
    )
    compare(
        attempt,
        right,
        {
            Hint(
                "yours is NaN for a query that may attend to nothing: 0 / 0",
                see="Leaving keys out",
            ): (lambda x, mask: np.where(mask.any(-1, keepdims=True), right(x, mask), np.nan)),
            Hint(
                "your query that may attend to nothing attends evenly to masked keys",
                see="Leaving keys out",
            ): fill(-1e30),
            Hint(
                "your query that may attend to nothing attends as if there were no mask",
                see="Leaving keys out",
            ): (lambda x, mask: softmax(x, where=mask | ~mask.any(-1, keepdims=True))),
        },
        [(np.array([[2.0, 1.0], [2.0, 1.0]]), np.array([[True, False], [False, False]]))],
    )


@check(see="Leaving keys out")
def check_attend(attempt: Answer, rng: Generator) -> None:
    """Check the fixed ``attend(query, key, value, attn_mask)``: attended values."""

    def attend(axis: int = -1, late: bool = False, scale: bool = True) -> Answer:
        def run(query: Array, key: Array, value: Array, attn_mask: Array) -> Array:
            query = query if scale else query * np.sqrt(query.shape[-1])
            scores = query @ key.T / np.sqrt(query.shape[-1])
            weights = softmax(scores, axis) * attn_mask if late else softmax(scores, axis, where=attn_mask)
            return weights @ value

        return run

    compare(
        attempt,
        lambda query, key, value, mask: attention_weights(query, key, mask) @ value,
        {
            "both bugs are still there: look at the sum of each row of weights": attend(axis=0, late=True),
            "your softmax runs over the queries; each row, one query's weights, should sum to one": attend(
                axis=0
            ),
            "you mask after the softmax, when the masked keys have already taken their share": attend(
                late=True
            ),
            "your mask has no effect": lambda query, key, value, mask: attention_weights(query, key) @ value,
            "your mask is inverted: True means that a query may attend": (
                lambda query, key, value, mask: attention_weights(query, key, ~mask) @ value
            ),
            "you set scores to zero, but exp(0) is one: a score of zero is not a weight of zero": (
                lambda query, key, value, mask: softmax(query @ key.T / np.sqrt(3) * mask) @ value
            ),
            "your scores are no longer divided by √d_k": attend(scale=False),
        },
        [
            (sample(rng, len(mask), 3), *sample(rng, 2, mask.shape[1], 3), mask)
            for mask in (causal_mask(1), causal_mask(2)[:1], causal_mask(2), causal_mask(5))
        ],
    )


@check(see="The gradient by hand")
def check_softmax_gradient(attempt: Answer, rng: Generator) -> None:
    """Check ``softmax_gradient(grad_weights, weights)``: the gradient of the scores."""

    def mean(grad: Array, weights: Array) -> Array:
        return (weights * grad).sum(axis=-1, keepdims=True)

    shapes = ((1,), (2,), (2, 2), (3, 5))
    compare(
        attempt,
        softmax_backward,
        {
            "you use only the diagonal of the Jacobian; a score also moves the weights of all the others": (
                lambda g, w: w * (1 - w) * g
            ),
            "you do not subtract the weighted mean; gradient rows should sum to zero": lambda g, w: w * g,
            "you subtract the plain mean; subtract the weighted mean": lambda g, w: (
                w * (g - g.mean(axis=-1, keepdims=True))
            ),
            "you subtract the plain sum; subtract the weighted mean": lambda g, w: (
                w * (g - g.sum(axis=-1, keepdims=True))
            ),
            "you do not multiply by the weights": lambda g, w: g - mean(g, w),
            "your sign is wrong": lambda g, w: w * (mean(g, w) - g),
            "your weights and their gradients are swapped": lambda g, w: g * (w - mean(g, w)),
            "your mean is over all rows; each row has its own": lambda g, w: w * (g - (w * g).sum()),
        },
        [(sample(rng, *shape), softmax(sample(rng, *shape)).round(2)) for shape in shapes],
    )


@check(see="The softmax cannot stay sharp")
def check_longest_row(attempt: Any) -> None:
    """Check the largest number of keys at which a lead of 5 still has at least half of the weight."""
    compare_number(
        attempt,
        149,
        {
            148: "you did not count the leader itself",
            150: "one too many: find the last length at which the weight is at least half",
            math.exp(5): "that many competing keys match the leader; count the leader too, in whole keys",
            math.exp(5) + 1: "close, but the number of keys is whole",
            10: "a lead of 5 means exp(5) times the weight, not five times",
            32: "each unit of lead multiplies the weight by e, not by 2",
            297: "you counted the competing keys twice: all weights sum to one, so they hold the other half",
        },
        lambda value: (
            f"among {value:g} keys the leader has a weight of {_leader_weight(value):.3f}; find the largest "
            "number of keys for which it is at least one half"
            if value >= 1
            else f"a row has at least one key, yours has {value:g}"
        ),
    )


@check(see="A softmax that never sees the whole row")
def check_stream_step(attempt: Answer, rng: Generator) -> None:
    """Check ``stream_step(peak, total, block)``: peak and total of a streaming softmax."""

    def right(peak: float, total: float, block: Array) -> tuple[float, float]:
        return step(peak, total, block, max(peak, block.max()))

    def step(peak: float, total: float, block: Array, new: float, sign: int = 1) -> tuple[float, float]:
        return new, total * np.exp(sign * (peak - new)) + np.exp(block - new).sum()

    def unscaled(peak: float, total: float, block: Array) -> tuple[float, float]:
        new = max(peak, block.max())
        return new, total + np.exp(block - new).sum()

    def rescaled_wrongly(peak: float, total: float, block: Array) -> tuple[float, float]:
        return step(peak, total, block, max(peak, block.max()), sign=-1)

    start = (-np.inf, 0.0)
    compare(
        attempt,
        right,
        {
            "you do not rescale the old total, which was computed with the old peak": unscaled,
            "you rescale the total the wrong way: when the peak rises, it must shrink": (
                lambda peak, total, block: (rescaled_wrongly if total else right)(peak, total, block)
            ),
            "you rescale the total the wrong way, and at the start 0 · exp(∞) is NaN": rescaled_wrongly,
            "you shift the block by its own peak; shift everything by the new peak": (
                lambda peak, total, block: (
                    (new := max(peak, block.max())),
                    total * np.exp(peak - new) + np.exp(block - block.max()).sum(),
                )
            ),
            "you forget the old peak; the new one is the larger of the two": (
                lambda peak, total, block: step(peak, total, block, block.max())
            ),
            "you do not raise the peak; the block may hold a higher score": (
                lambda peak, total, block: (peak, total + np.exp(block - peak).sum())
            ),
            "you forget the old total and count only the block": (
                lambda peak, total, block: step(peak, 0.0, block, max(peak, block.max()))
            ),
            "you do not shift by the peak, so a score of 1000 overflows": (
                lambda peak, total, block: (max(peak, block.max()), total + np.exp(block).sum())
            ),
            "your results are swapped: peak first, then total": (
                lambda peak, total, block: right(peak, total, block)[::-1]
            ),
        },
        [
            (*start, np.array([1.0])),
            (2.0, 1.5, -np.abs(sample(rng, 2))),
            (1.0, 1.5, 3 + sample(rng, 3)),
            (*start, np.array([1000.0, 999.0])),
        ],
    )


def _rows(rng: Generator) -> list[tuple[Array]]:
    return [(sample(rng, *shape),) for shape in ((1,), (2,), (2, 2), (2, 3, 5))]


def _leader_weight(keys: float) -> float:
    return math.exp(5) / (math.exp(5) + keys - 1)


def _normalised(exponentials: Array) -> Array:
    return exponentials / exponentials.sum(axis=-1, keepdims=True)

"""Checks for the exercises on turning scores into weights."""

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


@check(see="It overflows, until it is shifted")
def check_stable_softmax(attempt: Answer, rng: Generator) -> None:
    """Judge ``stable_softmax(x)``, which returns the weights along the last axis."""
    compare(
        attempt,
        softmax,
        {
            "each column sums to one: the weights belong to the last axis": lambda x: softmax(x, axis=0),
            "these are the logarithms of the weights": log_softmax,
            "all rows together sum to one: each should": lambda x: softmax(x.reshape(-1)).reshape(x.shape),
            Hint("the weights do not sum to one", see="Five wishes"): lambda x: np.exp(
                x - x.max(axis=-1, keepdims=True)
            ),
        },
        _rows(rng),
    )
    compare(
        attempt,
        softmax,
        {
            "overflows: exp(1000) is infinite": lambda x: _normalised(np.exp(x)),
            "the largest score of all rows is subtracted from every row: a row far below it turns to 0 / 0": (
                lambda x: _normalised(np.exp(x - x.max()))
            ),
            "the smallest score is subtracted: what is far above it still overflows": (
                lambda x: _normalised(np.exp(x - x.min(axis=-1, keepdims=True)))
            ),
            "the mean is subtracted: what is far above it still overflows": (
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
    """Judge the temperature at which a lead of 3 means odds of 2 to 1."""
    compare_number(
        attempt,
        3 / math.log(2),
        {
            math.log(2) / 3: "upside down: a temperature below one would sharpen, here the odds must fall",
            3 / 2: "the odds are not the lead divided by the temperature, but exp of that",
            3 * math.log(2): "multiplied: the lead is divided by the temperature",
            3 / math.log10(2): "that is the logarithm to base ten: exp goes with the natural one",
            3: "that makes the odds e to 1: the logarithm of 2 is not 1",
            math.exp(3) / 2: "that is by how much the odds must fall: the temperature stands inside exp",
        },
        lambda value: (
            f"at temperature {value:g} the odds are {math.exp(min(3 / value, 700)):.3g} to 1, wanted 2 to 1"
            if value > 0
            else f"a temperature is above zero, got {value:g}"
        ),
    )


@check(see="It overflows, until it is shifted")
def check_my_log_softmax(attempt: Answer, rng: Generator) -> None:
    """Judge ``my_log_softmax(x)``, which returns the logarithms of the weights along the last axis."""
    compare(
        attempt,
        log_softmax,
        {
            "these are the weights: their logarithms are asked for": softmax,
            "each column is normalised: the weights belong to the last axis": lambda x: log_softmax(
                x, axis=0
            ),
            "the sign is turned: a weight is at most one": lambda x: -log_softmax(x),
            "the largest score is subtracted under the exponential only: subtract it from x, too": (
                lambda x: x - np.log(np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True))
            ),
            "the logarithm of the sum is missing": lambda x: x - x.max(axis=-1, keepdims=True),
            "the sum is subtracted, not its logarithm": (lambda x: x - np.exp(x).sum(axis=-1, keepdims=True)),
        },
        _rows(rng),
    )
    compare(
        attempt,
        log_softmax,
        {
            "−∞ for a small weight: it has become zero before its logarithm is taken": (
                lambda x: np.log(softmax(x))
            ),
            "the sum of exponentials overflows": (
                lambda x: x - np.log(np.exp(x).sum(axis=-1, keepdims=True))
            ),
            "overflows: exp(1000) is infinite": lambda x: np.log(_normalised(np.exp(x))),
        },
        [(np.array([0.0, -1000.0]),), (np.array([[0.0, 1000.0], [1000.0, 1001.0]]),)],
    )


@check(see="A mask is not a large negative number")
def check_masked_softmax(attempt: Answer, rng: Generator) -> None:
    """Judge ``masked_softmax(x, attn_mask)``: weights along the last axis, none where the mask is False."""

    def right(x: Array, attn_mask: Array) -> Array:
        return softmax(x, where=attn_mask)

    def fill(number: float) -> Answer:
        return lambda x, mask: softmax(np.where(mask, x, number))

    compare(
        attempt,
        right,
        {
            "the mask plays no part": lambda x, mask: softmax(x),
            "the mask is turned: True means may look": lambda x, mask: softmax(x, where=~mask),
            "masked after the softmax: what is left of the row no longer sums to one": (
                lambda x, mask: softmax(x) * mask
            ),
            "a score of zero is not a weight of zero: exp(0) is one": fill(0.0),
            "the scores are multiplied by the mask, which makes them zero: exp(0) is one": (
                lambda x, mask: softmax(x * mask)
            ),
            "each column sums to one: the weights belong to the last axis": (
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
            "leaks: here the fill is the largest score of its row. Only −∞ is below every score": fill(-1e9),
            "underflows to 0: shift by the largest of the scores that may be looked at": (
                lambda x, mask: np.zeros_like(x)
            ),
        },
        [(np.array([-3e9, 0.0]), np.array([True, False]))],
    )
    compare(
        attempt,
        right,
        {
            Hint("NaN for a query that may look at nothing: 0 / 0", see="It cannot look at nothing"): (
                lambda x, mask: np.where(mask.any(-1, keepdims=True), right(x, mask), np.nan)
            ),
            Hint(
                "a query that may look at nothing attends evenly to what is forbidden",
                see="It cannot look at nothing",
            ): fill(-1e30),
            Hint(
                "a query that may look at nothing attends as if there were no mask",
                see="It cannot look at nothing",
            ): (lambda x, mask: softmax(x, where=mask | ~mask.any(-1, keepdims=True))),
        },
        [(np.array([[2.0, 1.0], [2.0, 1.0]]), np.array([[True, False], [False, False]]))],
    )


@check(see="A mask is not a large negative number")
def check_attend(attempt: Answer, rng: Generator) -> None:
    """Judge the mended ``attend(query, key, value, attn_mask)``, which returns the attended values."""

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
            "two bugs are still in it: look at the sum of each row of weights": attend(axis=0, late=True),
            "the softmax runs over the queries: the weights of one query, a row, sum to one": attend(axis=0),
            "masked after the softmax: the forbidden keys have already taken their share": attend(late=True),
            "the mask plays no part any more": (
                lambda query, key, value, mask: attention_weights(query, key) @ value
            ),
            "the mask is turned: True means that a query may look": (
                lambda query, key, value, mask: attention_weights(query, key, ~mask) @ value
            ),
            "a score of zero is not a weight of zero: exp(0) is one": (
                lambda query, key, value, mask: softmax(query @ key.T / np.sqrt(3) * mask) @ value
            ),
            "the scores are no longer divided by √d_k": attend(scale=False),
        },
        [
            (sample(rng, len(mask), 3), *sample(rng, 2, mask.shape[1], 3), mask)
            for mask in (causal_mask(1), causal_mask(2)[:1], causal_mask(2), causal_mask(5))
        ],
    )


@check(see="The gradient by hand")
def check_softmax_gradient(attempt: Answer, rng: Generator) -> None:
    """Judge ``softmax_gradient(grad_weights, weights)``, which returns the gradient of the scores."""

    def mean(grad: Array, weights: Array) -> Array:
        return (weights * grad).sum(axis=-1, keepdims=True)

    shapes = ((1,), (2,), (2, 2), (3, 5))
    compare(
        attempt,
        softmax_backward,
        {
            "only the diagonal of the Jacobian: a score moves the weights of all the others too": (
                lambda g, w: w * (1 - w) * g
            ),
            "the weighted mean is not subtracted: a row of gradients sums to zero": (lambda g, w: w * g),
            "the plain mean is subtracted": lambda g, w: w * (g - g.mean(axis=-1, keepdims=True)),
            "the plain sum is subtracted": lambda g, w: w * (g - g.sum(axis=-1, keepdims=True)),
            "a factor is missing: the weight": lambda g, w: g - mean(g, w),
            "the sign is turned": lambda g, w: w * (mean(g, w) - g),
            "the weights and their gradients have changed places": lambda g, w: g * (w - mean(g, w)),
            "the mean is over all rows: each has its own": lambda g, w: w * (g - (w * g).sum()),
        },
        [(sample(rng, *shape), softmax(sample(rng, *shape)).round(2)) for shape in shapes],
    )


@check(see="It cannot stay sharp")
def check_longest_row(attempt: Any) -> None:
    """Judge how many keys, the winner among them, a lead of 5 can bear before its weight falls below half."""
    compare_number(
        attempt,
        149,
        {
            148: "the winner is a key too",
            150: "one too many: the last length at which the weight is at least half is wanted",
            math.exp(5): "that many rivals weigh as much as the winner: count the winner, in whole keys",
            math.exp(5) + 1: "the right place, but keys come whole",
            10: "a lead of 5 is not five times the weight, but exp(5) times",
            32: "each unit of lead multiplies by e, not by 2",
            297: "all keys together weigh one, so the rivals have the other half: count them once",
        },
        lambda value: (
            f"among {value:g} keys the winner has a weight of {_winner(value):.3f}; wanted: the last "
            "number of keys for which it is at least a half"
            if value >= 1
            else f"a row has at least one key, got {value:g}"
        ),
    )


@check(see="A softmax that never sees the whole row")
def check_stream_step(attempt: Answer, rng: Generator) -> None:
    """Judge ``stream_step(peak, total, block)``, which returns the peak and the total after the block."""

    def right(peak: float, total: float, block: Array) -> tuple[float, float]:
        return step(peak, total, block, max(peak, block.max()))

    def step(peak: float, total: float, block: Array, new: float, turn: int = 1) -> tuple[float, float]:
        return new, total * np.exp(turn * (peak - new)) + np.exp(block - new).sum()

    def unscaled(peak: float, total: float, block: Array) -> tuple[float, float]:
        new = max(peak, block.max())
        return new, total + np.exp(block - new).sum()

    def enlarged(peak: float, total: float, block: Array) -> tuple[float, float]:
        return step(peak, total, block, max(peak, block.max()), turn=-1)

    start = (-np.inf, 0.0)
    compare(
        attempt,
        right,
        {
            "the total so far is not rescaled: it was counted from the old peak": unscaled,
            "the total is rescaled the wrong way: when the peak rises, it must shrink": (
                lambda peak, total, block: (enlarged if total else right)(peak, total, block)
            ),
            "the total is rescaled the wrong way, and at the start 0 · exp(∞) is NaN": enlarged,
            "the block is counted from its own peak: all must be counted from the new one": (
                lambda peak, total, block: (
                    (new := max(peak, block.max())),
                    total * np.exp(peak - new) + np.exp(block - block.max()).sum(),
                )
            ),
            "the old peak is forgotten: the new one is the largest of both": (
                lambda peak, total, block: step(peak, total, block, block.max())
            ),
            "the peak is not raised: the block may hold a higher score": (
                lambda peak, total, block: (peak, total + np.exp(block - peak).sum())
            ),
            "the total so far is forgotten: only the block is counted": (
                lambda peak, total, block: step(peak, 0.0, block, max(peak, block.max()))
            ),
            "the exponentials are not counted from the peak: a score of 1000 overflows": (
                lambda peak, total, block: (max(peak, block.max()), total + np.exp(block).sum())
            ),
            "the other way round: the peak comes first, then the total": (
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


def _winner(keys: float) -> float:
    return math.exp(5) / (math.exp(5) + keys - 1)


def _normalised(exponentials: Array) -> Array:
    return exponentials / exponentials.sum(axis=-1, keepdims=True)

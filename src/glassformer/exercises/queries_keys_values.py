"""Checks for the exercises on soft look-up: queries, keys, and values."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, compare_number, sample
from glassformer.checking.slips import Slip
from glassformer.reference.attention import attention_weights
from glassformer.reference.softmax import softmax


@check(see="A dictionary that raises no KeyError")
def check_weighted_mean(attempt: Any) -> None:
    """Judge the soft look-up of the values 22, 0 and 11 with scores 3, 1 and 0, in powers of two."""
    compare_number(
        attempt,
        17,
        {
            22: "that is the hard look-up: here every value has its share",
            11: "the plain mean: values whose keys fit better count for more",
            187: "not divided by the sum of the powers: the weights must sum to one",
            16.5: "weighted by the scores themselves: a score of s counts as 2 to the power s",
            float(
                softmax(np.array([3.0, 1.0, 0.0])) @ [22, 0, 11]
            ): "with e instead of 2: here a score of s counts as 2 to the power s",
            17.6: "2 to the power 0 is 1: a score of zero has a weight too",
        },
        lambda number: f"not {number:g}. Write down the three powers of two first, and their sum",
    )


@check(see="A dictionary that raises no KeyError")
def check_soft_lookup(attempt: Answer, rng: Generator) -> None:
    """Judge ``soft_lookup(query, key, value, sharpness)``, which returns one mixture of the values."""

    def right(query: Array, key: Array, value: Array, sharpness: float) -> Array:
        return softmax(sharpness * (key @ query)) @ value

    compare(
        attempt,
        right,
        {
            "the hard look-up: only the best key's value is handed over, all should have their share": (
                lambda query, key, value, sharpness: value[np.argmax(key @ query)]
            ),
            "the weights do not sum to one: divide by their sum": (
                lambda query, key, value, sharpness: np.exp(sharpness * (key @ query)) @ value
            ),
            "weighted by the scores: a score may be negative, its exponential is not": (
                lambda query, key, value, sharpness: (sharpness * (key @ query)) @ value
            ),
            "divided by the sum without the exponential: scores may cancel, exponentials cannot": (
                lambda query, key, value, sharpness: (key @ query) @ value / (key @ query).sum()
            ),
            "`sharpness` plays no part": lambda query, key, value, sharpness: right(query, key, value, 1.0),
            "divided by `sharpness`: it should scale the scores up": (
                lambda query, key, value, sharpness: right(query, key, value, 1 / sharpness)
            ),
            "the mixture is multiplied by `sharpness`: it belongs to the scores, before the softmax": (
                lambda query, key, value, sharpness: sharpness * right(query, key, value, 1.0)
            ),
            "the scores are divided by √d: here nothing but `sharpness` scales them": (
                lambda query, key, value, sharpness: right(query, key, value, sharpness / np.sqrt(len(query)))
            ),
            "these are the weights: they still have to mix the values": (
                lambda query, key, value, sharpness: softmax(sharpness * (key @ query))
            ),
        },
        [
            (np.array([1.0]), np.array([[2.0], [0.0]]), np.array([[4.0], [0.0]]), 1.0),
            *(
                (sample(rng, d), sample(rng, n, d), sample(rng, n, d_v), s)
                for n, d, d_v, s in ((1, 2, 3, 2.0), (5, 3, 2, 0.7))
            ),
        ],
    )


@check(see="Why three, and not two or one?")
def check_symmetric(attempt: Any) -> None:
    """Judge which of the five matrices, "a" to "e", are symmetric whatever X and the W are."""
    if not isinstance(attempt, Collection) or not set(attempt) <= set("abcde"):
        raise Slip(f'wanted a set of letters from "a" to "e", got {attempt!r}')
    if "b" in attempt:
        raise Slip("(b) is not: each row is divided by its own sum, and the sums differ")
    if "c" in attempt:
        raise Slip("(c) is not: its transpose is X W_K (X W_Q)ᵀ, the same only if W_Q W_Kᵀ is symmetric")
    if "e" in attempt:
        raise Slip("(e) is not: with 3 questions and 7 words it is not even square")
    if "a" not in attempt:
        raise Slip("(a) is missing: transpose (X W)(X W)ᵀ and see what becomes of it")
    if "d" not in attempt:
        raise Slip("(d) is missing: every entry is divided by one and the same number")


@check(see="One vector, three jobs")
def check_attend(attempt: Answer, rng: Generator) -> None:
    """Judge ``attend(x, query_weight, key_weight, value_weight)``: the five steps, from X to attended."""

    def steps(divisor: Answer = lambda x, w_q: np.sqrt(w_q.shape[1]), axis: int = -1) -> Answer:
        return lambda x, w_q, w_k, w_v: softmax(x @ w_q @ (x @ w_k).T / divisor(x, w_q), axis) @ (x @ w_v)

    right = steps()
    compare(
        attempt,
        right,
        {
            "step 3 is missing: the scores are not divided by √d_k": steps(lambda x, w_q: 1.0),
            "divided by d_k: step 3 divides by its square root": steps(lambda x, w_q: w_q.shape[1]),
            "divided by √d_model: what counts is how wide a query is": steps(
                lambda x, w_q: np.sqrt(len(w_q))
            ),
            "queries and keys have changed places: row i must be what word i looks for": (
                lambda x, w_q, w_k, w_v: right(x, w_k, w_q, w_v)
            ),
            "X itself is mixed: the values are X W_V": (
                lambda x, w_q, w_k, w_v: attention_weights(x @ w_q, x @ w_k) @ x
            ),
            "the keys are mixed: what a word hands over is its value": (
                lambda x, w_q, w_k, w_v: right(x, w_q, w_k, w_k)
            ),
            "step 4 runs down the columns: the weights of one query, a row, sum to one": steps(axis=0),
            "these are the weights: step 5 mixes the values with them": (
                lambda x, w_q, w_k, w_v: attention_weights(x @ w_q, x @ w_k)
            ),
        },
        [
            (sample(rng, time, d_model), *(sample(rng, d_model, width) for width in (d_k, d_k, d_v)))
            for time, d_model, d_k, d_v in ((1, 1, 1, 1), (2, 1, 2, 1), (5, 3, 2, 4))
        ],
    )


@check(see="Reading the grid")
def check_fixed_attention(attempt: Answer, rng: Generator) -> None:
    """Judge the mended ``fixed_attention(query, key, value)``, whose softmax ran over the wrong axis."""

    def with_weights(weigh: Answer) -> Answer:
        return lambda query, key, value: weigh(query @ key.T / np.sqrt(query.shape[-1])) @ value

    compare(
        attempt,
        with_weights(softmax),
        {
            "still over the wrong axis: each column sums to one, so a query may be handed almost nothing": (
                with_weights(lambda scores: softmax(scores, axis=0))
            ),
            "the whole matrix sums to one: each row, the weights of one query, should": (
                with_weights(lambda scores: softmax(scores.reshape(-1)).reshape(scores.shape))
            ),
            "the rows are divided by their sums, but the softmax still runs down the columns before": (
                with_weights(lambda scores: (w := softmax(scores, axis=0)) / w.sum(-1, keepdims=True))
            ),
            "the exponentials are never divided by their sum": with_weights(np.exp),
            "the softmax is gone: scores are not weights": with_weights(lambda scores: scores),
            "the scores are no longer divided by √d_k": lambda query, key, value: (
                softmax(query @ key.T) @ value
            ),
        },
        [
            (sample(rng, q, d), sample(rng, k, d), sample(rng, k, v))
            for q, k, d, v in ((1, 1, 1, 1), (1, 2, 1, 1), (3, 5, 2, 4))
        ],
    )


@check(see="Those who ask need not be those who answer")
def check_attend_in_batches(attempt: Answer, rng: Generator) -> None:
    """Judge ``attend_in_batches(query, key, value)``, which returns the attended values and the weights.

    All three have a leading batch axis; there are as many values as keys, and any number of queries.
    """

    def answer(weigh: Answer) -> Answer:
        return lambda query, key, value: ((weights := weigh(query, key)) @ value, weights)

    def scores(query: Array, key: Array) -> Array:
        return query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])

    compare(
        attempt,
        answer(attention_weights),
        {
            "the other way round: the attended values come first, then the weights": (
                lambda query, key, value: answer(attention_weights)(query, key, value)[::-1]
            ),
            "these are the attended values alone: return the weights, too": (
                lambda query, key, value: attention_weights(query, key) @ value
            ),
            "the softmax runs over the queries: the weights of one query, a row, sum to one": (
                answer(lambda query, key: softmax(scores(query, key), axis=-2))
            ),
            "the softmax runs over the batch: sentences must not compete with each other": (
                answer(lambda query, key: softmax(scores(query, key), axis=0))
            ),
            "the scores are not divided by √d_k": (
                answer(lambda query, key: softmax(query @ key.swapaxes(-2, -1)))
            ),
            "divided by the root of the number of queries: what counts is how wide a query is": (
                answer(lambda query, key: softmax(query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-2])))
            ),
            "every sentence is asked about the first one: the batch axis of the keys is lost": (
                lambda query, key, value: answer(attention_weights)(
                    query, np.repeat(key[:1], len(key), 0), np.repeat(value[:1], len(value), 0)
                )
            ),
        },
        [
            (sample(rng, b, q, d), sample(rng, b, k, d), sample(rng, b, k, v))
            for b, q, k, d, v in ((1, 1, 1, 1, 1), (1, 1, 2, 1, 1), (1, 2, 2, 3, 1), (2, 3, 5, 7, 4))
        ],
    )


@check(see="An old acquaintance")
def check_kernel_regression(attempt: Answer, rng: Generator) -> None:
    """Judge ``kernel_regression(x, keys, values, bandwidth)``, with one number for each x."""

    def estimate(score: Answer) -> Answer:
        return lambda x, keys, values, h: softmax(score(x[:, None] - keys, h)) @ values

    compare(
        attempt,
        estimate(lambda distance, h: -(distance**2) / (2 * h**2)),
        {
            "the bandwidth is not squared: a distance of h must mean exp(−1/2) whatever h is": (
                estimate(lambda distance, h: -(distance**2) / (2 * h))
            ),
            "the 2 in 2h² is missing: at a distance of h the kernel is exp(−1/2)": (
                estimate(lambda distance, h: -(distance**2) / h**2)
            ),
            "multiplied by the bandwidth: a wide kernel must fall off slowly": (
                estimate(lambda distance, h: -(distance**2) * h**2 / 2)
            ),
            "the minus is missing: what is far away weighs most": (
                estimate(lambda distance, h: distance**2 / (2 * h**2))
            ),
            "the distance is not squared": estimate(lambda distance, h: -np.abs(distance) / (2 * h**2)),
            "dot products instead of distances: these keys have different lengths": (
                lambda x, keys, values, h: softmax(np.outer(x, keys) / h**2) @ values
            ),
            "the weights do not sum to one": (
                lambda x, keys, values, h: np.exp(-((x[:, None] - keys) ** 2) / (2 * h**2)) @ values
            ),
            "the nearest point's value: all should have their share": (
                lambda x, keys, values, h: values[np.abs(x[:, None] - keys).argmin(axis=1)]
            ),
        },
        [
            (np.array([0.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]), 2.0),
            *(
                (sample(rng, places), sample(rng, n), sample(rng, n), h)
                for places, n, h in ((2, 3, 1.0), (3, 7, 0.6))
            ),
        ],
    )


@check(see="An old acquaintance")
def check_leave_one_out_error(attempt: Answer, rng: Generator) -> None:
    """Judge ``leave_one_out_error(keys, values, bandwidth)``, which hides each point from itself."""

    def error(keys: Array, values: Array, bandwidth: float, *, hide: str = "before") -> Array:
        others = ~np.eye(len(keys), dtype=bool)
        scores = -((keys[:, None] - keys) ** 2) / (2 * bandwidth**2)
        weights = softmax(scores, where=others if hide == "before" else None)
        return values - (weights * others if hide == "after" else weights) @ values

    compare(
        attempt,
        lambda *points: np.mean(error(*points) ** 2),
        {
            "no point is hidden (a score of zero hides none): each value is predicted from itself, too": (
                lambda *points: np.mean(error(*points, hide="never") ** 2)
            ),
            "hidden after the softmax: the weights of the other points no longer sum to one": (
                lambda *points: np.mean(error(*points, hide="after") ** 2)
            ),
            "the error is not squared": lambda *points: np.mean(error(*points)),
            "the size of the error is not squared": lambda *points: np.mean(np.abs(error(*points))),
            "summed: the mean over the points is asked for": lambda *points: np.sum(error(*points) ** 2),
            "the root of the mean: the mean itself is asked for": (
                lambda *points: np.sqrt(np.mean(error(*points) ** 2))
            ),
        },
        [
            (np.array([0.0, 1.0]), np.array([0.0, 2.0]), 1.0),
            (sample(rng, 3), sample(rng, 3), 0.5),
            (sample(rng, 7), sample(rng, 7), 0.8),
        ],
    )

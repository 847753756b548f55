"""Checks for the exercises on queries, keys and values."""

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
    """Check the soft look-up of the values 22, 0 and 11 with scores 3, 1 and 0, using powers of two."""
    compare_number(
        attempt,
        17,
        {
            22: "that is the hard look-up; in the soft one every value has a share",
            11: "that is the plain mean; values whose keys fit better count for more",
            187: "you did not divide by the sum of the powers; the weights must sum to one",
            16.5: "you weighted by the scores themselves; a score of s counts as 2 to the power s",
            float(
                softmax(np.array([3.0, 1.0, 0.0])) @ [22, 0, 11]
            ): "you used powers of e; here a score of s counts as 2 to the power s",
            17.6: "you gave the score of zero no weight, but 2 to the power 0 is 1",
        },
        lambda number: f"yours is {number:g}: write down the three powers of two and their sum first",
    )


@check(see="A dictionary that raises no KeyError")
def check_soft_lookup(attempt: Answer, rng: Generator) -> None:
    """Check ``soft_lookup(query, key, value, sharpness)``: a mixture of the values."""

    def right(query: Array, key: Array, value: Array, sharpness: float) -> Array:
        return softmax(sharpness * (key @ query)) @ value

    compare(
        attempt,
        right,
        {
            "yours is the hard look-up, with the best key's value alone; every value should have a share": (
                lambda query, key, value, sharpness: value[np.argmax(key @ query)]
            ),
            "your weights do not sum to one: divide them by their sum": (
                lambda query, key, value, sharpness: np.exp(sharpness * (key @ query)) @ value
            ),
            "you weight by the scores, which may be negative; use their exponentials": (
                lambda query, key, value, sharpness: (sharpness * (key @ query)) @ value
            ),
            "you divide the scores by their sum, which may be zero; take exponentials first": (
                lambda query, key, value, sharpness: (key @ query) @ value / (key @ query).sum()
            ),
            "your result does not depend on `sharpness`": lambda query, key, value, sharpness: right(
                query, key, value, 1.0
            ),
            "you divide by `sharpness`; multiply the scores by it": (
                lambda query, key, value, sharpness: right(query, key, value, 1 / sharpness)
            ),
            "you multiply the mixture by `sharpness`; multiply the scores, before the softmax": (
                lambda query, key, value, sharpness: sharpness * right(query, key, value, 1.0)
            ),
            "you divide the scores by √d; here only `sharpness` scales them": (
                lambda query, key, value, sharpness: right(query, key, value, sharpness / np.sqrt(len(query)))
            ),
            "you return the weights; use them to mix the values": (
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


@check(see="Why three vectors?")
def check_symmetric(attempt: Any) -> None:
    """Check which of the five matrices, "a" to "e", are symmetric whatever X and the W are."""
    if not isinstance(attempt, Collection) or not set(attempt) <= set("abcde"):
        raise Slip(f'expected a set of letters from "a" to "e", yours is {attempt!r}')
    if "b" in attempt:
        raise Slip("(b) is not symmetric: each row is divided by its own sum, and the sums differ")
    if "c" in attempt:
        raise Slip(
            "(c) is not symmetric: its transpose is X W_K (X W_Q)ᵀ, equal only if W_Q W_Kᵀ is symmetric"
        )
    if "e" in attempt:
        raise Slip("(e) is not symmetric: with 3 questions and 7 words it is not even square")
    if "a" not in attempt:
        raise Slip("(a) is missing: transpose (X W)(X W)ᵀ and compare")
    if "d" not in attempt:
        raise Slip("(d) is missing: every entry is divided by the same number")


@check(see="One vector, three jobs")
def check_attend(attempt: Answer, rng: Generator) -> None:
    """Check ``attend(x, query_weight, key_weight, value_weight)``: the five steps of attention."""

    def steps(divisor: Answer = lambda x, w_q: np.sqrt(w_q.shape[1]), axis: int = -1) -> Answer:
        return lambda x, w_q, w_k, w_v: softmax(x @ w_q @ (x @ w_k).T / divisor(x, w_q), axis) @ (x @ w_v)

    right = steps()
    compare(
        attempt,
        right,
        {
            "your scores are not divided by √d_k: step 3 is missing": steps(lambda x, w_q: 1.0),
            "you divide by d_k; step 3 divides by its square root": steps(lambda x, w_q: w_q.shape[1]),
            "you divide by √d_model; divide by √d_k, the root of a query's width": steps(
                lambda x, w_q: np.sqrt(len(w_q))
            ),
            "your queries and keys are swapped: row i should hold what word i looks for": (
                lambda x, w_q, w_k, w_v: right(x, w_k, w_q, w_v)
            ),
            "you mix X itself; mix X W_V": lambda x, w_q, w_k, w_v: attention_weights(x @ w_q, x @ w_k) @ x,
            "you mix the keys; mix the values": (lambda x, w_q, w_k, w_v: right(x, w_q, w_k, w_k)),
            "your softmax runs down the columns; each row, one query's weights, should sum to one": steps(
                axis=0
            ),
            "you return the weights; step 5 mixes the values with them": (
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
    """Check ``fixed_attention(query, key, value)``, whose softmax ran over the wrong axis."""

    def with_weights(weigh: Answer) -> Answer:
        return lambda query, key, value: weigh(query @ key.T / np.sqrt(query.shape[-1])) @ value

    compare(
        attempt,
        with_weights(softmax),
        {
            "your softmax still runs down the columns, which sum to one, so a query may get almost nothing": (
                with_weights(lambda scores: softmax(scores, axis=0))
            ),
            "your whole matrix sums to one; each row, one query's weights, should": (
                with_weights(lambda scores: softmax(scores.reshape(-1)).reshape(scores.shape))
            ),
            "you divide the rows by their sums, but the softmax before that still runs down the columns": (
                with_weights(lambda scores: (w := softmax(scores, axis=0)) / w.sum(-1, keepdims=True))
            ),
            "you never divide the exponentials by their sum": with_weights(np.exp),
            "you removed the softmax, but scores are not weights": with_weights(lambda scores: scores),
            "your scores are no longer divided by √d_k": lambda query, key, value: (
                softmax(query @ key.T) @ value
            ),
        },
        [
            (sample(rng, q, d), sample(rng, k, d), sample(rng, k, v))
            for q, k, d, v in ((1, 1, 1, 1), (1, 2, 1, 1), (3, 5, 2, 4))
        ],
    )


@check(see="Queries from elsewhere")
def check_attend_in_batches(attempt: Answer, rng: Generator) -> None:
    """Check ``attend_in_batches(query, key, value)``: attended values and weights.

    All three have a leading batch axis.
    """

    def answer(weigh: Answer) -> Answer:
        return lambda query, key, value: ((weights := weigh(query, key)) @ value, weights)

    def scores(query: Array, key: Array) -> Array:
        return query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])

    compare(
        attempt,
        answer(attention_weights),
        {
            "your results are swapped: attended values first, then weights": (
                lambda query, key, value: answer(attention_weights)(query, key, value)[::-1]
            ),
            "you return only the attended values; return the weights too": (
                lambda query, key, value: attention_weights(query, key) @ value
            ),
            "your softmax runs over the queries; each row, one query's weights, should sum to one": (
                answer(lambda query, key: softmax(scores(query, key), axis=-2))
            ),
            "your softmax runs over the batch, so sentences compete with each other": (
                answer(lambda query, key: softmax(scores(query, key), axis=0))
            ),
            "your scores are not divided by √d_k": (
                answer(lambda query, key: softmax(query @ key.swapaxes(-2, -1)))
            ),
            "you divide by the root of the number of queries; divide by the root of their width": (
                answer(lambda query, key: softmax(query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-2])))
            ),
            "your queries all attend to the first sentence: keep the batch axis of the keys": (
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


@check(see="A close relative from 1964")
def check_kernel_regression(attempt: Answer, rng: Generator) -> None:
    """Check ``kernel_regression(x, keys, values, bandwidth)``: one estimate for each x."""

    def estimate(score: Answer) -> Answer:
        return lambda x, keys, values, h: softmax(score(x[:, None] - keys, h)) @ values

    compare(
        attempt,
        estimate(lambda distance, h: -(distance**2) / (2 * h**2)),
        {
            "your bandwidth is not squared: at a distance of h the kernel should always be exp(−1/2)": (
                estimate(lambda distance, h: -(distance**2) / (2 * h))
            ),
            "your exponent lacks the 2 of 2h²: at a distance of h the kernel should be exp(−1/2)": (
                estimate(lambda distance, h: -(distance**2) / h**2)
            ),
            "you multiply by the bandwidth; a wider kernel should fall off more slowly": (
                estimate(lambda distance, h: -(distance**2) * h**2 / 2)
            ),
            "your exponent is positive, so distant points weigh most; it should be negative": (
                estimate(lambda distance, h: distance**2 / (2 * h**2))
            ),
            "your distance is not squared": estimate(lambda distance, h: -np.abs(distance) / (2 * h**2)),
            "you use dot products; use distances, because these keys differ in length": (
                lambda x, keys, values, h: softmax(np.outer(x, keys) / h**2) @ values
            ),
            "your weights do not sum to one": (
                lambda x, keys, values, h: np.exp(-((x[:, None] - keys) ** 2) / (2 * h**2)) @ values
            ),
            "you return the nearest point's value; every value should have a share": (
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


@check(see="A close relative from 1964")
def check_leave_one_out_error(attempt: Answer, rng: Generator) -> None:
    """Check ``leave_one_out_error(keys, values, bandwidth)``: leave-one-out squared error."""

    def error(keys: Array, values: Array, bandwidth: float, *, hide: str = "before") -> Array:
        others = ~np.eye(len(keys), dtype=bool)
        scores = -((keys[:, None] - keys) ** 2) / (2 * bandwidth**2)
        weights = softmax(scores, where=others if hide == "before" else None)
        return values - (weights * others if hide == "after" else weights) @ values

    compare(
        attempt,
        lambda *points: np.mean(error(*points) ** 2),
        {
            "your points see themselves (a score of zero hides nothing); hide each from its prediction": (
                lambda *points: np.mean(error(*points, hide="never") ** 2)
            ),
            "you hide points after the softmax, so the remaining weights no longer sum to one": (
                lambda *points: np.mean(error(*points, hide="after") ** 2)
            ),
            "your error is not squared": lambda *points: np.mean(error(*points)),
            "you average absolute errors; average squared errors": lambda *points: np.mean(
                np.abs(error(*points))
            ),
            "you return the sum; return the mean over the points": lambda *points: np.sum(
                error(*points) ** 2
            ),
            "you return the root of the mean; return the mean itself": (
                lambda *points: np.sqrt(np.mean(error(*points) ** 2))
            ),
        },
        [
            (np.array([0.0, 1.0]), np.array([0.0, 2.0]), 1.0),
            (sample(rng, 3), sample(rng, 3), 0.5),
            (sample(rng, 7), sample(rng, 7), 0.8),
        ],
    )

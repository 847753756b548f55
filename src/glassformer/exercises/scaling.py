"""Checks for the exercises on scaling the scores."""

from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, compare_number, sample
from glassformer.reference.attention import attention_weights
from glassformer.reference.softmax import softmax


@check(see="How large is a dot product?")
def check_scaled_scores(attempt: Answer, rng: Generator) -> None:
    """Check ``scaled_scores(query, key)``: the scores before the softmax."""
    slips: dict[str, Answer] = {
        "your scores are unscaled: divide the dot products": lambda query, key: query @ key.T,
        "you divide by the width itself; scores grow with its root, as their standard deviation does": (
            lambda query, key: query @ key.T / query.shape[-1]
        ),
        "you multiply instead of dividing; the scores are too large already": (
            lambda query, key: query @ key.T * np.sqrt(query.shape[-1])
        ),
        "you divide by the root of the number of keys; what matters is how wide a key is": (
            lambda query, key: query @ key.T / np.sqrt(len(key))
        ),
        "you divide by the root of the number of queries; what matters is how wide a query is": (
            lambda query, key: query @ key.T / np.sqrt(len(query))
        ),
        "your scores are transposed: expected a row for each query and a column for each key": (
            lambda query, key: key @ query.T / np.sqrt(query.shape[-1])
        ),
        "you return the weights; return the scores, before the softmax": attention_weights,
    }
    compare(attempt, lambda query, key: query @ key.T / np.sqrt(query.shape[-1]), slips, _vectors(rng))


@check(see="How large is a dot product?")
def check_variance(attempt: Any) -> None:
    """Check the variance of a dot product of 16 components of variance 4 with 16 of variance 9."""
    slips: dict[float, str] = {
        16.0: "that holds for components of variance 1; these have variances of 4 and 9",
        36.0: "that is the variance of one product; the sum has 16 of them, and their variances add",
        24.0: "that is the standard deviation; the exercise asks for its square",
        208.0: "you added the variances of the two factors; those of a product multiply",
        96.0: "you multiplied standard deviations; 2 · 3 is the size of one product, not its variance",
        20736.0: "you squared once too often: 4 and 9 are variances already",
        9216.0: "you squared the 16; the variances of 16 independent products add up to 16 times one of them",
    }
    compare_number(
        attempt,
        16 * 4 * 9.0,
        slips,
        lambda variance: f"yours is {variance:g}: how large is it with one component, and with two?",
    )


@check(see="Four divisors")
def check_fixed_weights(attempt: Answer, rng: Generator) -> None:
    """Check ``fixed_weights(query, key)``, whose scores were divided by ``d_k``."""
    slips: dict[str, Answer] = {
        "you still divide by the width: how fast does a typical score grow with it?": (
            lambda query, key: softmax(query @ key.T / query.shape[-1])
        ),
        "you no longer divide at all, so a wide query is certain of one random key": (
            lambda query, key: softmax(query @ key.T)
        ),
        "you divide after the softmax, so the weights no longer sum to one": (
            lambda query, key: softmax(query @ key.T) / np.sqrt(query.shape[-1])
        ),
        "your columns sum to one; each row, one query's weights, should": (
            lambda query, key: softmax(query @ key.T / np.sqrt(query.shape[-1]), axis=0)
        ),
        "you divide by the root of the number of keys; what matters is how wide a key is": (
            lambda query, key: softmax(query @ key.T / np.sqrt(len(key)))
        ),
        "you return the scores; a softmax turns them into weights": (
            lambda query, key: query @ key.T / np.sqrt(query.shape[-1])
        ),
    }
    compare(attempt, attention_weights, slips, _vectors(rng))


@check(see="Four divisors")
def check_entropy_in_bits(attempt: Answer, rng: Generator) -> None:
    """Check ``entropy_in_bits(weights)``: the entropy of each row."""

    def entropy_terms(weights: Array) -> Array:
        return -weights * np.log2(weights, out=np.zeros_like(weights), where=weights > 0)

    slips: dict[str, Answer] = {
        "yours is in nats; bits use the logarithm to base 2": (
            lambda weights: entropy_terms(weights).sum(axis=-1) * np.log(2)
        ),
        "yours is negative: the logarithm of a weight is negative, the entropy is not": (
            lambda weights: -entropy_terms(weights).sum(axis=-1)
        ),
        "you sum columns; each row has its own entropy": lambda weights: entropy_terms(weights).sum(axis=0),
        "you return one number for all rows; each row has its own entropy": lambda weights: entropy_terms(
            weights
        ).sum(),
        "you average over the keys; entropy is the sum": lambda weights: entropy_terms(weights).mean(axis=-1),
        "you do not sum; return one number for each row": entropy_terms,
        "yours is NaN, because log 0 is −∞ and 0 · −∞ is undefined; a weight of zero should add nothing": (
            lambda weights: np.where((weights == 0).any(axis=-1), np.nan, entropy_terms(weights).sum(axis=-1))
        ),
        "your sum is unweighted; multiply each −log₂ w by its weight w": (
            lambda weights: -np.log2(weights, out=np.zeros_like(weights), where=weights > 0).sum(axis=-1)
        ),
    }
    rows = [[0.5, 0.25, 0.125, 0.125, 0.0], [0.7, 0.1, 0.1, 0.05, 0.05], [1.0, 0.0, 0.0, 0.0, 0.0]]
    cases = [
        (np.array([[0.5, 0.5]]),),
        (np.array([[1.0, 0.0]]),),
        (rng.permuted(rows[:2], axis=1),),
        (rng.permuted(rows, axis=1),),
    ]
    compare(attempt, lambda weights: entropy_terms(weights).sum(axis=-1), slips, cases)


@check(see="Real projections")
def check_right_divisor(attempt: Answer, rng: Generator) -> None:
    """Check ``right_divisor(d_k, variance)``: the divisor that gives scores variance 1."""
    slips: dict[str, Answer] = {
        "yours ignores the variance; √d_k is right for variance 1 only": lambda d_k, variance: np.sqrt(d_k),
        "yours is the variance of the scores; divide by its root": (lambda d_k, variance: d_k * variance**2),
        "you use the variance of one vector only; queries and keys both have it": (
            lambda d_k, variance: np.sqrt(d_k * variance)
        ),
        "you divide by the variance; larger components make larger scores, which need a larger divisor": (
            lambda d_k, variance: np.sqrt(d_k) / variance
        ),
        "you use the width without a root; a typical score grows with the root of the width": (
            lambda d_k, variance: d_k * variance
        ),
        "you square `variance`, but it is the square of the standard deviation already": (
            lambda d_k, variance: np.sqrt(d_k) * variance**2
        ),
        "yours is the reciprocal; the scores are divided by what you return": (
            lambda d_k, variance: 1 / (variance * np.sqrt(d_k))
        ),
    }
    compare(
        attempt,
        lambda d_k, variance: variance * np.sqrt(d_k),
        slips,
        [(1, 1.0), (4, 1.0), (1, 4.0), (1, 0.25), (int(rng.integers(5, 17)), 3.0)],
    )


@check(see="Unit vectors behave differently")
def check_cosine_weights(attempt: Answer, rng: Generator) -> None:
    """Check ``cosine_weights(query, key, scale)``: attention weights from scaled cosines."""

    def unit(vectors: Array, axis: int = -1) -> Array:
        return vectors / np.linalg.norm(vectors, axis=axis, keepdims=True)

    slips: dict[str, Answer] = {
        "you normalise neither queries nor keys": lambda query, key, scale: softmax(scale * (query @ key.T)),
        "your keys are not normalised; queries and keys should both have length 1": (
            lambda query, key, scale: softmax(scale * (unit(query) @ key.T))
        ),
        "your queries are not normalised; queries and keys should both have length 1": (
            lambda query, key, scale: softmax(scale * (query @ unit(key).T))
        ),
        "you divide by `scale`; cosines are small, so multiply by it": (
            lambda query, key, scale: softmax(unit(query) @ unit(key).T / scale)
        ),
        "you also divide by √d_k; the dot products of unit vectors are small already": (
            lambda query, key, scale: softmax(scale * (unit(query) @ unit(key).T) / np.sqrt(query.shape[-1]))
        ),
        "your result does not depend on `scale`": lambda query, key, scale: softmax(
            unit(query) @ unit(key).T
        ),
        "you normalise the columns; each row, one vector, should have length 1": (
            lambda query, key, scale: softmax(scale * (unit(query, axis=0) @ unit(key, axis=0).T))
        ),
        "you divide all vectors by the same length; each should have length 1": (
            lambda query, key, scale: softmax(
                scale * (query / np.linalg.norm(query)) @ (key / np.linalg.norm(key)).T
            )
        ),
        "you multiply the weights by `scale`; multiply the cosines, before the softmax": (
            lambda query, key, scale: scale * softmax(unit(query) @ unit(key).T)
        ),
        "you divide by the squared lengths; take their roots": (
            lambda query, key, scale: softmax(
                scale
                * (unit(query) / np.linalg.norm(query, axis=-1, keepdims=True))
                @ (unit(key) / np.linalg.norm(key, axis=-1, keepdims=True)).T
            )
        ),
        "you return the scaled cosines; a softmax turns them into weights": (
            lambda query, key, scale: scale * (unit(query) @ unit(key).T)
        ),
        "your columns sum to one; each row, one query's weights, should": (
            lambda query, key, scale: softmax(scale * (unit(query) @ unit(key).T), axis=0)
        ),
    }
    compare(
        attempt,
        lambda query, key, scale: softmax(scale * (unit(query) @ unit(key).T)),
        slips,
        [(*vectors, scale) for vectors, scale in zip(_vectors(rng), (1.0, 2.0, 0.5, 3.0), strict=True)],
    )


def _vectors(rng: Generator) -> list[tuple[Array, Array]]:
    """Draw queries and keys in four sizes; in the last, all axes differ in length."""
    sizes = ((1, 1, 1), (2, 2, 2), (1, 2, 4), (3, 5, 7))
    return [(sample(rng, queries, d_k), sample(rng, keys, d_k)) for queries, keys, d_k in sizes]

"""Checks for the exercises on how large scores are, and what they are divided by."""

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
    """Judge ``scaled_scores(query, key)``, which returns the scores before the softmax."""
    slips: dict[str, Answer] = {
        "unscaled: the dot products still have to be divided": lambda query, key: query @ key.T,
        "divided by the width itself: a score is as large as its standard deviation, not its variance": (
            lambda query, key: query @ key.T / query.shape[-1]
        ),
        "multiplied instead of divided: the scores are too large already": (
            lambda query, key: query @ key.T * np.sqrt(query.shape[-1])
        ),
        "divided by the root of the number of keys: what counts is how wide a key is": (
            lambda query, key: query @ key.T / np.sqrt(len(key))
        ),
        "divided by the root of the number of queries: what counts is how wide a query is": (
            lambda query, key: query @ key.T / np.sqrt(len(query))
        ),
        "turned: a row for each query, a column for each key": (
            lambda query, key: key @ query.T / np.sqrt(query.shape[-1])
        ),
        "these are the weights: the scores come before the softmax": attention_weights,
    }
    compare(attempt, lambda query, key: query @ key.T / np.sqrt(query.shape[-1]), slips, _vectors(rng))


@check(see="How large is a dot product?")
def check_variance(attempt: Any) -> None:
    """Judge the variance of a dot product of 16 components of variance 4 with 16 of variance 9."""
    slips: dict[float, str] = {
        16.0: "that would be so for components of variance 1: these have variances of 4 and 9",
        36.0: "that is the variance of one product: there are 16 of them, and their variances add",
        24.0: "that is the standard deviation: its square is asked for",
        208.0: "variances of a sum add, but those of a product of independent numbers are multiplied",
        96.0: "multiplied standard deviations: 2 · 3 is how large one product is, its variance is the square",
        20736.0: "squared once too often: 4 and 9 are variances already",
        9216.0: "the variances of 16 independent products add, which gives 16 times one of them, not 16²",
    }
    compare_number(
        attempt,
        16 * 4 * 9.0,
        slips,
        lambda variance: f"not {variance:g}: how large is it with one component in each, how large with two?",
    )


@check(see="Four divisors")
def check_fixed_weights(attempt: Answer, rng: Generator) -> None:
    """Judge the mended ``weights(query, key)``, which divided the scores by ``d_k``."""
    slips: dict[str, Answer] = {
        "still divided by the width: by how much does a typical score grow with it?": (
            lambda query, key: softmax(query @ key.T / query.shape[-1])
        ),
        "no longer divided at all: now a wide query is sure of one random key": (
            lambda query, key: softmax(query @ key.T)
        ),
        "divided after the softmax: the weights no longer sum to one": (
            lambda query, key: softmax(query @ key.T) / np.sqrt(query.shape[-1])
        ),
        "each column sums to one: the weights of one query, a row, should": (
            lambda query, key: softmax(query @ key.T / np.sqrt(query.shape[-1]), axis=0)
        ),
        "divided by the root of the number of keys: what counts is how wide a key is": (
            lambda query, key: softmax(query @ key.T / np.sqrt(len(key)))
        ),
        "these are the scores: the softmax is lost": (
            lambda query, key: query @ key.T / np.sqrt(query.shape[-1])
        ),
    }
    compare(attempt, attention_weights, slips, _vectors(rng))


@check(see="What large scores do to the softmax")
def check_entropy_in_bits(attempt: Answer, rng: Generator) -> None:
    """Judge ``entropy_in_bits(weights)``, which returns the entropy of each row."""

    def surprise(weights: Array) -> Array:
        return -weights * np.log2(weights, out=np.zeros_like(weights), where=weights > 0)

    slips: dict[str, Answer] = {
        "in nats: bits are counted with the logarithm to base 2": (
            lambda weights: surprise(weights).sum(axis=-1) * np.log(2)
        ),
        "negative: the logarithm of a weight is, the entropy is not": (
            lambda weights: -surprise(weights).sum(axis=-1)
        ),
        "summed down the columns: each row has an entropy of its own": (
            lambda weights: surprise(weights).sum(axis=0)
        ),
        "one number for all rows: each row has an entropy of its own": lambda weights: surprise(
            weights
        ).sum(),
        "the mean over the keys: entropy is the sum": lambda weights: surprise(weights).mean(axis=-1),
        "not summed: one number for each row is wanted": surprise,
        "NaN: the logarithm of a weight of zero is −∞, and 0 · −∞ is no number; such a weight adds nothing": (
            lambda weights: np.where((weights == 0).any(axis=-1), np.nan, surprise(weights).sum(axis=-1))
        ),
        "not weighted: each surprise −log₂ w counts as often as it happens, w times": (
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
    compare(attempt, lambda weights: surprise(weights).sum(axis=-1), slips, cases)


@check(see="Real projections")
def check_right_divisor(attempt: Answer, rng: Generator) -> None:
    """Judge ``right_divisor(d_k, variance)``, which brings scores to variance 1."""
    slips: dict[str, Answer] = {
        "the variance of the components plays no part: √d_k is right for components of variance 1 only": (
            lambda d_k, variance: np.sqrt(d_k)
        ),
        "that is the variance of the scores: they are to be divided by its root": (
            lambda d_k, variance: d_k * variance**2
        ),
        "only one of the two vectors counts: queries and keys both have that variance": (
            lambda d_k, variance: np.sqrt(d_k * variance)
        ),
        "divided by the variance: larger components make larger scores, which need a larger divisor": (
            lambda d_k, variance: np.sqrt(d_k) / variance
        ),
        "the width without a root: a typical score grows as the root of the width": (
            lambda d_k, variance: d_k * variance
        ),
        "taken for the standard deviation: `variance` is its square already": (
            lambda d_k, variance: np.sqrt(d_k) * variance**2
        ),
        "one over it: the scores are divided by what you return": (
            lambda d_k, variance: 1 / (variance * np.sqrt(d_k))
        ),
    }
    compare(
        attempt,
        lambda d_k, variance: variance * np.sqrt(d_k),
        slips,
        [(1, 1.0), (4, 1.0), (1, 4.0), (1, 0.25), (int(rng.integers(5, 17)), 3.0)],
    )


@check(see="Unit vectors are another matter")
def check_cosine_weights(attempt: Answer, rng: Generator) -> None:
    """Judge ``cosine_weights(query, key, scale)``: attention by direction."""

    def unit(vectors: Array, axis: int = -1) -> Array:
        return vectors / np.linalg.norm(vectors, axis=axis, keepdims=True)

    slips: dict[str, Answer] = {
        "neither queries nor keys were brought to length 1": (
            lambda query, key, scale: softmax(scale * (query @ key.T))
        ),
        "the keys are as long as they were: both are brought to length 1": (
            lambda query, key, scale: softmax(scale * (unit(query) @ key.T))
        ),
        "the queries are as long as they were: both are brought to length 1": (
            lambda query, key, scale: softmax(scale * (query @ unit(key).T))
        ),
        "divided by `scale`: cosines are small, it is there to make them larger": (
            lambda query, key, scale: softmax(unit(query) @ unit(key).T / scale)
        ),
        "divided by √d_k as well: unit vectors have no large dot products to bring down": (
            lambda query, key, scale: softmax(scale * (unit(query) @ unit(key).T) / np.sqrt(query.shape[-1]))
        ),
        "`scale` plays no part": lambda query, key, scale: softmax(unit(query) @ unit(key).T),
        "normalised down the columns: each vector, a row, is to have length 1": (
            lambda query, key, scale: softmax(scale * (unit(query, axis=0) @ unit(key, axis=0).T))
        ),
        "divided by one length for all vectors: each, a row, is to have length 1": (
            lambda query, key, scale: softmax(
                scale * (query / np.linalg.norm(query)) @ (key / np.linalg.norm(key)).T
            )
        ),
        "the weights are multiplied by `scale`: it belongs to the cosines, before the softmax": (
            lambda query, key, scale: scale * softmax(unit(query) @ unit(key).T)
        ),
        "divided by the squared lengths: the root is missing": (
            lambda query, key, scale: softmax(
                scale
                * (unit(query) / np.linalg.norm(query, axis=-1, keepdims=True))
                @ (unit(key) / np.linalg.norm(key, axis=-1, keepdims=True)).T
            )
        ),
        "these are the scaled cosines: a softmax turns them into weights": (
            lambda query, key, scale: scale * (unit(query) @ unit(key).T)
        ),
        "each column sums to one: the weights of one query, a row, should": (
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
    """Queries and keys in four sizes, the last with all axes of different length."""
    sizes = ((1, 1, 1), (2, 2, 2), (1, 2, 4), (3, 5, 7))
    return [(sample(rng, queries, d_k), sample(rng, keys, d_k)) for queries, keys, d_k in sizes]

"""Checks for the exercises on the cost of attention."""

from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, compare_number, sample
from glassformer.reference.attention import scaled_dot_product_attention_backward
from glassformer.reference.softmax import softmax


@check(see="Counting the work")
def check_multiplications(attempt: Answer) -> None:
    """Check ``multiplications(length, width)``: multiplications of a recurrent and an attention layer."""
    slips: dict[str, Answer] = {
        "your results are swapped: recurrence first, then attention": (
            lambda length, width: (2 * length**2 * width, 2 * length * width**2)
        ),
        "you count the recurrence for one word; there are `length` of them": (
            lambda length, width: (2 * width**2, 2 * length**2 * width)
        ),
        "you count one product each; an Elman step has two matrices, and attention scores and mixes": (
            lambda length, width: (length * width**2, length**2 * width)
        ),
        "you count one matrix for each Elman step; the word is multiplied by one and the state by another": (
            lambda length, width: (length * width**2, 2 * length**2 * width)
        ),
        "you count projections for attention; ours has none: it scores and mixes the words themselves": (
            lambda length, width: (2 * length * width**2, 3 * length * width**2 + 2 * length**2 * width)
        ),
        "you count only the scores of attention; mixing takes equally many multiplications": (
            lambda length, width: (2 * length * width**2, length**2 * width)
        ),
        "you count additions too; both numbers are twice the number of multiplications": (
            lambda length, width: (4 * length * width**2, 4 * length**2 * width)
        ),
        "you count the pairs of attention; each pair costs `width` multiplications": (
            lambda length, width: (2 * length * width**2, 2 * length**2)
        ),
    }
    compare(
        attempt,
        lambda length, width: (2 * length * width**2, 2 * length**2 * width),
        slips,
        [(1, 1), (2, 1), (1, 2), (7, 5)],
    )


@check(see="Counting the work")
def check_equal_length(attempt: Answer) -> None:
    """Check ``equal_length(width)``: the length at which an LSTM and attention do the same work."""
    slips: dict[str, Answer] = {
        "that holds for an Elman network and attention without projections": lambda width: width,
        "you forgot the projections of attention, 4 T d²": lambda width: 4 * width,
        "you subtracted the wrong way: 8 − 4 = 4, and 4 T d² = 2 T² d": lambda width: 6 * width,
        "you forgot to divide by 2: attention scores and mixes, 2 T² d": lambda width: 8 * width,
        "you divided once too often; divide both sides by 2 T d": lambda width: width / 2,
    }
    compare(attempt, lambda width: 2 * width, slips, [(1,), (7,), (64,)])


@check(see="The price in memory")
def check_longest_text(attempt: Any) -> None:
    """Check the longest text whose weights fit into 16 GiB: batch 32, 8 heads, 2 bytes each."""
    compare_number(
        attempt,
        5792,
        {
            5793: "the weights of 5793 words take slightly more than 16 GiB; round down",
            4096: "you counted 4 bytes for each number; float16 takes 2",
            8192: "you counted 1 byte for each number; float16 takes 2",
            16_384: "you left out the 8 heads, each with its own weights",
            32_768: "you left out the 32 sentences, each with its own weights",
            92_681: "you left out the 32 sentences and the 8 heads, each with its own weights",
            33_554_432: "that is the number of pairs; how many words make so many?",
            5590: "you used 1000³ bytes for a GiB; it has 1024³",
        },
        lambda number: (
            f"{number:g} words make {32 * 8 * 2 * number**2 / 2**30:.3g} GiB of weights; find the largest "
            "number of words that fits into 16"
        ),
    )


@check(see="Generating word by word")
def check_cache_bytes(attempt: Answer) -> None:
    """Check ``cache_bytes(length, num_layers, d_model)``: the size of a cache of keys and values."""
    slips: dict[str, Answer] = {
        "you count keys or values; the cache holds both": lambda length, layers, d_model: (
            layers * length * d_model * 4
        ),
        "you count one layer; each layer has its own cache": lambda length, layers, d_model: (
            2 * length * d_model * 4
        ),
        "you count numbers; each takes 4 bytes": lambda length, layers, d_model: (
            2 * layers * length * d_model
        ),
        "you count pairs of words; the cache holds one key and one value per word": (
            lambda length, layers, d_model: 2 * layers * length**2 * d_model * 4
        ),
        "you count queries too; a query is used once and not kept": (
            lambda length, layers, d_model: 3 * layers * length * d_model * 4
        ),
    }
    compare(
        attempt,
        lambda length, layers, d_model: 2 * layers * length * d_model * 4,
        slips,
        [(1, 1, 1), (2, 3, 5), (100, 6, 512)],
    )


@check(see="Measured times")
def check_exponent(attempt: Answer, rng: Generator) -> None:
    """Check ``exponent(lengths, seconds)``: the slope between two points on logarithmic axes."""
    slips: dict[str, Answer] = {
        "yours is the slope on plain axes; take logarithms first": (
            lambda lengths, seconds: (seconds[-1] - seconds[0]) / (lengths[-1] - lengths[0])
        ),
        "yours is the reciprocal: the seconds belong above the line": (
            lambda lengths, seconds: np.log(lengths[-1] / lengths[0]) / np.log(seconds[-1] / seconds[0])
        ),
        "you divide the ratios; divide their logarithms": (
            lambda lengths, seconds: (seconds[-1] / seconds[0]) / (lengths[-1] / lengths[0])
        ),
        "you took the logarithm of the quotient; divide one logarithm by the other": (
            lambda lengths, seconds: np.log((seconds[-1] / seconds[0]) / (lengths[-1] / lengths[0]))
        ),
        "you used only the first two measurements; the exercise asks for the first and the last": (
            lambda lengths, seconds: np.log(seconds[1] / seconds[0]) / np.log(lengths[1] / lengths[0])
        ),
    }
    cases = []
    for power in (2.0, 1.0, 1.5):
        lengths = np.array([3.0, 16.0, 64.0, 512.0])
        cases.append((lengths, lengths**power * rng.uniform(1.2, 2, size=4).round(2)))
    compare(
        attempt,
        lambda lengths, seconds: np.log(seconds[-1] / seconds[0]) / np.log(lengths[-1] / lengths[0]),
        slips,
        cases,
    )


@check(see="Counting the work")
def check_backward(attempt: Answer, rng: Generator) -> None:
    """Check ``backward(grad_attended, query, key, value, weights)``: gradients of query, key and value."""

    def row_mean(scores: Array, weights: Array) -> Array:
        return (weights * scores).sum(-1, keepdims=True)

    def wrong(scaled: bool = True, mean: Answer = row_mean, weighted: bool = True) -> Answer:
        def run(grad: Array, query: Array, key: Array, value: Array, weights: Array) -> tuple[Array, ...]:
            scores = grad @ value.T
            scores = scores - mean(scores, weights)
            scores = scores * weights if weighted else scores
            scores = scores / np.sqrt(query.shape[-1]) if scaled else scores
            return scores @ key, scores.T @ query, weights.T @ grad

        return run

    def exchanged(grad: Array, query: Array, key: Array, value: Array, weights: Array) -> tuple[Array, ...]:
        grad_query, grad_key, grad_value = wrong()(grad, query, key, value, weights)
        return grad_key, grad_query, grad_value

    def key_unscaled(grad: Array, query: Array, *given: Array) -> tuple[Array, ...]:
        grad_query, grad_key, grad_value = wrong()(grad, query, *given)
        return grad_query, grad_key * np.sqrt(query.shape[-1]), grad_value

    shapes = ((1, 2, 2, 1), (2, 2, 2, 2), (5, 3, 7, 2))
    cases = []
    for queries, keys, d_k, d_v in shapes:
        query, key = sample(rng, queries, d_k), sample(rng, keys, d_k)
        weights = softmax(query @ key.T / np.sqrt(d_k))
        cases.append((sample(rng, queries, d_v), query, key, sample(rng, keys, d_v), weights))
    compare(
        attempt,
        scaled_dot_product_attention_backward,
        {
            "your gradients of query and key are swapped; that of a query is a mixture of keys": exchanged,
            "your results are reversed; expected query, key, value": lambda *given: wrong()(*given)[::-1],
            "you do not divide the gradient of the scores by √d_k": wrong(scaled=False),
            "you divide only the gradient of the query by √d_k; both go through the scores": key_unscaled,
            "in the softmax step you do not subtract the weighted mean of the row": wrong(
                mean=lambda scores, weights: 0
            ),
            "in the softmax step you do not multiply by the weights": wrong(weighted=False),
            "you skip the softmax: the gradient of the weights is not yet that of the scores": wrong(
                mean=lambda scores, weights: 0, weighted=False
            ),
            "in the softmax step you subtract the plain mean of the row; subtract the weighted mean": wrong(
                mean=lambda scores, weights: scores.mean(-1, keepdims=True)
            ),
            "in the softmax step you average over a column; each query, a row, has its own mean": wrong(
                mean=lambda scores, weights: (weights * scores).sum(0, keepdims=True)
            ),
            "your gradient of the value is the same for all keys; weight it by the attention weights": (
                lambda grad, query, key, value, weights: (
                    *wrong()(grad, query, key, value, weights)[:2],
                    np.tile(grad.sum(0), (len(key), 1)),
                )
            ),
        },
        cases,
    )

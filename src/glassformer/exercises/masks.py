"""Checks for the exercises on who may look where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.exercises.checking import Slip, check
from glassformer.exercises.judging import Answer, compare, compare_number
from glassformer.reference.attention import (
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)
from glassformer.reference.masks import causal_mask
from glassformer.reference.softmax import softmax

_RNG = np.random.default_rng(23)


@check
def check_allowed_pairs(attempt: Any) -> None:
    """Judge how many pairs both masks allow in a sentence of 100 positions, the last 40 of them padding."""
    compare_number(
        attempt,
        4230,
        {
            5050: "that is the causal mask alone: nobody may look at the 40 paddings",
            6000: "that is the padding mask alone: nobody may look ahead",
            1830: "those are the rows of the 60 words: the rows of padding look at words, too",
            3600: "those are all pairs of words: nobody may look ahead",
            4170: "a word may look at itself: the diagonal is allowed",
            1770: "a word may look at itself, and the rows of padding count, too",
            4950: "that is the triangle without its diagonal, and with padding in it",
            6820: "joined with |, those are the pairs that either mask allows: both must",
            10_000: "those are all pairs: two masks forbid some of them",
        },
        lambda number: (
            f"{number:g} is not it: count row by row. Query i may look at i keys, but at no more than 60"
        ),
    )


@check
def check_longest_sentence(attempt: Any) -> None:
    """Judge how many words fit: weights of 32 sentences and 8 heads, 2 bytes each, in 16 GiB."""
    compare_number(
        attempt,
        5792,
        {
            5793: "the weights of 5793 words are a little larger than 16 GiB, and words come whole",
            4096: "a number takes 2 bytes in float16, not 4",
            8192: "a number takes 2 bytes in float16, not 1",
            16_384: "each of the 8 heads has weights of its own",
            32_768: "each of the 32 sentences has weights of its own",
            92_681: "each of the 32 sentences has weights for each of its 8 heads",
            33_554_432: "that is the number of pairs: how many words make so many?",
            5590: "a GiB has 1024³ bytes, not 1000³",
        },
        lambda number: (
            f"{number:g} words make {32 * 8 * 2 * number**2 / 2**30:.3g} GiB of weights; wanted: as many "
            "words as fit into 16"
        ),
    )


@check
def check_decoder_mask(attempt: Answer) -> None:
    """Judge ``decoder_mask(ids, pad_id)``: (sentence, query, key), True where a word may look."""

    def joined(triangle: Answer = causal_mask, real: Answer = lambda words: words[:, None, :]) -> Answer:
        return lambda ids, pad_id: triangle(ids.shape[1]) & real(ids != pad_id)

    def shifted(diagonal: int) -> Answer:
        return joined(lambda length: np.tri(length, k=diagonal, dtype=bool))

    _compare_masks(
        attempt,
        joined(),
        {
            "turned round: True means may look": lambda ids, pad_id: ~joined()(ids, pad_id),
            "joined with |, it allows what either mask allows: both must": (
                lambda ids, pad_id: causal_mask(ids.shape[1]) | (ids != pad_id)[:, None]
            ),
            "the triangle lies the wrong way: queries are rows, keys are columns": joined(
                lambda length: causal_mask(length).T
            ),
            "a word may look at itself: the diagonal belongs to the triangle": shifted(-1),
            "each word sees one ahead: the triangle ends at the diagonal": shifted(1),
            "padding is hidden in the rows: it is keys that must not be looked at": joined(
                real=lambda words: words[:, :, None]
            ),
            "the rows of padding are emptied, too: that makes rows with nothing to look at": joined(
                real=lambda words: words[:, :, None] & words[:, None, :]
            ),
            "padding may be looked at": joined(real=lambda words: np.ones_like(words)[:, None]),
            "words see what comes after them": joined(lambda length: np.ones((length, length), dtype=bool)),
        },
        [
            (np.array([[5]]), 0),
            (np.array([[5, 0]]), 0),
            (np.array([[5, 7, 9, 0], [0, 6, 4, 8], [3, 0, 0, 0]]), 0),
            (np.array([[2, 9, 9], [0, 0, 2]]), 9),
        ],
    )


@check
def check_newest_mask(attempt: Answer) -> None:
    """Judge ``newest_mask(num_new, num_all)``: who may look where when only the newest words ask."""

    def shifted(diagonal: int) -> Answer:
        return lambda num_new, num_all: np.tri(num_new, num_all, num_all - num_new + diagonal, dtype=bool)

    _compare_masks(
        attempt,
        shifted(0),
        {
            "the triangle is laid at the top left: that is for the first words, the newest are the last": (
                lambda num_new, num_all: np.tri(num_new, num_all, dtype=bool)
            ),
            "turned round: True means may look": lambda num_new, num_all: ~shifted(0)(num_new, num_all),
            "each word sees one ahead": shifted(1),
            "no word sees itself": shifted(-1),
            "transposed: queries are rows, keys are columns": (
                lambda num_new, num_all: shifted(0)(num_new, num_all).T
            ),
            "everything is allowed: among the new words, the first must not see the last": (
                lambda num_new, num_all: np.ones((num_new, num_all), dtype=bool)
            ),
            "that is the mask of all words: only the newest ask": (
                lambda num_new, num_all: causal_mask(num_all)
            ),
        },
        [(1, 1), (1, 3), (2, 5), (4, 4)],
    )


@check
def check_module_masks(attempt: Answer) -> None:
    """Judge ``module_masks(ids, pad_id)``: attn_mask and key_padding_mask for nn.MultiheadAttention."""

    def part(place: int) -> Answer:
        def run(ids: Array, pad_id: int) -> Any:
            answer = attempt(ids, pad_id)
            if not isinstance(answer, tuple | list) or len(answer) != 2:
                raise Slip(f"wanted two masks, attn_mask and key_padding_mask, got {type(answer).__name__}")
            return answer[place]

        return run

    def hidden(diagonal: int) -> Answer:
        return lambda ids, pad_id: ~np.tri(ids.shape[1], k=diagonal, dtype=bool)

    cases = [(np.array([[5, 0]]), 0), (np.array([[5, 7, 9, 0], [3, 0, 0, 0]]), 0), (np.array([[9, 9, 0]]), 9)]
    _compare_masks(
        part(0),
        hidden(0),
        {
            "attn_mask is for the function: in the module True means may not look": (
                lambda ids, pad_id: causal_mask(ids.shape[1])
            ),
            "attn_mask hides the past: the triangle lies the wrong way": (
                lambda ids, pad_id: hidden(0)(ids, pad_id).T
            ),
            "attn_mask hides each word from itself": hidden(-1),
            "attn_mask lets each word see one ahead": hidden(1),
        },
        cases,
    )
    _compare_masks(
        part(1),
        lambda ids, pad_id: ids == pad_id,
        {
            "key_padding_mask is turned round: in the module True means padding": (
                lambda ids, pad_id: ids != pad_id
            ),
            "key_padding_mask has one axis too many: (sentence, key) is wanted": (
                lambda ids, pad_id: (ids == pad_id)[:, None]
            ),
        },
        cases,
    )


@check
def check_influence(attempt: Answer) -> None:
    """Judge ``influence(layer, x)``: True in row i and column j where editing word j moves output i."""

    def measured(moves: Answer = np.not_equal, fresh: bool = True) -> Answer:
        def run(layer: Answer, x: Array) -> Array:
            edited, columns = x.copy(), []
            for position in range(len(x)):
                edited = x.copy() if fresh else edited
                edited[position] += 1
                columns.append(moves(layer(edited), layer(x)).any(axis=-1))
            return np.stack(columns, axis=-1)

        return run

    _compare_masks(
        attempt,
        measured(),
        {
            "transposed: a row is an output, a column the word that was edited": (
                lambda layer, x: measured()(layer, x).T
            ),
            "turned round: True where an output moves": lambda layer, x: ~measured()(layer, x),
            "small moves are taken for none: compare exactly": measured(
                lambda after, before: ~np.isclose(after, before)
            ),
            "earlier edits are still there: start from x each time": measured(fresh=False),
            "all words are edited at once: one at a time says which of them it was": (
                lambda layer, x: np.tile((layer(x + 1) != layer(x)).any(-1)[:, None], len(x))
            ),
        },
        [
            (_Layer(mask.astype(int).tolist(), scale), _RNG.standard_normal((len(mask), 3)))
            for mask, scale in (
                (np.tri(2), 1.0),
                (np.tri(4, k=1), 1.0),
                (np.tri(5) * (1 - np.tri(5, k=-3)), 1.0),
                (np.eye(3)[::-1], 1.0),
                (np.tri(3), 1e-12),
            )
        ],
    )


@dataclass(frozen=True)
class _Layer:
    """A layer to be questioned: each word, and as loudly as ``scale`` says what it may look at."""

    attn_mask: list[list[int]]
    scale: float

    def __call__(self, x: Array) -> Array:
        mask = np.array(self.attn_mask, dtype=bool)
        return x + self.scale * scaled_dot_product_attention(np.ones_like(x), x, x, mask)[0]

    def __str__(self) -> str:
        return f"a layer with the mask {self.attn_mask}"


@check
def check_attention_backward(attempt: Answer) -> None:
    """Judge ``backward(grad_attended, query, key, value, weights)``: gradients of query, key and value."""

    def wrong(scaled: bool = True, mean: bool = True, weighted: bool = True) -> Answer:
        def run(grad: Array, query: Array, key: Array, value: Array, weights: Array) -> tuple[Array, ...]:
            scores = grad @ value.T
            scores = scores - (weights * scores).sum(-1, keepdims=True) if mean else scores
            scores = scores * weights if weighted else scores
            scores = scores / np.sqrt(query.shape[-1]) if scaled else scores
            return scores @ key, scores.T @ query, weights.T @ grad

        return run

    def exchanged(grad: Array, query: Array, key: Array, value: Array, weights: Array) -> tuple[Array, ...]:
        grad_query, grad_key, grad_value = wrong()(grad, query, key, value, weights)
        return grad_key, grad_query, grad_value

    slips = {
        "query and key are exchanged: the gradient of a query is a mixture of keys": exchanged,
        "the gradient of the scores is not divided by √d_k, as the scores were": wrong(scaled=False),
        "through the softmax: the weighted mean of the row is not subtracted": wrong(mean=False),
        "through the softmax: the factor of the weights is missing": wrong(weighted=False),
        "the gradient of the value is that of all keys alike: weigh it by who looked": (
            lambda grad, query, key, value, weights: (
                *wrong()(grad, query, key, value, weights)[:2],
                np.tile(grad.sum(0), (len(key), 1)),
            )
        ),
    }
    cases = []
    for queries, keys in ((1, 2), (2, 4), (5, 3)):
        query, key = _RNG.standard_normal((queries, 7)), _RNG.standard_normal((keys, 7))
        grad, value = _RNG.standard_normal((queries, 2)), _RNG.standard_normal((keys, 2))
        cases.append((grad, query, key, value, softmax(query @ key.T / np.sqrt(7))))
    compare(lambda *given: tuple(attempt(*given)), scaled_dot_product_attention_backward, slips, cases)


def _compare_masks(
    attempt: Answer, right: Answer, slips: Mapping[str, Answer], cases: Sequence[tuple]
) -> None:
    """Compare as `compare` does, and let nothing but True and False pass for a mask."""

    def as_numbers(make: Answer) -> Answer:
        def run(*case: Any) -> Array:
            mask = make(*case)
            mask = np.asarray(mask.detach().cpu() if hasattr(mask, "detach") else mask)
            if mask.dtype != bool:
                raise Slip(f"a mask holds True and False, got {mask.dtype}")
            return mask.astype(int)

        return run

    named = {message: as_numbers(slip) for message, slip in slips.items()}
    compare(as_numbers(attempt), as_numbers(right), named, cases)

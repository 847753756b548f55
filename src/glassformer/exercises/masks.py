"""Checks for the exercises on masks."""

import itertools
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, Hint, compare, compare_number, sample
from glassformer.reference.masks import causal_mask


@check(see="Combining masks")
def check_allowed_pairs(attempt: Any) -> None:
    """Check the number of pairs that both masks allow for 100 positions, the last 40 of them padding."""
    compare_number(
        attempt,
        4230,
        {
            5050: "that is the causal mask alone; no query may attend to the 40 padded positions",
            6000: Hint(
                "that is the padding mask alone; no query may attend to later positions",
                see="The whole formula",
            ),
            1830: "you counted the rows of the 60 words only; the rows of padding may attend to words too",
            3600: "you counted all pairs of words; no query may attend to later positions",
            4170: Hint("you left out the diagonal; a word may attend to itself", see="The whole formula"),
            1770: "you left out the diagonal and the rows of padding; both count",
            4950: "you left out the diagonal and counted padding among the keys",
            6820: "you combined the masks with |, which allows what either allows; both must allow a pair",
            10_000: "you counted all pairs; the two masks forbid some of them",
        },
        lambda number: (
            f"yours is {number:g}: count row by row. Query i may attend to i keys, but to no more than 60"
        ),
    )


@check(see="Combining masks")
def check_decoder_mask(attempt: Answer, rng: Generator) -> None:
    """Check ``decoder_mask(ids, pad_id)``: (sentence, query, key), True where a query may attend."""

    def joined(triangle: Answer = causal_mask, real: Answer = lambda words: words[:, None, :]) -> Answer:
        return lambda ids, pad_id: triangle(ids.shape[1]) & real(ids != pad_id)

    def shifted(diagonal: int) -> Answer:
        return joined(lambda length: np.tri(length, k=diagonal, dtype=bool))

    compare(
        attempt,
        joined(),
        {
            Hint("your mask is inverted: True means that a query may attend", see="The whole formula"): (
                lambda ids, pad_id: ~joined()(ids, pad_id)
            ),
            "you combined the masks with |, which allows what either allows; both must allow a pair": (
                lambda ids, pad_id: causal_mask(ids.shape[1]) | (ids != pad_id)[:, None]
            ),
            Hint(
                "your triangle is transposed: queries are rows, keys are columns", see="The whole formula"
            ): joined(lambda length: causal_mask(length).T),
            Hint(
                "your triangle lacks its diagonal; a word may attend to itself", see="The whole formula"
            ): shifted(-1),
            Hint(
                "your triangle reaches one column too far: each word sees the next one",
                see="Testing a mask from the outside",
            ): shifted(1),
            "you hide padding in the rows; hide it in the columns, the keys": joined(
                real=lambda words: words[:, :, None]
            ),
            Hint(
                "you also empty the rows of padding, which then have nothing to attend to",
                see="When a query may attend to nothing",
            ): joined(real=lambda words: words[:, :, None] & words[:, None, :]),
            Hint(
                "your padding mask is inverted: queries attend only to padding", see="Padding must not matter"
            ): joined(real=lambda words: ~words[:, None]),
            Hint("your queries may attend to padding", see="Padding must not matter"): joined(
                real=lambda words: np.ones_like(words)[:, None]
            ),
            "you assume that padding comes last; it may be anywhere": joined(
                real=lambda words: (np.arange(words.shape[1]) < words.sum(-1, keepdims=True))[:, None]
            ),
            "you take the id 0 for padding; use `pad_id`": (lambda ids, pad_id: joined()(ids, 0)),
            "your words see the words after them": joined(
                lambda length: np.ones((length, length), dtype=bool)
            ),
        },
        [
            (np.array([[5]]), 0),
            (np.array([[5, 0]]), 0),
            (np.array([[5, 7], [0, 6]]), 0),
            (np.array([[2, 9, 9], [0, 0, 2]]), 9),
            (rng.choice([0, 3, 7, 8], (3, 5)), 7),
            (np.array([[5, 7, 9, 0], [0, 6, 4, 8], [3, 0, 0, 0]]), 0),
        ],
    )


@check(see="Combining masks")
def check_packed_mask(attempt: Answer, rng: Generator) -> None:
    """Check ``packed_mask(text_of)``: the causal mask of several texts that share one row."""

    def packed(diagonal: int = 0) -> Answer:
        def run(text_of: Array) -> Array:
            same_text = text_of[:, None] == text_of[None, :]
            return np.tri(len(text_of), k=diagonal, dtype=bool) & same_text

        return run

    compare(
        attempt,
        packed(),
        {
            Hint("your mask is inverted: True means that a query may attend", see="The whole formula"): (
                lambda text_of: ~packed()(text_of)
            ),
            "you leave out the causal mask: your words see later words of their own text": (
                lambda text_of: text_of[:, None] == text_of[None, :]
            ),
            "you return the causal mask of the whole row: your words see earlier texts": (
                lambda text_of: causal_mask(len(text_of))
            ),
            "you combined the masks with |, which allows what either allows; both must allow a pair": (
                lambda text_of: causal_mask(len(text_of)) | (text_of[:, None] == text_of[None, :])
            ),
            Hint(
                "your triangle is transposed: queries are rows, keys are columns", see="The whole formula"
            ): lambda text_of: packed()(text_of).T,
            Hint(
                "your triangle lacks its diagonal; a word may attend to itself", see="The whole formula"
            ): packed(-1),
            "you allow all pairs of different texts: a word may attend to its own text only": (
                lambda text_of: causal_mask(len(text_of)) & (text_of[:, None] != text_of[None, :])
            ),
        },
        [
            (np.array([0]),),
            (np.array([0, 0]),),
            (np.array([0, 1]),),
            (np.array([3, 3, 3]),),
            (np.array([0, 0, 1]),),
            (np.array([5, 2, 2, 2, 4, 4]),),
            (np.sort(rng.integers(0, 4, 7)),),
        ],
    )


@check(see="A triangle that raises no error")
def check_newest_mask(attempt: Answer, rng: Generator) -> None:
    """Check ``newest_mask(num_new, num_all)``: the causal mask of the newest queries."""

    def shifted(diagonal: int) -> Answer:
        return lambda num_new, num_all: np.tri(num_new, num_all, num_all - num_new + diagonal, dtype=bool)

    compare(
        attempt,
        shifted(0),
        {
            "your triangle starts at the top left, as if the new words came first; they come last": (
                lambda num_new, num_all: np.tri(num_new, num_all, dtype=bool)
            ),
            Hint("your mask is inverted: True means that a query may attend", see="The whole formula"): (
                lambda num_new, num_all: ~shifted(0)(num_new, num_all)
            ),
            "your words each see one position ahead; the last new word is the last word of all": shifted(1),
            "your words do not see themselves; the last new word is the last word of all": shifted(-1),
            Hint("your mask is transposed: queries are rows, keys are columns", see="The whole formula"): (
                lambda num_new, num_all: shifted(0)(num_new, num_all).T
            ),
            "your new words do not see each other; each sees itself and the new words before it": (
                lambda num_new, num_all: np.tile(np.arange(num_all) < num_all - num_new, (num_new, 1))
            ),
            "you allow everything; the first new word must not see the last one": (
                lambda num_new, num_all: np.ones((num_new, num_all), dtype=bool)
            ),
            "you return the mask of all words; only the newest are queries": (
                lambda num_new, num_all: causal_mask(num_all)
            ),
        },
        [(1, 1), (1, 3), (2, 2), (2, 3), (3, 3 + int(rng.integers(1, 6)))],
    )


@check(see="Two conventions, one type")
def check_module_masks(attempt: Answer, rng: Generator) -> None:
    """Check ``module_masks(ids, pad_id)``: attn_mask and key_padding_mask for nn.MultiheadAttention."""

    def ahead(diagonal: int = 0) -> Answer:
        return lambda ids, pad_id: ~np.tri(ids.shape[1], k=diagonal, dtype=bool)

    def pads(ids: Array, pad_id: int) -> Array:
        return ids == pad_id

    def both(attn_mask: Answer, key_padding_mask: Answer) -> Answer:
        return lambda *given: (attn_mask(*given), key_padding_mask(*given))

    firsts = {
        "your attn_mask suits the function; in the module True means that a query may not attend": (
            lambda ids, pad_id: causal_mask(ids.shape[1])
        ),
        "your attn_mask hides the past: it is transposed": lambda ids, pad_id: ahead()(ids, pad_id).T,
        "your attn_mask hides each word from itself": ahead(-1),
        "your attn_mask lets each word see the next one": ahead(1),
    }
    seconds = {
        "your key_padding_mask is inverted: True means padding": lambda ids, pad_id: ids != pad_id,
        "your key_padding_mask has one axis too many; expected (sentence, key)": (
            lambda ids, pad_id: (ids == pad_id)[:, None]
        ),
    }
    compare(
        attempt,
        both(ahead(), pads),
        {
            "both masks are still wrong: read them row by row. What does True mean to the module?": both(
                ahead(1), seconds[next(iter(seconds))]
            ),
            **{message: both(first, pads) for message, first in firsts.items()},
            **{message: both(ahead(), second) for message, second in seconds.items()},
            **{
                f"{one}; and {other}": both(firsts[one], seconds[other])
                for one, other in itertools.product(firsts, seconds)
            },
            "your results are swapped: attn_mask first, then key_padding_mask": both(pads, ahead()),
        },
        [
            (np.array([[5, 7, 0]]), 0),
            (np.array([[9, 9, 0]]), 9),
            (np.array([[5, 7, 6], [8, 0, 0], [4, 9, 0]]), 0),
            (rng.choice([0, 3, 7], (3, 5)), 7),
            (np.array([[5, 7, 9, 0], [3, 0, 0, 0]]), 0),
        ],
    )


@check(see="Testing a mask from the outside")
def check_influence(attempt: Answer, rng: Generator) -> None:
    """Check ``influence(layer, x)``: True in row i and column j where editing word j moves output i."""

    def measured(moves: Answer = np.not_equal, fresh: bool = True) -> Answer:
        def run(layer: Answer, x: Array) -> Array:
            edited, columns = x.copy(), []
            for position in range(len(x)):
                edited = x.copy() if fresh else edited
                edited[position] += 1
                columns.append(moves(layer(edited), layer(x)).any(axis=-1))
            return np.stack(columns, axis=-1)

        return run

    compare(
        attempt,
        measured(),
        {
            "your result is transposed: a row is an output, a column the word that was edited": (
                lambda layer, x: measured()(layer, x).T
            ),
            "your result is inverted: True means that an output moves": lambda layer, x: (
                ~measured()(layer, x)
            ),
            "you miss small changes: edit by a lot, and compare every digit": measured(
                lambda after, before: ~np.isclose(after, before)
            ),
            "you miss some changes: edit the whole word, and compare all numbers of each output": measured(
                lambda after, before: (after != before).all(axis=-1, keepdims=True)
            ),
            "you keep earlier edits; start from x for every word": measured(fresh=False),
            "each of your rows is constant: edit one word at a time, and compare each output separately": (
                lambda layer, x: np.tile((layer(x + 1) != layer(x)).any(-1)[:, None], len(x))
            ),
            "you return the causal mask; this layer may have another one, so measure it": (
                lambda layer, x: causal_mask(len(x))
            ),
            "you leave out the diagonal; measure the edited word's own output too": (
                lambda layer, x: measured()(layer, x) & ~np.eye(len(x), dtype=bool)
            ),
        },
        [
            (_layer(allowed, np.array(scale)), sample(rng, len(allowed), 3))
            for allowed, *scale in (
                (np.tri(2), 1.0, 1.0, 1.0),
                (np.eye(3)[::-1], 1.0, 1.0, 1.0),
                (np.tri(3), 1e-9, 1e-9, 1e-9),
                (np.tri(3), 0.0, 0.0, 1.0),
                (np.tri(4, k=1), 1.0, 1.0, 1.0),
                (np.tri(5) * (1 - np.tri(5, k=-3)), 1.0, 1.0, 1.0),
                (rng.permutation(np.tri(5)), 1.0, 1.0, 1.0),
            )
        ],
    )


def _layer(attn_mask: Array, scale: Array) -> Answer:
    """Return a layer that adds to each word the mean of the words it sees, with a scale for each number."""
    weights = attn_mask / attn_mask.sum(axis=-1, keepdims=True)

    def layer(x: Array) -> Array:
        return x + scale * (weights @ x)

    where = "" if scale.all() else ", visible only in the last number"
    layer.__name__ = f"a layer with the mask {attn_mask.astype(int).tolist()}{where}"
    return layer

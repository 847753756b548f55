"""Checks for the exercises on the encoder-decoder."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.exercises.checking import Slip, check
from glassformer.exercises.judging import Answer, compare, compare_number

_RNG = np.random.default_rng(9)
_PAD, _START, _END = 0, 1, 2


@check
def check_cut(attempt: Answer) -> None:
    """Judge ``cut(target_ids)``, which returns what the decoder is given and what is wanted of it."""
    compare(
        attempt,
        lambda ids: (ids[:, :-1], ids[:, 1:]),
        {
            "nothing is shifted: the decoder is given the very word that is wanted": (
                lambda ids: (ids[:, :-1], ids[:, :-1])
            ),
            "nothing is shifted: given and wanted are the whole sentence": lambda ids: (ids, ids),
            "the start is dropped from both: what should the first word be told from?": (
                lambda ids: (ids[:, 1:], ids[:, 1:])
            ),
            "the other way round: what is given stands one step behind what is wanted": (
                lambda ids: (ids[:, 1:], ids[:, :-1])
            ),
            "shifted by two: one word is never asked for": lambda ids: (ids[:, :-2], ids[:, 2:]),
            "the end is never asked for: the model would not learn to stop": (
                lambda ids: (ids[:, :-2], ids[:, 1:-1])
            ),
            "sentences are cut, not words: time is the last axis": lambda ids: (ids[:-1], ids[1:]),
        },
        [
            (np.array([[_START, 5, 7, _END]]),),
            (np.array([[_START, 5, 7, 4, _END], [_START, 6, _END, _PAD, _PAD], [_START, 9, 8, _END, _PAD]]),),
        ],
    )


@check
def check_decoder_layer_size(attempt: Answer) -> None:
    """Judge ``decoder_layer_size(d_model, d_ff)``, the count of what one decoder layer learns."""

    def size(attentions: int, norms: int, biases: bool = True) -> Answer:
        def count(d_model: int, d_ff: int) -> int:
            maps = attentions * 4 * d_model**2 + 2 * d_model * d_ff
            shifts = attentions * 4 * d_model + d_ff + d_model if biases else 0
            return maps + shifts + 2 * norms * d_model

        return count

    compare(
        attempt,
        size(2, 3),
        {
            "this is an encoder layer: a decoder layer attends twice": size(1, 2),
            "one attention is missing: a decoder layer looks at itself and at the memory": size(1, 3),
            "one norm is missing: every sublayer has its own": size(2, 2),
            "the norms are missing": size(2, 0),
            "the biases are missing: every map adds one": size(2, 3, biases=False),
            "the output projections of the attentions are missing": (
                lambda d, f: size(2, 3)(d, f) - 2 * (d * d + d)
            ),
            "a norm learns two numbers for each of d_model: scale and shift": (
                lambda d, f: size(2, 3)(d, f) - 3 * d
            ),
            "the feed-forward network has two maps": lambda d, f: size(2, 3)(d, f) - d * f - d,
        },
        [(2, 3), (64, 128), (512, 2048)],
    )


@check
def check_mean_surprise(attempt: Answer) -> None:
    """Judge ``mean_surprise(log_probs, wanted_ids, pad_id)``: the loss that ignores padding."""

    def picked(log_probs: Array, wanted: Array) -> Array:
        return -np.take_along_axis(log_probs, wanted[..., None], axis=-1)[..., 0]

    def right(log_probs: Array, wanted: Array, pad: int) -> float:
        return float(picked(log_probs, wanted)[wanted != pad].mean())

    def by_sentence(log_probs: Array, wanted: Array, pad: int) -> float:
        rows = zip(picked(log_probs, wanted), wanted, strict=True)
        return float(np.mean([surprises[ids != pad].mean() for surprises, ids in rows]))

    compare(
        attempt,
        right,
        {
            "the sign is turned: a probability below one has a negative logarithm, a surprise is positive": (
                lambda lp, w, pad: -right(lp, w, pad)
            ),
            "padding counts: nobody wants it to be told": lambda lp, w, pad: float(picked(lp, w).mean()),
            "the padding is left out of the sum, but still counted in the mean": (
                lambda lp, w, pad: float((picked(lp, w) * (w != pad)).mean())
            ),
            "this is the sum: divide by the number of tokens that are wanted": (
                lambda lp, w, pad: float(picked(lp, w)[w != pad].sum())
            ),
            "the mean of the sentences' means: a word of a short sentence would count more": by_sentence,
            "these are probabilities: their logarithms are given": (
                lambda lp, w, pad: float(-np.exp(-picked(lp, w))[w != pad].mean())
            ),
        },
        [_surprises([[3, _END]], 5), _surprises([[3, 4, _END], [_END, _PAD, _PAD]], 7)],
    )


@check
def check_write(attempt: Answer) -> None:
    """Judge ``write(next_logits, max_length)``, which writes greedily until the end."""
    for wanted, story in _STORIES.items():
        written = _listed(attempt(_teller(wanted), 6))
        right = _right_writing(wanted, 6)
        if written == right:
            continue
        for message, slip in _SLIPS_OF_WRITING.items():
            if written == slip(wanted, 6):
                raise Slip(message)
        raise Slip(f"wrong for {story}: wanted {right}, got {written}")


@check
def check_shortcut_score(attempt: Any) -> None:
    """Judge the share of sentences in which the shortcut is right, nouns being drawn freely."""
    compare_number(
        attempt,
        0.75,
        {
            1.0: "that is its score where the two nouns always differ in gender",
            0.5: 'that is its score where "it" is the animal: half of the animals differ from their place',
            0.25: "that is how often it is wrong",
            75: "right in per cent: a share is wanted",
        },
        lambda number: (
            f"{number:g} is not what we counted: go through every animal, place and adjective once"
        ),
    )


@check
def check_best_by_luck(attempt: Any) -> None:
    """Judge the score that the luckiest of 16 coins gets on 400 sentences, on average."""
    compare_number(
        attempt,
        0.5441,
        {
            0.5: "that is one coin's score: which of the sixteen is the best is chosen after the throws",
            0.4559: "that is the worst of the sixteen",
            0.025: "that is how far one coin's score lies from one half, on average",
            54.41: "right in per cent: a share is wanted",
            217.6: "right as a count: divide by the number of sentences",
        },
        lambda number: f"{number:g} is not what luck gives: throw 16 coins 400 times, keep the best, often",
    )


def _surprises(wanted: Sequence[Sequence[int]], vocabulary: int) -> tuple[Array, Array, int]:
    ids = np.array(wanted)
    logits = _RNG.standard_normal((*ids.shape, vocabulary))
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)), ids, _PAD


def _teller(wanted: tuple[int, ...]) -> Callable[[Sequence[int]], Array]:
    """A model that has learned one sentence, and after its end goes on talking."""

    def next_logits(ids: Sequence[int]) -> Array:
        told = len(_listed(ids)) - 1
        logits = np.array([0.0, 0.5, 1.0, -1.0, 0.2, 0.1, 0.3, 0.4])
        logits[wanted[told] if told < len(wanted) else 5] = 3.0
        return logits

    return next_logits


def _listed(ids: Any) -> list[int]:
    return [int(id) for id in np.asarray(ids).ravel()]


def _right_writing(wanted: tuple[int, ...], max_length: int) -> list[int]:
    return list(wanted[: wanted.index(_END) + 1] if _END in wanted else wanted)[:max_length]


def _on_and_on(wanted: tuple[int, ...], max_length: int) -> list[int]:
    return [*wanted, *[5] * max_length][:max_length]


_STORIES = {
    (7, _END): "a sentence of one word",
    (3, 6, 4, _END): "a sentence of three words",
    (3, 6, 4, 7, 3, 6, 4): "a sentence that is longer than max_length",
}
_SLIPS_OF_WRITING: dict[str, Callable[[tuple[int, ...], int], list[int]]] = {
    "it goes on after the end: stop when the end is written": _on_and_on,
    "the start is returned with the rest: it was given, not written": (
        lambda wanted, most: [_START, *_right_writing(wanted, most)]
    ),
    "the end is cut off: it was written, too": (
        lambda wanted, most: [id for id in _right_writing(wanted, most) if id != _END]
    ),
    "max_length counts what is written, without the start": (
        lambda wanted, most: _right_writing(wanted, most - 1)
    ),
    "one word too many: stop at max_length": lambda wanted, most: _right_writing(wanted, most + 1),
    "it writes the least likely word each time": lambda wanted, most: [3] * most,
}

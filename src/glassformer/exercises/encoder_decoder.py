"""Checks for the exercises on the encoder-decoder."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, Hint, compare, compare_number, sample
from glassformer.reference.softmax import log_softmax

_PAD, _START, _END = 0, 1, 2


@check(see="All words at once")
def check_split_targets(attempt: Answer, rng: Generator) -> None:
    """Judge ``split_targets(target_ids)``: decoder inputs and labels."""
    compare(
        attempt,
        lambda ids: (ids[:, :-1], ids[:, 1:]),
        {
            Hint(
                "nothing is shifted: you give the decoder the very token that it has to predict",
                see="Two ways to a splendid loss",
            ): lambda ids: (ids[:, :-1], ids[:, :-1]),
            Hint(
                "nothing is shifted: your inputs and labels are both the whole sentence",
                see="Two ways to a splendid loss",
            ): lambda ids: (ids, ids),
            "you drop the start token from both; what should the first word be predicted from?": (
                lambda ids: (ids[:, 1:], ids[:, 1:])
            ),
            "your results are swapped: the inputs are one step behind the labels": (
                lambda ids: (ids[:, 1:], ids[:, :-1])
            ),
            "you shift by two, so one word is never a label": lambda ids: (ids[:, :-2], ids[:, 2:]),
            "your labels lack the end token, so the model would not learn to stop": (
                lambda ids: (ids[:, :-2], ids[:, 1:-1])
            ),
            "your inputs still hold the last token, after which nothing is predicted": lambda ids: (
                ids,
                ids[:, 1:],
            ),
            "your labels still hold the start token, which is never predicted": lambda ids: (
                ids[:, :-1],
                ids,
            ),
            "you cut off sentences, not tokens; time is the last axis": lambda ids: (ids[:-1], ids[1:]),
        },
        [
            (np.array([[_START, 5, _END]]),),
            (np.array([[_START, 5, 7, _END]]),),
            (np.array([[_START, 5, 7, 4, _END], [_START, 6, _END, _PAD, _PAD]]),),
            (_sentences(rng, 3, 7),),
        ],
    )


@check(see="Sixty-five million")
def check_decoder_layer_size(attempt: Answer) -> None:
    """Judge ``decoder_layer_size(d_model, d_ff)``, the count of what one decoder layer learns."""

    def size(attentions: int = 2, norms: int = 3, biases: int = 2, forward_biases: bool = True) -> Answer:
        def count(d_model: int, d_ff: int) -> int:
            maps = attentions * 4 * d_model**2 + 2 * d_model * d_ff
            shifts = 4 * d_model * min(biases, attentions) + forward_biases * (d_ff + d_model)
            return maps + shifts + 2 * norms * d_model

        return count

    compare(
        attempt,
        size(),
        {
            "that is an encoder layer; a decoder layer attends twice": size(attentions=1, norms=2),
            "you left out one attention; a decoder layer attends to itself and to the memory": size(
                attentions=1
            ),
            "you left out one norm; every sublayer has its own": size(norms=2),
            "you left out the norms": size(norms=0),
            "you left out the biases and the norms, which are parameters too": size(
                norms=0, biases=0, forward_biases=False
            ),
            "you left out the biases; every linear map adds one": size(biases=0, forward_biases=False),
            "you left out the biases of the attentions; each of their linear maps adds one": size(biases=0),
            "you left out the biases of the feed-forward network; both its linear maps add one": size(
                forward_biases=False
            ),
            "you left out the output projections of the attentions": (
                lambda d, f: size()(d, f) - 2 * (d * d + d)
            ),
            "you counted half of each norm; it has a scale and a shift": (lambda d, f: size()(d, f) - 3 * d),
            "you counted one linear map in the feed-forward network; it has two": lambda d, f: (
                size()(d, f) - d * f - d
            ),
        },
        [(2, 3), (64, 128), (512, 2048)],
    )


@check(see="All words at once")
def check_mean_nll(attempt: Answer, rng: Generator) -> None:
    """Judge ``mean_nll(log_probs, labels, pad_id)``: the loss that ignores padding."""

    def picked(log_probs: Array, wanted: Array) -> Array:
        return -np.take_along_axis(log_probs, wanted[..., None], axis=-1)[..., 0]

    def right(log_probs: Array, wanted: Array, pad: int) -> float:
        return float(picked(log_probs, wanted)[wanted != pad].mean())

    def by_sentence(log_probs: Array, wanted: Array, pad: int) -> float:
        rows = zip(picked(log_probs, wanted), wanted, strict=True)
        return float(np.mean([surprises[ids != pad].mean() for surprises, ids in rows]))

    def given(wanted: Sequence[Sequence[int]], vocabulary: int, pad: int = _PAD) -> tuple[Array, Array, int]:
        ids = np.array(wanted)
        return log_softmax(sample(rng, *ids.shape, vocabulary)).round(2), ids, pad

    compare(
        attempt,
        right,
        {
            "your sign is wrong: log-probabilities are negative, their negatives are positive": (
                lambda lp, w, pad: -right(lp, w, pad)
            ),
            "you count padding; it has no label": lambda lp, w, pad: float(picked(lp, w).mean()),
            "you leave padding out of the sum, but still count it in the mean": (
                lambda lp, w, pad: float((picked(lp, w) * (w != pad)).mean())
            ),
            "you take id 0 for padding; use pad_id": lambda lp, w, pad: right(lp, w, 0),
            "you return the sum; divide by the number of labels": (
                lambda lp, w, pad: float(picked(lp, w)[w != pad].sum())
            ),
            "you average the means of the sentences, so words of short sentences count more": by_sentence,
            "you leave out the end token; it is a label like any other": (
                lambda lp, w, pad: float(picked(lp, w)[(w != pad) & (w != _END)].mean())
            ),
            "you average probabilities; average log-probabilities": (
                lambda lp, w, pad: float(-np.exp(-picked(lp, w))[w != pad].mean())
            ),
            "yours is NaN: the numbers are logarithms already, and negative": (
                lambda lp, w, pad: float(-np.log(-picked(lp, w))[w != pad].mean())
            ),
            "you average over the whole vocabulary; at each position only the label counts": (
                lambda lp, w, pad: float(-lp[w != pad].mean())
            ),
            "you use the most likely token; use the label": (
                lambda lp, w, pad: float(-lp.max(-1)[w != pad].mean())
            ),
        },
        [
            given([[3]], 4),
            given([[3, _END]], 4),
            given([[3, _END, _PAD]], 4),
            given([[0, 3, _END], [_END, 4, 4]], 5, pad=4),
            given([[3, 4, 5, _END], [_END, _PAD, _PAD, _PAD]], 7),
        ],
    )


@check(see="Training and writing")
def check_greedy_decode(attempt: Answer, rng: Generator) -> None:
    """Judge ``greedy_decode(next_logits, max_length)``, which writes greedily until the end."""

    def writer(
        stops: bool = True,
        keeps_start: bool = False,
        most: int = 0,
        best: Callable[[Array], Any] = np.argmax,
        sees: Callable[[list[int]], list[int]] = list,
        keeps_end: bool = True,
    ) -> Answer:
        def run(next_logits: Answer, max_length: int) -> Array:
            ids = [_START]
            while len(ids) <= max_length + most and not (stops and ids[-1] == _END):
                ids.append(int(best(next_logits(sees(ids)))))
            kept = ids if keeps_start else ids[1:]
            return np.array([id for id in kept if keeps_end or id != _END], dtype=int)

        return run

    bugs: dict[str, dict[str, Any]] = {
        "your loop goes on after the end token; stop there": {"stops": False},
        "you return the start token, which was given, not generated": {"keeps_start": True},
        "your max_length counts the start token; count only generated tokens": {"most": -1},
    }
    some = [names for number in (1, 2, 3) for names in itertools.combinations(bugs, number)]
    words = tuple(map(int, rng.integers(3, 7, 4)))
    compare(
        attempt,
        writer(),
        {
            **{
                ". Also, ".join(names): writer(**{k: v for name in names for k, v in bugs[name].items()})
                for names in some
            },
            "you cut off the end token; it was generated too": writer(keeps_end=False),
            "yours is one token too long; stop at max_length": writer(most=1),
            "you choose the least likely token each time": writer(best=np.argmin),
            "you give the model only the last token; the next one depends on all of them": writer(
                sees=lambda ids: ids[-1:]
            ),
            "you do not give the model the start token, id 1": writer(sees=lambda ids: ids[1:]),
        },
        [
            (_teller(*wanted), most)
            for wanted, most in (((_END,), 3), ((7, _END), 3), ((*words, _END), 6), ((3, 6, 4, *words), 6))
        ],
    )


@check(see="What did it learn?")
def check_shortcut_accuracy(attempt: Any) -> None:
    """Judge the share of sentences in which the shortcut is right, nouns being drawn freely."""
    compare_number(
        attempt,
        0.75,
        {
            1.0: "that is its score where the two nouns always differ in gender",
            0.5: 'that is its score where "it" is the animal; half of the animals differ in '
            "gender from their place",
            0.25: "that is how often it is wrong",
            75: "right, but in per cent; the exercise asks for a share",
        },
        lambda number: (
            f"yours is {number:g}: go through every animal, place and adjective once"
            if 0 <= number <= 1
            else f"a share lies between 0 and 1, yours is {number:g}: divide by the number of sentences"
        ),
    )


@check(see='From "it"')
def check_best_of_16(attempt: Any) -> None:
    """Judge the score that the luckiest of 16 coins gets on 400 sentences, on average."""
    compare_number(
        attempt,
        0.5441,
        {
            0.5: "that is one coin's score; the best of the sixteen is chosen after the throws",
            0.4559: "that is the worst of the sixteen",
            0.025: "that is the standard deviation of one coin's score",
            54.41: "right, but in per cent; the exercise asks for a share",
            217.6: "right, but as a count; divide by the number of sentences",
        },
        lambda number: (
            f"{number:g} is the best of far more than sixteen: take the best of each sixteen, then the mean"
            if 0.57 < number < 0.65
            else f"yours is {number:g}: throw 16 coins 400 times, keep the best, and repeat that often"
        ),
    )


def _sentences(rng: Generator, rows: int, length: int) -> Array:
    """Draw marked sentences of different lengths, filled up with padding."""
    ids = rng.integers(3, 10, (rows, length))
    ids[:, 0] = _START
    ends = length - 1 - np.arange(rows)[:, None]
    places = np.arange(length)
    return np.where(places < ends, ids, np.where(places == ends, _END, _PAD))


def _teller(*wanted: int) -> Callable[[Sequence[int]], Array]:
    """A model that has learned one sentence, and goes on talking after its end, but not for ever."""
    asked = itertools.count(1)

    def next_logits(ids: Sequence[int]) -> Array:
        if next(asked) > 1000:
            raise RuntimeError("asked for 1000 tokens: your loop does not end")
        begun = [int(id) for id in np.asarray(ids).ravel()]
        told = len(begun) - 1
        logits = np.array([0.0, 0.5, 1.0, -1.0, 0.2, 0.1, 0.3, 0.4])
        logits[wanted[told] if begun[:1] == [_START] and told < len(wanted) else 5] = 3.0
        return logits

    next_logits.__name__ = f"a model that generates {' '.join(map(str, wanted))}, then 5 5 5 …"
    return next_logits

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
    """Check ``split_targets(target_ids)``: decoder inputs and labels."""
    compare(
        attempt,
        lambda ids: (ids[:, :-1], ids[:, 1:]),
        {
            Hint(
                "nothing is shifted: you give the decoder the token that it has to predict",
                see="Two bugs that lower the loss",
            ): lambda ids: (ids[:, :-1], ids[:, :-1]),
            Hint(
                "nothing is shifted: your inputs and labels are both the whole sentence",
                see="Two bugs that lower the loss",
            ): lambda ids: (ids, ids),
            "you drop the start token from both; what should the first word be predicted from?": (
                lambda ids: (ids[:, 1:], ids[:, 1:])
            ),
            "your results are swapped: inputs come first, labels second": (
                lambda ids: (ids[:, 1:], ids[:, :-1])
            ),
            "you shift by two, so one word is never a label": lambda ids: (ids[:, :-2], ids[:, 2:]),
            "your labels lack the end token, so no model would stop": lambda ids: (ids[:, :-2], ids[:, 1:-1]),
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


@check(see="Sixty-five million parameters")
def check_decoder_layer_size(attempt: Answer) -> None:
    """Check ``decoder_layer_size(d_model, d_ff)``: number of parameters of a decoder layer."""

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
            "you left out the biases and the norms; they are parameters, too": size(
                norms=0, biases=0, forward_biases=False
            ),
            "you left out the biases; every linear map adds one": size(biases=0, forward_biases=False),
            "you left out the biases of the attention layers; each of their linear maps adds one": size(
                biases=0
            ),
            "you left out the biases of the feed-forward network; both its linear maps add one": size(
                forward_biases=False
            ),
            "you left out the output projections of the attention layers": lambda d, f: (
                size()(d, f) - 2 * (d * d + d)
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
    """Check ``mean_nll(log_probs, labels, pad_id)``: mean negative log-likelihood without padding."""

    def nll(log_probs: Array, labels: Array) -> Array:
        return -np.take_along_axis(log_probs, labels[..., None], axis=-1)[..., 0]

    def right(log_probs: Array, labels: Array, pad: int) -> float:
        return float(nll(log_probs, labels)[labels != pad].mean())

    def by_sentence(log_probs: Array, labels: Array, pad: int) -> float:
        rows = zip(nll(log_probs, labels), labels, strict=True)
        return float(np.mean([losses[ids != pad].mean() for losses, ids in rows]))

    def case(labels: Sequence[Sequence[int]], vocabulary: int, pad: int = _PAD) -> tuple[Array, Array, int]:
        ids = np.array(labels)
        return log_softmax(sample(rng, *ids.shape, vocabulary)).round(2), ids, pad

    compare(
        attempt,
        right,
        {
            "your sign is wrong: log-probabilities are negative, their negatives are positive": (
                lambda lp, w, pad: -right(lp, w, pad)
            ),
            "you count padding; it has no label": lambda lp, w, pad: float(nll(lp, w).mean()),
            "you leave padding out of the sum, but still count it when you divide": (
                lambda lp, w, pad: float((nll(lp, w) * (w != pad)).mean())
            ),
            "you take id 0 for padding; use pad_id": lambda lp, w, pad: right(lp, w, 0),
            "you return the sum; return the mean": lambda lp, w, pad: float(nll(lp, w)[w != pad].sum()),
            "you average the means of the sentences, so words of short sentences count more": by_sentence,
            "you leave out the end token; it is a label like any other": (
                lambda lp, w, pad: float(nll(lp, w)[(w != pad) & (w != _END)].mean())
            ),
            "you average probabilities; average log-probabilities": (
                lambda lp, w, pad: float(-np.exp(-nll(lp, w))[w != pad].mean())
            ),
            "yours is NaN: the numbers are log-probabilities already, so don't take their logarithm": (
                lambda lp, w, pad: float(-np.log(-nll(lp, w))[w != pad].mean())
            ),
            "you average over the whole vocabulary; at each position only the label counts": (
                lambda lp, w, pad: float(-lp[w != pad].mean())
            ),
            "you use the top token; use the label": lambda lp, w, pad: float(-lp.max(-1)[w != pad].mean()),
        },
        [
            case([[3]], 4),
            case([[3, _END]], 4),
            case([[3, _END, _PAD]], 4),
            case([[0, 3, _END], [_END, 4, 4]], 5, pad=4),
            case([[3, 4, 5, _END], [_END, _PAD, _PAD, _PAD]], 7),
        ],
    )


@check(see="Training and decoding")
def check_greedy_decode(attempt: Answer, rng: Generator) -> None:
    """Check ``greedy_decode(next_logits, max_length)``: greedy decoding up to the end token."""

    def decoder(
        stops: bool = True,
        keeps_start: bool = False,
        extra: int = 0,
        best: Callable[[Array], Any] = np.argmax,
        model_input: Callable[[list[int]], list[int]] = list,
        keeps_end: bool = True,
    ) -> Answer:
        def run(next_logits: Answer, max_length: int) -> Array:
            ids = [_START]
            while len(ids) <= max_length + extra and not (stops and ids[-1] == _END):
                ids.append(int(best(next_logits(model_input(ids)))))
            kept = ids if keeps_start else ids[1:]
            return np.array([id for id in kept if keeps_end or id != _END], dtype=int)

        return run

    bugs: dict[str, dict[str, Any]] = {
        "your loop goes on after the end token; stop there": {"stops": False},
        "you return the start token, which was given, not generated": {"keeps_start": True},
        "your max_length counts the start token; count only generated tokens": {"extra": -1},
    }
    some = [names for number in (1, 2, 3) for names in itertools.combinations(bugs, number)]
    words = tuple(map(int, rng.integers(3, 7, 4)))
    compare(
        attempt,
        decoder(),
        {
            **{
                ". Also, ".join(names): decoder(**{k: v for name in names for k, v in bugs[name].items()})
                for names in some
            },
            "you cut off the end token; it was generated too": decoder(keeps_end=False),
            "yours is one token too long; stop at max_length": decoder(extra=1),
            "you choose the least likely token each time": decoder(best=np.argmin),
            "you give the model only the last token; the next one depends on all of them": decoder(
                model_input=lambda ids: ids[-1:]
            ),
            "you do not give the model the start token, id 1": decoder(model_input=lambda ids: ids[1:]),
        },
        [
            (_memorising_model(*sentence), limit)
            for sentence, limit in (((_END,), 3), ((7, _END), 3), ((*words, _END), 6), ((3, 6, 4, *words), 6))
        ],
    )


@check(see="What did it learn?")
def check_shortcut_accuracy(attempt: Any) -> None:
    """Check the accuracy of the shortcut when the nouns are drawn independently."""
    compare_number(
        attempt,
        0.75,
        {
            1.0: "that is its score if the two nouns always differ in gender",
            0.5: 'that is its score if "it" is the animal; average over both kinds of adjective',
            0.25: "that is how often the rule is wrong",
            75: "right, but in per cent; the exercise asks for a share",
        },
        lambda number: (
            f"yours is {number:g}: go through every animal, place and adjective once"
            if 0 <= number <= 1
            else f"a share lies between 0 and 1, yours is {number:g}: divide by the number of sentences"
        ),
    )


@check(see="Further measurements")
def check_best_of_16(attempt: Any) -> None:
    """Check the expected accuracy of the best of 16 coins on 400 sentences."""
    compare_number(
        attempt,
        0.5441,
        {
            0.5: "that is the score of one coin; choose the best of sixteen after tossing them all",
            0.4559: "that is the worst of the sixteen; take the best",
            0.025: "that is the standard deviation of one coin's score",
            54.41: "right, but in per cent; the exercise asks for a share",
            217.6: "right, but as a count; divide by the number of sentences",
        },
        lambda number: (
            f"yours is {number:g}, the best of far more than sixteen: average the best of each sixteen"
            if 0.57 < number < 0.65
            else f"yours is {number:g}: toss 16 coins 400 times each, keep the best one, repeat and average"
        ),
    )


def _sentences(rng: Generator, rows: int, length: int) -> Array:
    """Draw padded sentences of different lengths with start and end tokens."""
    ids = rng.integers(3, 10, (rows, length))
    ids[:, 0] = _START
    ends = length - 1 - np.arange(rows)[:, None]
    places = np.arange(length)
    return np.where(places < ends, ids, np.where(places == ends, _END, _PAD))


def _memorising_model(*sentence: int) -> Callable[[Sequence[int]], Array]:
    """Return a model that generates one sentence, then id 5; it raises an error after 1000 calls."""
    calls = itertools.count(1)

    def next_logits(ids: Sequence[int]) -> Array:
        if next(calls) > 1000:
            raise RuntimeError("asked for 1000 tokens: your loop does not end")
        prefix = [int(id) for id in np.asarray(ids).ravel()]
        step = len(prefix) - 1
        logits = np.array([0.0, 0.5, 1.0, -1.0, 0.2, 0.1, 0.3, 0.4])
        logits[sentence[step] if prefix[:1] == [_START] and step < len(sentence) else 5] = 3.0
        return logits

    next_logits.__name__ = f"a model that generates {' '.join(map(str, sentence))}, then 5 5 5 …"
    return next_logits

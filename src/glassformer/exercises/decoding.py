"""Checks for the exercises on decoding."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, compare_number, sample
from glassformer.reference.softmax import log_softmax, softmax

_PAD, _END = 0, 2


@check(see="A tree of sentences")
def check_greedy_step(attempt: Answer, rng: Generator) -> None:
    """Check ``greedy_step(logits, ended)``: the next id of each sentence, the pad id if it has ended."""

    def right(logits: Array, ended: Array) -> Array:
        return np.where(ended, _PAD, logits.argmax(axis=-1))

    compare(
        attempt,
        right,
        {
            "your finished sentences go on; they should get the pad id": lambda x, ended: x.argmax(axis=-1),
            "yours is inverted: you pad the unfinished sentences and continue the others": (
                lambda x, ended: np.where(ended, x.argmax(axis=-1), _PAD)
            ),
            "your finished sentences get the end id again; they should get the pad id, 0": (
                lambda x, ended: np.where(ended, _END, x.argmax(axis=-1))
            ),
            "you return the highest logits; return the ids of their words": (
                lambda x, ended: np.where(ended, _PAD, x.max(axis=-1))
            ),
            "you choose the least probable word; choose the most probable one": lambda x, ended: np.where(
                ended, _PAD, x.argmin(axis=-1)
            ),
            "you choose one word for all sentences; each sentence has its own": (
                lambda x, ended: np.where(ended, _PAD, x.argmax() % x.shape[1])
            ),
            "you return a row for each sentence; return one id": lambda x, ended: x * ~ended[:, None],
            "you choose a sentence for each word; the words are the last axis": lambda x, ended: x.argmax(
                axis=0
            ),
        },
        [
            (np.array([[0.3, 0.1, 0.2, 1.5]]), np.array([False])),
            (np.array([[0.3, 0.1, 0.2, 1.5]]), np.array([True])),
            (sample(rng, 2, 4) + 5 * np.eye(4)[[3, 1]], np.array([False, True])),
            (sample(rng, 5, 7) + 5 * np.eye(7)[[3, 6, 4, 5, 3]], np.arange(5) % 3 == 1),
        ],
    )


@check(see="The cache")
def check_cache_savings(attempt: Any) -> None:
    """Check how many key and value projections a cache saves for 30 tokens in 6 layers."""
    compare_number(
        attempt,
        5220,
        {
            5580: "that is the number without a cache; subtract what is computed with one",
            360: "that is the number with a cache; how many more are there without one?",
            2610: "you counted one vector for each token and layer; there is a key and a value",
            870: "that is one layer; there are six",
            435: "those are the keys of one layer; count the values too, in six layers",
            10440: "you counted 30 tokens at each step; step t has t tokens, half as many on average",
            10800: "step t has t tokens, not 30; then subtract the 360 with a cache",
            4860: "you left out step 30; count from 1 to 30",
        },
        lambda number: f"yours is {number:g}: step t projects t tokens without a cache, and one with it",
    )


@check(see="The length penalty")
def check_scores(attempt: Answer, rng: Generator) -> None:
    """Check ``scores(log_probabilities, lengths, alpha)``: length-normalised scores of hypotheses."""

    def divided_by(penalty: Any) -> Answer:
        return lambda log_p, n, alpha: log_p / penalty(n, alpha)

    compare(
        attempt,
        divided_by(lambda n, alpha: ((5 + n) / 6) ** alpha),
        {
            "yours ignores the length, so a long hypothesis loses by its length alone": divided_by(
                lambda n, a: 1
            ),
            "yours is the mean log-probability; the penalty is ((5 + n) / 6) ** alpha": divided_by(
                lambda n, a: n
            ),
            "you take the power of n alone; first add 5 and divide by 6": divided_by(lambda n, a: n**a),
            "you take the power of 5 + n alone; divide by 6 first": divided_by(lambda n, a: (5 + n) ** a / 6),
            "you add 5 to the length, but do not divide by 6": divided_by(lambda n, a: (5 + n) ** a),
            "your penalty lacks the 5; it should be ((5 + n) / 6) ** alpha": divided_by(
                lambda n, a: (n / 6) ** a
            ),
            "you multiply by alpha; it is an exponent": divided_by(lambda n, a: a * (5 + n) / 6),
            "yours ignores alpha": divided_by(lambda n, a: (5 + n) / 6),
            "you multiply; log-probabilities are negative, so divide to raise a long hypothesis": (
                divided_by(lambda n, a: ((5 + n) / 6) ** -a)
            ),
            "you take the logarithm of log-probabilities; use them as they are": (
                lambda p, n, a: np.log(-p) / ((5 + n) / 6) ** a
            ),
        },
        [
            (np.array([-3.0]), np.array([7]), 1.5),
            (-np.abs(sample(rng, 2)), np.array([1, 4]), 0.5),
            (np.array([-2.0, -2.4, -9.0]), np.array([2, 8, 30]), 0.6),
        ],
    )


@check(see="Sampling")
def check_next_probabilities(attempt: Answer, rng: Generator) -> None:
    """Check ``next_probabilities(logits, temperature, top_p)``: nucleus sampling with temperature."""

    def before(probabilities: Array) -> Array:
        """Sum the probabilities of all words that are more probable than each."""
        order = np.argsort(-probabilities)
        sums = np.empty_like(probabilities)
        sums[order] = probabilities[order].cumsum() - probabilities[order]
        return sums

    def nucleus(each: Array, top_p: float) -> Array:
        return before(each) < top_p

    def least_likely(each: Array, top_p: float) -> Array:
        order = np.argsort(each)
        sums = np.empty_like(each)
        sums[order] = each[order].cumsum() - each[order]
        return sums < top_p

    def cut(probabilities: Array, kept: Array, share: bool = True) -> Array:
        left = np.where(kept, probabilities, 0)
        return left / left.sum() if share else left

    def drawn(
        scaled_by: Callable[[Array, float], Array] = lambda x, t: softmax(x / t),
        keep: Callable[[Array, float], Array] = nucleus,
        share: bool = True,
    ) -> Answer:
        return lambda logits, temperature, top_p: cut(
            tempered := scaled_by(logits, temperature), keep(tempered, top_p), share
        )

    def cut_before_temperature(logits: Array, temperature: float | int, top_p: float | int) -> Array:
        return cut(softmax(logits / temperature), nucleus(softmax(logits), top_p))

    bugs: dict[str, dict[str, Any]] = {
        "you divide the probabilities by the temperature; divide the logits, before the softmax": {
            "scaled_by": lambda x, t: softmax(x) / t
        },
        "you leave out the word that takes the sum across top_p; it belongs to the set": {
            "keep": lambda each, top_p: before(each) + each <= top_p
        },
        "your probabilities do not sum to one: divide by their sum": {"share": False},
    }
    some = [names for number in (1, 2, 3) for names in itertools.combinations(bugs, number)]
    compare(
        attempt,
        drawn(),
        {
            **{
                ". Also, ".join(names): drawn(**{k: v for name in names for k, v in bugs[name].items()})
                for names in some
            },
            "you compare each probability with top_p; compare their sum": drawn(
                keep=lambda each, top_p: each >= top_p
            ),
            "you cut before applying the temperature; apply it first": cut_before_temperature,
            "you multiply by the temperature; divide the logits by it": drawn(lambda x, t: softmax(x * t)),
            "yours ignores the temperature": drawn(lambda x, t: softmax(x)),
            "yours ignores top_p": drawn(keep=lambda each, top_p: each >= 0),
            "you return sorted probabilities; each belongs at the index of its word": (
                lambda x, t, p: -np.sort(-drawn()(x, t, p))
            ),
            "you add up in the order of the vocabulary; start with the most probable word": drawn(
                keep=lambda each, top_p: each.cumsum() - each < top_p
            ),
            "your set is in sorted order; map it back to the order of the vocabulary": drawn(
                keep=lambda each, top_p: before(np.sort(each)[::-1]) < top_p
            ),
            "you keep the least probable words; keep the most probable ones": drawn(keep=least_likely),
        },
        [
            (np.log(np.array([0.3, 0.7])), 1.0, 0.5),
            (np.log(np.array([0.4, 0.3, 0.2, 0.1])), 1.0, 0.65),
            (np.log(np.array([0.05, 0.15, 0.5, 0.3])), 2.0, 0.7),
            (sample(rng, 5), 0.5, 0.8),
            (sample(rng, 13), 3.0, 0.9),
            (np.log(np.array([0.1, 0.4, 0.3, 0.2])), 1.0, 0.25),
        ],
    )


@check(see="One translation, many scores")
def check_clipped_precision(attempt: Answer, rng: Generator) -> None:
    """Check ``clipped_precision(translation, reference, n)``: BLEU's modified n-gram precision."""

    def grams(words: Sequence[str], n: int) -> Counter:
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    def right(translation: Sequence[str], reference: Sequence[str], n: int) -> float:
        return (grams(translation, n) & grams(reference, n)).total() / grams(translation, n).total()

    def unclipped(translation: Sequence[str], reference: Sequence[str], n: int) -> float:
        found = grams(reference, n)
        counts = grams(translation, n)
        return sum(count for gram, count in counts.items() if gram in found) / counts.total()

    def as_sets(translation: Sequence[str], reference: Sequence[str], n: int) -> float:
        mine, theirs = set(grams(translation, n)), set(grams(reference, n))
        return len(mine & theirs) / len(mine)

    def recall(translation: Sequence[str], reference: Sequence[str], n: int) -> float:
        return right(reference, translation, n)

    def in_place(translation: Sequence[str], reference: Sequence[str], n: int) -> float:
        pairs = [[tuple(w[i : i + n]) for i in range(len(w) - n + 1)] for w in (translation, reference)]
        return sum(a == b for a, b in zip(*pairs, strict=False)) / len(pairs[0])

    def apart(translation: Sequence[str], reference: Sequence[str], n: int) -> float:
        cut = [[tuple(w[i : i + n]) for i in range(0, len(w), n)] for w in (translation, reference)]
        mine, theirs = map(Counter, cut)
        return (mine & theirs).total() / mine.total()

    compare(
        attempt,
        right,
        {
            "you do not clip: an n-gram counts at most as often as the reference has it": unclipped,
            "you count the reference alone; take the smaller of the two counts": (
                lambda t, r, n: sum(grams(r, n)[gram] for gram in grams(t, n)) / grams(t, n).total()
            ),
            "you count each n-gram once; count it in both, and take the smaller number": as_sets,
            "you divide by the n-grams of the reference, which gives recall": recall,
            "you compare n-grams at the same position; they may be anywhere in the reference": in_place,
            "you leave out the last n-gram of each": lambda t, r, n: right(t[:-1], r[:-1], n),
            "your n-grams do not overlap; the next one starts one word later": apart,
            "yours ignores n; an n-gram is n adjacent words": (lambda t, r, n: right(t, r, 1)),
            "you divide by the number of words; divide by the number of n-grams": (
                lambda t, r, n: (grams(t, n) & grams(r, n)).total() / len(t)
            ),
            "you return a count; divide it by the number of n-grams in the translation": (
                lambda t, r, n: (grams(t, n) & grams(r, n)).total()
            ),
        },
        [
            (translation.split(), reference.split(), n)
            for translation, reference, n in (
                ("le chat", "le chien", 1),
                ("le le", "le chat", 1),
                ("le chat", "le le chat", 1),
                ("le le le le", "le chat dort", 1),
                ("le chat le chien", "le chien et le chat", 1),
                ("le chat le chat dort", "le chat dort", 2),
                ("il dort et il dort bien et il dort", "et il dort et il dort bien", 2),
                ("dort le chat noir ce soir", "le chat noir dort ici ce soir là", 3),
                (" ".join(rng.choice(["il", "dort", "bien"], 8)), "il dort bien et il dort", 2),
            )
        ],
    )


@check(see="Beam search")
def check_beam_step(attempt: Answer, rng: Generator) -> None:
    """Check ``beam_step(ids, totals, log_probs, beam_size, num_ended)``: the hypotheses kept."""

    def extend(scores: Array, ids: Array, count: int) -> tuple[Array, Array]:
        order = np.argsort(-scores, axis=None, kind="stable")[: max(count, 0)]
        parents, tokens = np.divmod(order, scores.shape[1])
        return np.concatenate([ids[parents], tokens[:, None]], axis=1), scores.ravel()[order]

    def right(ids: Array, totals: Array, log_probs: Array, size: int, ended: int) -> tuple[Array, Array]:
        return extend(totals[:, None] + log_probs, ids, size - ended)

    def one_per_hypothesis(
        ids: Array, totals: Array, log_probs: Array, size: int, ended: int
    ) -> tuple[Array, Array]:
        own = log_probs == log_probs.max(axis=1, keepdims=True)
        room = min(size - ended, len(ids))
        return extend(np.where(own, totals[:, None] + log_probs, -np.inf), ids, room)

    def without_end(
        ids: Array, totals: Array, log_probs: Array, size: int, ended: int
    ) -> tuple[Array, Array]:
        goes_on = np.where(np.arange(log_probs.shape[1]) == _END, -np.inf, log_probs)
        return right(ids, totals, goes_on, size, ended)

    def wrong_parents(ids: Array, *given: Any) -> tuple[Array, Array]:
        longer, totals = right(ids, *given)
        return np.column_stack([np.resize(ids, (len(longer), ids.shape[1])), longer[:, -1]]), totals

    compare(
        attempt,
        right,
        {
            "you forget the finished hypotheses; each takes a place of the beam": (
                lambda i, t, p, size, ended: right(i, t, p, size, 0)
            ),
            "you multiply log-probabilities; add them": (
                lambda i, t, p, size, ended: extend(t[:, None] * p, i, size - ended)
            ),
            "you keep the best of each hypothesis; let all candidates compete": one_per_hypothesis,
            "you rank by the last token alone; add the score of the hypothesis before it": (
                lambda i, t, p, size, ended: extend(0 * t[:, None] + p, i, size - ended)
            ),
            "your results are in reverse order": lambda *given: tuple(part[::-1] for part in right(*given)),
            "your tokens are right, but follow the wrong hypotheses; use each score's row": wrong_parents,
            "you discard the end token; treat it like any other": without_end,
            "you keep the worst candidates": (
                lambda i, t, p, size, ended: (
                    (worst := extend(-(t[:, None] + p), i, size - ended))[0],
                    -worst[1],
                )
            ),
            "you add probabilities; add log-probabilities": (
                lambda i, t, p, size, ended: extend(np.exp(t)[:, None] + np.exp(p), i, size - ended)
            ),
        },
        [
            (np.array([[4]]), np.array([-0.5]), np.log([[0.05, 0.05, 0.2, 0.3, 0.4]]).round(2), 3, 0),
            (
                np.array([[4, 3], [3, 4]]),
                np.array([-0.4, -2.5]),
                np.log([[0.05, 0.05, 0.3, 0.35, 0.25], [0.02, 0.02, 0.9, 0.03, 0.03]]).round(2),
                3,
                1,
            ),
            (
                np.array([[4, 3, 4], [3, 4, 3], [3, 3, 3]]),
                np.array([-1.0, -1.2, -2.9]),
                log_softmax(sample(rng, 3, 7)),
                5,
                2,
            ),
        ],
    )

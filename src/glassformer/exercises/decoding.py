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
    """Judge ``greedy_step(logits, ended)``: the next id of each sentence, 0 for those that have ended."""

    def right(logits: Array, ended: Array) -> Array:
        return np.where(ended, _PAD, logits.argmax(axis=-1))

    compare(
        attempt,
        right,
        {
            "a sentence that has ended goes on: it gets the pad id": lambda x, ended: x.argmax(axis=-1),
            "the other way round: those that have ended are filled up, the others go on": (
                lambda x, ended: np.where(ended, x.argmax(axis=-1), _PAD)
            ),
            "a sentence that has ended is filled up with the pad id, 0, not with its end once more": (
                lambda x, ended: np.where(ended, _END, x.argmax(axis=-1))
            ),
            "these are the logits themselves: which word do they belong to?": (
                lambda x, ended: np.where(ended, _PAD, x.max(axis=-1))
            ),
            "it takes the least likely word": lambda x, ended: np.where(ended, _PAD, x.argmin(axis=-1)),
            "the likeliest word of all sentences together: each sentence has its own": (
                lambda x, ended: np.where(ended, _PAD, x.argmax() % x.shape[1])
            ),
            "a row for each sentence came back, with its words: wanted is one id a sentence": (
                lambda x, ended: x * ~ended[:, None]
            ),
            "it chooses a sentence for each word: words are the last axis": lambda x, ended: x.argmax(axis=0),
        },
        [
            (np.array([[0.3, 0.1, 0.2, 1.5]]), np.array([False])),
            (np.array([[0.3, 0.1, 0.2, 1.5]]), np.array([True])),
            (sample(rng, 2, 4) + 5 * np.eye(4)[[3, 1]], np.array([False, True])),
            (sample(rng, 5, 7) + 5 * np.eye(7)[[3, 6, 4, 5, 3]], np.arange(5) % 3 == 1),
        ],
    )


@check(see="Keep what was computed")
def check_cache_savings(attempt: Any) -> None:
    """Judge how many of the vectors projected while 6 layers write 30 tokens a cache would have spared."""
    compare_number(
        attempt,
        5220,
        {
            5580: "that is how many there are without a cache: those that a cache computes are no waste",
            360: "that is how many there are with a cache: one key and one value for each token and layer",
            2610: "keys and values: two vectors for each token",
            870: "that is one layer's: there are six",
            435: "that is one layer's keys: there are values, too, and six layers",
            10440: "at step t there are t tokens, not 30: the mean is about half as many",
            10800: "at step t there are t tokens, not 30; and a cache computes 360 of them, too",
            4860: "the 30th token, too, is projected along with all before it: count from 1 to 30",
        },
        lambda number: (
            f"{number:g} is not what we counted: at step t, t tokens are projected, one with a cache"
        ),
    )


@check(see="Longer is less likely")
def check_scores(attempt: Answer, rng: Generator) -> None:
    """Judge ``scores(log_probabilities, lengths, alpha)``, what hypotheses are ranked by."""

    def divided_by(penalty: Any) -> Answer:
        return lambda log_p, n, alpha: log_p / penalty(n, alpha)

    compare(
        attempt,
        divided_by(lambda n, alpha: ((5 + n) / 6) ** alpha),
        {
            "the length has no say: a long hypothesis would lose by its length alone": divided_by(
                lambda n, a: 1
            ),
            "this is the mean log-probability: the penalty is ((5 + n) / 6) ** alpha": divided_by(
                lambda n, a: n
            ),
            "the power is taken of n alone: first add 5 and divide by 6": divided_by(lambda n, a: n**a),
            "the power is taken of the 5 + n alone: divide by 6 before": divided_by(
                lambda n, a: (5 + n) ** a / 6
            ),
            "5 is added to the length and to nothing else: divide by 6": divided_by(
                lambda n, a: (5 + n) ** a
            ),
            "the 5 is missing: (n / 6) ** alpha would hardly hold a short hypothesis back": divided_by(
                lambda n, a: (n / 6) ** a
            ),
            "alpha is an exponent, not a factor": divided_by(lambda n, a: a * (5 + n) / 6),
            "alpha has no say": divided_by(lambda n, a: (5 + n) / 6),
            "multiplied: log-probabilities are negative, so a long one must be divided to rise": (
                divided_by(lambda n, a: ((5 + n) / 6) ** -a)
            ),
            "these are the logarithms of numbers that are logarithms already": (
                lambda p, n, a: np.log(-p) / ((5 + n) / 6) ** a
            ),
        },
        [
            (np.array([-3.0]), np.array([7]), 1.5),
            (-np.abs(sample(rng, 2)), np.array([1, 4]), 0.5),
            (np.array([-2.0, -2.4, -9.0]), np.array([2, 8, 30]), 0.6),
        ],
    )


@check(see="By chance")
def check_next_probabilities(attempt: Answer, rng: Generator) -> None:
    """Judge ``next_probabilities(logits, temperature, top_p)``: what the next word is drawn by."""

    def before(probabilities: Array) -> Array:
        """How much the words above each have together."""
        order = np.argsort(-probabilities)
        sums = np.empty_like(probabilities)
        sums[order] = probabilities[order].cumsum() - probabilities[order]
        return sums

    def reaching(each: Array, top_p: float) -> Array:
        return before(each) < top_p

    def rarest(each: Array, top_p: float) -> Array:
        order = np.argsort(each)
        sums = np.empty_like(each)
        sums[order] = each[order].cumsum() - each[order]
        return sums < top_p

    def cut(probabilities: Array, kept: Array, share: bool = True) -> Array:
        left = np.where(kept, probabilities, 0)
        return left / left.sum() if share else left

    def drawn(
        heat: Callable[[Array, float], Array] = lambda x, t: softmax(x / t),
        keep: Callable[[Array, float], Array] = reaching,
        share: bool = True,
    ) -> Answer:
        return lambda logits, temperature, top_p: cut(
            heated := heat(logits, temperature), keep(heated, top_p), share
        )

    def cold_set(logits: Array, temperature: float | int, top_p: float | int) -> Array:
        return cut(softmax(logits / temperature), reaching(softmax(logits), top_p))

    bugs: dict[str, dict[str, Any]] = {
        "the temperature divides logits, before the softmax; after it, it sharpens nothing": {
            "heat": lambda x, t: softmax(x) / t
        },
        "the word that takes the sum across top_p is left out: it belongs to the set": {
            "keep": lambda each, top_p: before(each) + each <= top_p
        },
        "what is left does not sum to one: divide by its sum": {"share": False},
    }
    some = [names for number in (1, 2, 3) for names in itertools.combinations(bugs, number)]
    compare(
        attempt,
        drawn(),
        {
            **{
                "; ".join(names): drawn(**{k: v for name in names for k, v in bugs[name].items()})
                for names in some
            },
            "top_p bounds what the words have together, not what each has": drawn(
                keep=lambda each, top_p: each >= top_p
            ),
            "the set is taken before the temperature: heat first, then cut": cold_set,
            "multiplied by the temperature: logits are divided by it": drawn(lambda x, t: softmax(x * t)),
            "the temperature has no say": drawn(lambda x, t: softmax(x)),
            "top_p has no say: all words can still be drawn": drawn(keep=lambda each, top_p: each >= 0),
            "the probabilities come sorted: each belongs at the place of its word": (
                lambda x, t, p: -np.sort(-drawn()(x, t, p))
            ),
            "added up in the order of the words: begin with the likeliest": drawn(
                keep=lambda each, top_p: each.cumsum() - each < top_p
            ),
            "what is kept was found in sorted order, but the words are not sorted: bring it back": drawn(
                keep=lambda each, top_p: before(np.sort(each)[::-1]) < top_p
            ),
            "the least likely words are kept: the set is that of the likeliest": drawn(keep=rarest),
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
    """Judge ``clipped_precision(translation, reference, n)``: the n-grams that the reference has."""

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
            "not clipped: an n-gram counts at most as often as the reference has it": unclipped,
            "the counts of the reference alone: count what both have, the smaller of the two": (
                lambda t, r, n: sum(grams(r, n)[gram] for gram in grams(t, n)) / grams(t, n).total()
            ),
            "each n-gram counts once: count how often it comes in both, and take the smaller": as_sets,
            "divided by the n-grams of the reference: that is recall": recall,
            "n-grams may stand anywhere in the reference, not only at the same place": in_place,
            "the last n-gram of each is left out: the last one ends with the last word": (
                lambda t, r, n: right(t[:-1], r[:-1], n)
            ),
            "n-grams overlap: the next one begins one word on, not n": apart,
            "n words are no n-gram unless they stand side by side: n has no say here": (
                lambda t, r, n: right(t, r, 1)
            ),
            "divided by the number of words: n words fewer one begin an n-gram": (
                lambda t, r, n: (grams(t, n) & grams(r, n)).total() / len(t)
            ),
            "that is a count: divide by how many n-grams the translation has": (
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


@check(see="Several ways at once")
def check_beam_step(attempt: Answer, rng: Generator) -> None:
    """Judge ``beam_step(ids, totals, log_probs, beam_size, num_ended)``: what is followed from here on."""

    def extend(added: Array, ids: Array, count: int) -> tuple[Array, Array]:
        order = np.argsort(-added, axis=None, kind="stable")[: max(count, 0)]
        parents, tokens = np.divmod(order, added.shape[1])
        return np.concatenate([ids[parents], tokens[:, None]], axis=1), added.ravel()[order]

    def right(ids: Array, totals: Array, log_probs: Array, size: int, ended: int) -> tuple[Array, Array]:
        return extend(totals[:, None] + log_probs, ids, size - ended)

    def one_each(ids: Array, totals: Array, log_probs: Array, size: int, ended: int) -> tuple[Array, Array]:
        own = log_probs == log_probs.max(axis=1, keepdims=True)
        room = min(size - ended, len(ids))
        return extend(np.where(own, totals[:, None] + log_probs, -np.inf), ids, room)

    def never_ends(ids: Array, totals: Array, log_probs: Array, size: int, ended: int) -> tuple[Array, Array]:
        goes_on = np.where(np.arange(log_probs.shape[1]) == _END, -np.inf, log_probs)
        return right(ids, totals, goes_on, size, ended)

    def unparented(ids: Array, *given: Any) -> tuple[Array, Array]:
        longer, totals = right(ids, *given)
        return np.column_stack([np.resize(ids, (len(longer), ids.shape[1])), longer[:, -1]]), totals

    compare(
        attempt,
        right,
        {
            "hypotheses that have ended are forgotten: each takes a place of the beam": (
                lambda i, t, p, size, ended: right(i, t, p, size, 0)
            ),
            "log-probabilities are multiplied: probabilities multiply, their logarithms add": (
                lambda i, t, p, size, ended: extend(t[:, None] * p, i, size - ended)
            ),
            "the best of each beam: let all continuations compete, one beam may have several": one_each,
            "only the last token counts: add what the beam had before": (
                lambda i, t, p, size, ended: extend(0 * t[:, None] + p, i, size - ended)
            ),
            "the right ones, but the likeliest comes last": (
                lambda *given: tuple(part[::-1] for part in right(*given))
            ),
            "the right tokens after the wrong beginnings: each goes on from the row that it was found in": (
                unparented
            ),
            "the end is thrown away: it is a token like any other": never_ends,
            "these are the worst": (
                lambda i, t, p, size, ended: (
                    (worst := extend(-(t[:, None] + p), i, size - ended))[0],
                    -worst[1],
                )
            ),
            "probabilities are added, not their logarithms": (
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

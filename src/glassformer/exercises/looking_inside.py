"""Checks for the exercises on maps, ablations and attributions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from numpy.random import Generator
from torch import Tensor

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, compare_number, sample
from glassformer.checking.slips import Slip
from glassformer.checking.toy_model import AttentionPool
from glassformer.reference.softmax import softmax


@check(see="Maps second")
def check_attended_key(attempt: Answer, rng: Generator) -> None:
    """Judge ``attended_key(weights)``: the key with the largest weight, mean over heads, of each query."""
    cases = [(np.array([[[0.4, 0.6]]]),), (np.array([[[0.4, 0.6]], [[0.9, 0.1]]]),)]
    cases += [(np.array([[[0.6, 0.4, 0.0]], [[0.05, 0.4, 0.55]]]),)]
    cases += [(softmax(3 * sample(rng, *shape)).round(2),) for shape in ((2, 2, 2), (2, 3, 4), (3, 7, 5))]

    def vote(weights: Array) -> Array:
        choices = weights.argmax(-1)
        return np.array([np.bincount(column).argmax() for column in choices.T])

    compare(
        attempt,
        lambda weights: weights.mean(0).argmax(-1),
        {
            "averaged over the queries: the heads are the first axis": lambda w: w.mean(1).argmax(-1),
            "read down the columns: a row is a query, and its largest weight stands in one of the columns": (
                lambda weights: weights.mean(0).argmax(0)
            ),
            "each head for itself: take the mean over the heads first": lambda weights: weights.argmax(-1),
            "the largest weight of any head: wanted is the largest mean over the heads": (
                lambda weights: weights.max(0).argmax(-1)
            ),
            "the heads voted: wanted is the largest of their mean weights": vote,
            "counted from 1: the first key has the number 0": lambda weights: weights.mean(0).argmax(-1) + 1,
            "this is the least weight: wanted is the largest": lambda weights: weights.mean(0).argmin(-1),
            "only the first head was read": lambda weights: weights[0].argmax(-1),
            "these are the weights: wanted is where they stand": lambda weights: weights.mean(0).max(-1),
        },
        cases,
    )


@check(see="What is a head worth?")
def check_without_head(attempt: Answer, rng: Generator) -> None:
    """Judge ``without_head(attended, output_weight, head)``: the output with one head switched off."""

    def output(attended: Array, output_weight: Array) -> Array:
        heads, _, width = attended.shape
        return (attended @ output_weight.reshape(heads, width, -1)).sum(0)

    def switched_off(attended: Array, output_weight: Array, head: int) -> Array:
        kept = np.arange(len(attended)) != head
        return output(attended * kept[:, None, None], output_weight)

    def by_time(attended: Array, output_weight: Array, head: int) -> Array:
        kept = np.arange(attended.shape[1]) != head
        return output(attended * kept[:, None], output_weight)

    def by_mean(attended: Array, output_weight: Array, head: int) -> Array:
        return output(np.where(_is(head, attended), attended.mean(0), attended), output_weight)

    def made_up_for(attended: Array, output_weight: Array, head: int) -> Array:
        scale = len(attended) / max(len(attended) - 1, 1)
        return scale * switched_off(attended, output_weight, head)

    def interleaved(attended: Array, output_weight: Array, head: int) -> Array:
        return output(attended, output_weight) - (
            attended[head] @ output_weight[head :: len(attended)][: attended.shape[-1]]
        )

    def other_rows(attended: Array, output_weight: Array, head: int) -> Array:
        left = np.delete(output_weight, slice(head, head + attended.shape[-1]), axis=0)
        return np.hstack([*np.delete(attended, head, axis=0), attended[0, :, :0]]) @ left

    compare(
        attempt,
        switched_off,
        {
            "nothing is switched off: this is the output of all heads": lambda a, w, head: output(a, w),
            "only this head is left: it is the one to be silenced": (
                lambda a, w, head: output(a * _is(head, a), w)
            ),
            "a position is switched off, not a head: the heads are the first axis": by_time,
            "the mean of all heads in its place: that asks another question, here it hands on zeros": by_mean,
            "counted from 1: the head before it is switched off": (
                lambda a, w, head: switched_off(a, w, (head - 1) % len(a))
            ),
            "not joined in the order of the heads: a row of the input to W_O has head after head": (
                lambda a, w, head: (a * ~_is(head, a)).reshape(a.shape[1], -1) @ w
            ),
            "its numbers are taken out of the rows of another head: each head has d_k rows of W_O": (
                interleaved
            ),
            "the wrong rows of W_O are left out: those of a head begin at head · d_k": other_rows,
            "the other heads are turned up to make up for it: leave them as they are": made_up_for,
        },
        [
            (sample(rng, heads, time, width), sample(rng, heads * width, columns), head)
            for heads, time, width, columns, head in (
                (2, 1, 1, 1, 0),
                (2, 2, 2, 2, 1),
                (3, 5, 2, 4, 1),
                (5, 7, 2, 3, 4),
            )
        ],
    )


@check(see="By hand: three words and a vote")
def check_log_odds_without(attempt: Any) -> None:
    """Judge the log-odds of "il" once the word with weight 0.3 and vote 2 is covered."""
    compare_number(
        attempt,
        0.2 * -1.5 / 0.7,
        {
            -0.3: "the weights that are left must sum to one again: the softmax sees to that",
            0.3: "that is the log-odds with the word",
            0.6: "that is what the word itself said",
            0.3 / 0.7: "the right size: but what does the last word vote for?",
            0.3 - 2: "the vote counts with its weight, and the weights that are left change",
            -0.75: "a mean with even weights: 0.5 and 0.2 keep their ratio",
        },
        lambda value: f"not {value:g}: divide the two weights left by their sum, then average the votes",
    )


@check(see="By hand: three words and a vote")
def check_occlude(attempt: Answer, rng: Generator) -> None:
    """Judge ``occlude(score, ids, blank)``: how far the score falls without each token."""
    table = sample(rng, 4, 9)

    def score(ids: Array) -> float:
        found = table[np.arange(len(ids)) % 4, np.asarray(ids)]
        return float(found.sum() + found[0] * found[-1])

    score.__name__ = "a sum of numbers that are looked up, and the first times the last"

    def falls(change: Callable[[Array, int, int], Array], sign: int = 1) -> Answer:
        def run(score: Answer, ids: Array, blank: int) -> Array:
            return sign * np.array(
                [score(ids) - score(change(ids, place, blank)) for place in range(len(ids))]
            )

        return run

    def one(ids: Array, place: int, blank: int) -> Array:
        return np.where(np.arange(len(ids)) == place, blank, ids)

    def left(score: Answer, ids: Array, blank: int) -> Array:
        return score(ids) - falls(one)(score, ids, blank)

    compare(
        attempt,
        falls(one),
        {
            "the sign is turned: a fall is the score before less the score after": falls(one, sign=-1),
            "the blanks add up: put each token back before the next one is covered": falls(
                lambda ids, place, blank: np.where(np.arange(len(ids)) <= place, blank, ids)
            ),
            "all others are covered: cover one token and leave the others": falls(
                lambda ids, place, blank: np.where(np.arange(len(ids)) == place, ids, blank)
            ),
            "the token is taken out, and those behind it move up: put the blank in its place": falls(
                lambda ids, place, blank: np.delete(ids, place)
            ),
            "divided by the score before: the fall itself is wanted": (
                lambda score, ids, blank: falls(one)(score, ids, blank) / score(ids)
            ),
            "the sum of all falls: wanted is one for each token": (
                lambda score, ids, blank: falls(one)(score, ids, blank).sum()
            ),
            "this is the score that is left: subtract it from the score before": left,
        },
        [(score, np.array(ids), 8) for ids in ([1, 2], [3, 1, 4], [7, 0, 5, 2, 6])],
    )


@check(see="In PyTorch: gradient times input")
def check_saliency(attempt: Answer, rng: Generator) -> None:
    """Judge ``saliency(vectors, gradients)``: gradient × input, one number a token."""
    compare(
        attempt,
        lambda vectors, gradients: (vectors * gradients).sum(-1),
        {
            "the gradients alone: each number of a gradient is multiplied with that of the vector": (
                lambda vectors, gradients: gradients.sum(-1)
            ),
            "the length of the gradient: that is how much a token could change, not how much it says": (
                lambda vectors, gradients: np.linalg.norm(gradients, axis=-1)
            ),
            "absolute values before the sum: what a vector's numbers say against each other must cancel": (
                lambda vectors, gradients: np.abs(vectors * gradients).sum(-1)
            ),
            "the absolute value at the end: a token may speak against the answer, too": (
                lambda vectors, gradients: np.abs((vectors * gradients).sum(-1))
            ),
            "each gradient is divided by its length: how steep it is counts, too": (
                lambda vectors, gradients: (vectors * gradients).sum(-1) / np.linalg.norm(gradients, axis=-1)
            ),
            "every token with every other: each vector goes with its own gradient": (
                lambda vectors, gradients: vectors @ gradients.T
            ),
            "the mean: wanted is the sum over the numbers of a vector": (
                lambda vectors, gradients: (vectors * gradients).mean(-1)
            ),
            "summed over the tokens: sum over the numbers of each vector": (
                lambda vectors, gradients: (vectors * gradients).sum(0)
            ),
            "not summed yet: wanted is one number a token": lambda vectors, gradients: vectors * gradients,
        },
        [
            (np.array([[2.0, 1.0]]), np.array([[3.0, -1.0]])),
            *((sample(rng, *shape), sample(rng, *shape)) for shape in ((2, 2), (2, 3), (5, 3))),
        ],
    )


@check(see="In PyTorch: gradient times input")
def check_fixed_saliency(attempt: Answer, rng: Generator) -> None:
    """Judge the mended ``saliency(model, vectors, attn_mask)``: deterministic, and blind to padding."""

    def wrong(
        masked: bool = True, training: bool = False, then: Answer = lambda numbers, mask: numbers
    ) -> Answer:
        def run(model: AttentionPool, vectors: Array, attn_mask: Array) -> Tensor:
            start, mask = torch.tensor(vectors, requires_grad=True), torch.tensor(attn_mask)
            model.train(training)
            with torch.random.fork_rng(devices=[]), torch.enable_grad():
                torch.manual_seed(0)
                (gradient,) = torch.autograd.grad(model(start, mask if masked else None), start)
            return then((gradient * start).sum(-1).detach(), mask)

        return run

    as_they_came = []

    def ask(model: AttentionPool, vectors: Array, attn_mask: Array, training: bool = True) -> Any:
        model.train(training)
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.manual_seed(0)
            answer = attempt(model, torch.tensor(vectors), torch.tensor(attn_mask))
        as_they_came.append(model.training == training)
        return answer

    compare(
        ask,
        wrong(),
        {
            "both bugs are still there: dropout is on, and the mask is not handed over": wrong(False, True),
            "the mask is forgotten: the model looks at padding, and padding gets a share": wrong(False),
            "the model is still in training mode: dropout gives another answer each time": wrong(
                training=True
            ),
            "padding is cut off afterwards: by then the model has looked at it": wrong(
                False, then=lambda numbers, mask: numbers * mask
            ),
            "the sign is lost: a token may speak against the answer, too": wrong(
                then=lambda numbers, mask: numbers.abs()
            ),
            "shared out so that all sum to one: wanted is gradient × input itself": wrong(
                then=lambda numbers, mask: numbers / numbers.sum()
            ),
        },
        [
            (AttentionPool(rng, size), sample(rng, words, size), np.arange(words) < words - pads)
            for words, pads, size in ((1, 0, 2), (2, 1, 2), (3, 1, 2), (6, 2, 4))
        ],
    )
    if not all(as_they_came):
        raise Slip("the numbers are right, but the model was training: hand it back as it came")
    ask(AttentionPool(rng, 2), sample(rng, 2, 2), np.array([True, False]), training=False)
    if not as_they_came[-1]:
        raise Slip("a model that was not training is training now: hand it back as it came, not always so")


@check(see="Which words go together")
def check_agreement_rate(attempt: Answer, rng: Generator) -> None:
    """Judge ``agreement_rate(first, second, is_word)``: how often two point at the same word."""

    def pointed_at(numbers: Array, is_word: Array) -> Array:
        return np.where(is_word, numbers, -np.inf).argmax(-1)

    def share(first: Array, second: Array, is_word: Array) -> float:
        return float((pointed_at(first, is_word) == pointed_at(second, is_word)).mean())

    def with_padding(first: Array, second: Array, is_word: Array) -> float:
        return float((first.argmax(-1) == second.argmax(-1)).mean())

    def zeroed(first: Array, second: Array, is_word: Array) -> float:
        return float(((first * is_word).argmax(-1) == (second * is_word).argmax(-1)).mean())

    def correlation(first: Array, second: Array, is_word: Array) -> float:
        return float(np.corrcoef(first[is_word], second[is_word])[0, 1])

    def equal_places(first: Array, second: Array, is_word: Array) -> float:
        return float(np.isclose(first, second)[is_word].mean())

    def case(rows: int, length: int) -> tuple[Array, Array, Array]:
        is_word = np.arange(length) < rng.integers(2, length, size=rows)[:, None]
        first, other = (rng.uniform(-4, -0.5, (rows, length)).round(2) for _ in range(2))
        second = np.where(rng.random((rows, 1)) < 0.6, first, other)
        return first + 4 * ~is_word, second - 4 * ~is_word, is_word

    compare(
        attempt,
        share,
        {
            "padding takes part: it can hold the largest number, but nobody asks it": with_padding,
            "padding was set to zero, and zero is more than a negative number: set it below all": zeroed,
            "a count: wanted is a share of the sentences": (
                lambda first, second, is_word: share(first, second, is_word) * len(first)
            ),
            "that is how often they differ": (
                lambda first, second, is_word: 1 - share(first, second, is_word)
            ),
            "every place is compared: only that of the largest number counts": equal_places,
            "a correlation: wanted is how often the largest numbers stand at the same word": correlation,
            "the lowest numbers were compared: a sign counts, so of −1 and −3 the larger is −1": (
                lambda first, second, is_word: share(-first, -second, is_word)
            ),
        },
        [
            (np.array([[-1.0, -2.0, 5.0]]), np.array([[-1.0, -3.0, -9.0]]), np.array([[True, True, False]])),
            case(2, 4),
            case(7, 5),
            case(41, 7),
            case(53, 9),
        ],
    )


def _is(head: int, attended: Array) -> Array:
    return (np.arange(len(attended)) == head)[:, None, None]

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


@check(see="The book's translator")
def check_attended_key(attempt: Answer, rng: Generator) -> None:
    """Check ``attended_key(weights)``: the key with the largest mean weight over heads, for each query."""
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
            "you average over the queries; the heads are the first axis": lambda w: w.mean(1).argmax(-1),
            "you read down the columns; a row is a query, and its largest weight is in one of the columns": (
                lambda weights: weights.mean(0).argmax(0)
            ),
            "you return a key for each head; take the mean over the heads first": lambda weights: (
                weights.argmax(-1)
            ),
            "you take the largest weight of any head; take the largest mean over the heads": (
                lambda weights: weights.max(0).argmax(-1)
            ),
            "you let the heads vote; take the largest of their mean weights": vote,
            "you count from 1; the first key has the index 0": lambda weights: weights.mean(0).argmax(-1) + 1,
            "you take the smallest weight; take the largest": lambda weights: weights.mean(0).argmin(-1),
            "you read only the first head": lambda weights: weights[0].argmax(-1),
            "you return the weights; return their indices": lambda weights: weights.mean(0).max(-1),
        },
        cases,
    )


@check(see="What is a head worth?")
def check_without_head(attempt: Answer, rng: Generator) -> None:
    """Check ``without_head(attended, output_weight, head)``: the output with one head ablated."""

    def output(attended: Array, output_weight: Array) -> Array:
        heads, _, width = attended.shape
        return (attended @ output_weight.reshape(heads, width, -1)).sum(0)

    def ablated(attended: Array, output_weight: Array, head: int) -> Array:
        kept = np.arange(len(attended)) != head
        return output(attended * kept[:, None, None], output_weight)

    def position_ablated(attended: Array, output_weight: Array, head: int) -> Array:
        kept = np.arange(attended.shape[1]) != head
        return output(attended * kept[:, None], output_weight)

    def mean_ablated(attended: Array, output_weight: Array, head: int) -> Array:
        return output(np.where(_is(head, attended), attended.mean(0), attended), output_weight)

    def compensated(attended: Array, output_weight: Array, head: int) -> Array:
        scale = len(attended) / max(len(attended) - 1, 1)
        return scale * ablated(attended, output_weight, head)

    def interleaved(attended: Array, output_weight: Array, head: int) -> Array:
        return output(attended, output_weight) - (
            attended[head] @ output_weight[head :: len(attended)][: attended.shape[-1]]
        )

    def other_rows(attended: Array, output_weight: Array, head: int) -> Array:
        left = np.delete(output_weight, slice(head, head + attended.shape[-1]), axis=0)
        return np.hstack([*np.delete(attended, head, axis=0), attended[0, :, :0]]) @ left

    compare(
        attempt,
        ablated,
        {
            "you switch no head off: this is the output of all heads": lambda a, w, head: output(a, w),
            "inverted: yours keeps only this head": (lambda a, w, head: output(a * _is(head, a), w)),
            "you switch off a position; the heads are the first axis": position_ablated,
            "you replace the head by the mean of all heads; replace it by zeros": mean_ablated,
            "you count heads from 1, so the head before it is switched off": (
                lambda a, w, head: ablated(a, w, (head - 1) % len(a))
            ),
            "you join the heads in the wrong order: a row of the input to W_O holds head after head": (
                lambda a, w, head: (a * ~_is(head, a)).reshape(a.shape[1], -1) @ w
            ),
            "you subtract rows of W_O of other heads; each head has d_k contiguous rows": (interleaved),
            "you leave out the wrong rows of W_O; those of a head start at head · d_k": other_rows,
            "you scale the other heads up to compensate; leave them unchanged": compensated,
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
    """Check the log-odds of "il" without the word that has weight 0.3 and vote 2."""
    compare_number(
        attempt,
        0.2 * -1.5 / 0.7,
        {
            -0.3: "your remaining weights do not sum to one, as they do after a softmax",
            0.3: "that is the log-odds with the word",
            0.6: "that is the contribution of the word itself",
            0.3 / 0.7: "the right size, but the wrong sign: what does the last word vote for?",
            0.3 - 2: "you subtracted the whole vote; it has a weight, and the other weights change",
            -0.75: "you averaged with equal weights; 0.5 and 0.2 keep their ratio",
        },
        lambda value: f"yours is {value:g}: rescale the two remaining weights to sum to one, then average",
    )


@check(see="By hand: three words and a vote")
def check_occlude(attempt: Answer, rng: Generator) -> None:
    """Check ``occlude(score, ids, blank)``: fall of the score without each token."""
    table = sample(rng, 4, 9)

    def score(ids: Array) -> float:
        found = table[np.arange(len(ids)) % 4, np.asarray(ids)]
        return float(found.sum() + found[0] * found[-1])

    score.__name__ = "a sum of table entries, plus the first times the last"

    def score_drops(change: Callable[[Array, int, int], Array], sign: int = 1) -> Answer:
        def run(score: Answer, ids: Array, blank: int) -> Array:
            return sign * np.array(
                [score(ids) - score(change(ids, place, blank)) for place in range(len(ids))]
            )

        return run

    def one(ids: Array, place: int, blank: int) -> Array:
        return np.where(np.arange(len(ids)) == place, blank, ids)

    def left(score: Answer, ids: Array, blank: int) -> Array:
        return score(ids) - score_drops(one)(score, ids, blank)

    compare(
        attempt,
        score_drops(one),
        {
            "your sign is wrong: subtract the score after from the score before": score_drops(one, sign=-1),
            "your blanks add up; restore each token before you hide the next": score_drops(
                lambda ids, place, blank: np.where(np.arange(len(ids)) <= place, blank, ids)
            ),
            "you hide all other tokens; hide one and keep the others": score_drops(
                lambda ids, place, blank: np.where(np.arange(len(ids)) == place, ids, blank)
            ),
            "you delete the token, which shifts those behind it; replace it by the blank": score_drops(
                lambda ids, place, blank: np.delete(ids, place)
            ),
            "you divide by the score before; return the difference itself": (
                lambda score, ids, blank: score_drops(one)(score, ids, blank) / score(ids)
            ),
            "you return the sum; return one number for each token": (
                lambda score, ids, blank: score_drops(one)(score, ids, blank).sum()
            ),
            "you return the score after; subtract it from the score before": left,
        },
        [(score, np.array(ids), 8) for ids in ([1, 2], [3, 1, 4], [7, 0, 5, 2, 6])],
    )


@check(see="Activation patching")
def check_patch_effects(attempt: Answer, rng: Generator) -> None:
    """Check ``patch_effects(score, own, donor)``: share of the change by each patched position."""
    directions = sample(rng, 9)

    def score(vectors: Array) -> float:
        found = np.asarray(vectors) @ directions[: np.shape(vectors)[-1]]
        return float(found.sum() + found[0] * found[-1] - 7)

    score.__name__ = "a sum over all vectors, plus a product of the first and the last"

    def scores(own: Array, donor: Array, masks: Array) -> Array:
        return np.array([score(np.where(mask[:, None], donor, own)) for mask in masks])

    def one(own: Array) -> Array:
        return np.eye(len(own), dtype=bool)

    def up_to(own: Array) -> Array:
        return np.tri(len(own), dtype=bool)

    def share(own: Array, donor: Array, patched: Array) -> Array:
        return (patched - score(own)) / (score(donor) - score(own))

    compare(
        attempt,
        lambda score, own, donor: share(own, donor, scores(own, donor, one(own))),
        {
            "your sign is wrong: the effect is 1 if a patch gives the donor's score": (
                lambda score, own, donor: -share(own, donor, scores(own, donor, one(own)))
            ),
            "you return the change itself; divide it by the change from own to donor": (
                lambda score, own, donor: scores(own, donor, one(own)) - score(own)
            ),
            "you divide by the donor's score; divide by its difference from the own score": (
                lambda score, own, donor: (scores(own, donor, one(own)) - score(own)) / score(donor)
            ),
            "your patches add up; start from own again at each position": (
                lambda score, own, donor: share(own, donor, scores(own, donor, up_to(own)))
            ),
            "you patch all other positions; patch one and keep the others": (
                lambda score, own, donor: share(own, donor, scores(own, donor, ~one(own)))
            ),
            "you copy from own into donor; copy from donor into own": (
                lambda score, own, donor: share(donor, own, scores(donor, own, one(own)))
            ),
            "you return the scores after patching; return the share of the change": (
                lambda score, own, donor: scores(own, donor, one(own))
            ),
        },
        [(score, sample(rng, *shape), sample(rng, *shape)) for shape in ((2, 1), (3, 2), (5, 4))],
    )


@check(see="In PyTorch: gradient times input")
def check_saliency(attempt: Answer, rng: Generator) -> None:
    """Check ``saliency(vectors, gradients)``: gradient × input, one number per token."""
    compare(
        attempt,
        lambda vectors, gradients: (vectors * gradients).sum(-1),
        {
            "you sum the gradients alone; multiply each number by that of the vector": (
                lambda vectors, gradients: gradients.sum(-1)
            ),
            "you return the gradient's length: how much a token could change, not what it contributes": (
                lambda vectors, gradients: np.linalg.norm(gradients, axis=-1)
            ),
            "you take absolute values before the sum; contributions of opposite sign must cancel": (
                lambda vectors, gradients: np.abs(vectors * gradients).sum(-1)
            ),
            "you take the absolute value at the end; a token may also speak against the answer": (
                lambda vectors, gradients: np.abs((vectors * gradients).sum(-1))
            ),
            "you divide each gradient by its length; its size counts too": (
                lambda vectors, gradients: (vectors * gradients).sum(-1) / np.linalg.norm(gradients, axis=-1)
            ),
            "you combine every token with every other; each vector goes with its own gradient": (
                lambda vectors, gradients: vectors @ gradients.T
            ),
            "you average; sum over each vector": lambda vectors, gradients: (vectors * gradients).mean(-1),
            "you sum over the tokens; sum over the numbers of each vector": (
                lambda vectors, gradients: (vectors * gradients).sum(0)
            ),
            "you do not sum; return one number for each token": lambda vectors, gradients: (
                vectors * gradients
            ),
        },
        [
            (np.array([[2.0, 1.0]]), np.array([[3.0, -1.0]])),
            *((sample(rng, *shape), sample(rng, *shape)) for shape in ((2, 2), (2, 3), (5, 3))),
        ],
    )


@check(see="In PyTorch: gradient times input")
def check_fixed_saliency(attempt: Answer, rng: Generator) -> None:
    """Check ``fixed_saliency(model, vectors, attn_mask)``: deterministic, padding ignored."""

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

    mode_restored = []

    def run_attempt(model: AttentionPool, vectors: Array, attn_mask: Array, training: bool = True) -> Any:
        model.train(training)
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.manual_seed(0)
            answer = attempt(model, torch.tensor(vectors), torch.tensor(attn_mask))
        mode_restored.append(model.training == training)
        return answer

    compare(
        run_attempt,
        wrong(),
        {
            "both bugs are still there: dropout is on, and the mask is not passed on": wrong(False, True),
            "you do not pass the mask on, so the model attends to padding": wrong(False),
            "your model is still in training mode: dropout gives another answer each time": wrong(
                training=True
            ),
            "you remove padding afterwards, when the model has already attended to it": wrong(
                False, then=lambda numbers, mask: numbers * mask
            ),
            "you lose the sign; a token may also speak against the answer": wrong(
                then=lambda numbers, mask: numbers.abs()
            ),
            "you rescale the numbers to sum to one; return gradient × input itself": wrong(
                then=lambda numbers, mask: numbers / numbers.sum()
            ),
        },
        [
            (AttentionPool(rng, size), sample(rng, words, size), np.arange(words) < words - pads)
            for words, pads, size in ((1, 0, 2), (2, 1, 2), (3, 1, 2), (6, 2, 4))
        ],
    )
    if not all(mode_restored):
        raise Slip("your numbers are right, but the model came in training mode: return it in that mode")
    run_attempt(AttentionPool(rng, 2), sample(rng, 2, 2), np.array([True, False]), training=False)
    if not mode_restored[-1]:
        raise Slip(
            "your numbers are right, but the model came in evaluation mode: restore the mode it came in"
        )


@check(see="Further measurements")
def check_agreement_rate(attempt: Answer, rng: Generator) -> None:
    """Check ``agreement_rate(first, second, is_word)``: how often two attributions agree on the top word."""

    def top_word(numbers: Array, is_word: Array) -> Array:
        return np.where(is_word, numbers, -np.inf).argmax(-1)

    def share(first: Array, second: Array, is_word: Array) -> float:
        return float((top_word(first, is_word) == top_word(second, is_word)).mean())

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
            "you include padding, which may hold the largest number": with_padding,
            "you set padding to zero, which is more than a negative number; set it below all of them": zeroed,
            "you return a count; return a share of the sentences": (
                lambda first, second, is_word: share(first, second, is_word) * len(first)
            ),
            "that is how often they differ": lambda first, second, is_word: 1 - share(first, second, is_word),
            "you compare every position; only that of the largest number counts": equal_places,
            "you return a correlation; return how often both point at the same word": correlation,
            "you compare the smallest numbers; the sign counts, so of −1 and −3 the larger is −1": (
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

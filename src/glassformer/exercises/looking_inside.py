"""Checks for the exercises on maps, ablations and attributions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from torch import Tensor, nn

from glassformer.exercises.checking import Slip, check
from glassformer.exercises.judging import Answer, compare, compare_number

_RNG = np.random.default_rng(12)


@check
def check_looked_at(attempt: Answer) -> None:
    """Judge ``looked_at(weights)``: the key with the largest weight, mean over heads, of each query."""
    cases = [(np.array([[[0.4, 0.6]], [[0.9, 0.1]]]),)]
    cases += [(_RNG.dirichlet(np.full(5, 0.4), (heads, 7)),) for heads in (2, 3)]

    def vote(weights: Array) -> Array:
        choices = weights.argmax(-1)
        return np.array([np.bincount(column).argmax() for column in choices.T])

    compare(
        attempt,
        lambda weights: weights.mean(0).argmax(-1),
        {
            "read down the columns: a row is a query, and its largest weight stands in one of the columns": (
                lambda weights: weights.mean(0).argmax(0)
            ),
            "each head for itself: take the mean over the heads first": lambda weights: weights.argmax(-1),
            "the largest weight of any head: wanted is the largest mean over the heads": (
                lambda weights: weights.max(0).argmax(-1)
            ),
            "the heads voted: wanted is the largest of their mean weights": vote,
            "only the first head was read": lambda weights: weights[0].argmax(-1),
            "these are the weights: wanted is where they stand": lambda weights: weights.mean(0).max(-1),
        },
        cases,
    )


@check
def check_without_head(attempt: Answer) -> None:
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
            "the other heads are turned up to make up for it: leave them as they are": made_up_for,
        },
        [
            (_RNG.standard_normal((heads, 5, 2)), _RNG.standard_normal((2 * heads, 3)), head)
            for heads, head in ((2, 0), (3, 1), (4, 3))
        ],
    )


def _is(head: int, attended: Array) -> Array:
    return (np.arange(len(attended)) == head)[:, None, None]


@check
def check_occlude(attempt: Answer) -> None:
    """Judge ``occlude(score, ids, blank)``: how far the score falls without each token."""
    table = _RNG.standard_normal((4, 9))

    def score(ids: Array) -> float:
        found = table[np.arange(len(ids)) % 4, np.asarray(ids)]
        return float(found.sum() + found[0] * found[-1])

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
            "this is the score that is left: subtract it from the score before": left,
        },
        [(score, np.array(ids), 8) for ids in ([1, 2], [3, 1, 4], [7, 0, 5, 2, 6])],
    )


@check
def check_saliency(attempt: Answer) -> None:
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
            *((_RNG.standard_normal((5, 3)), _RNG.standard_normal((5, 3))) for _ in range(2)),
        ],
    )


@check
def check_log_odds_without_the_word(attempt: Any) -> None:
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


class _Pool(nn.Module):
    """A stand-in for a model: attends to what it may, with dropout while it trains, and gives one number."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.query, self.readout = torch.randn(2, 4, generator=generator)
        self.dropout = nn.Dropout(0.5)

    def forward(self, vectors: Tensor, may_look: Tensor | None = None) -> Tensor:
        scores = vectors @ self.query
        if may_look is not None:
            scores = scores.masked_fill(~may_look, -torch.inf)
        pooled = scores.softmax(-1) @ torch.tanh(vectors)
        return self.dropout(pooled) @ self.readout

    def __deepcopy__(self, memo: Any) -> "_Pool":
        return self  # whoever compares it before and after should find the same model


@check
def check_mended_saliency(attempt: Answer) -> None:
    """Judge the mended ``saliency(model, vectors, may_look)``: deterministic, and blind to padding."""
    generator = torch.Generator().manual_seed(5)
    vectors = torch.randn(6, 4, generator=generator)
    may_look = torch.arange(6) < 4
    model = _Pool()

    def right(masked: bool, training: bool) -> Tensor:
        model.train(training)
        torch.manual_seed(0)
        start = vectors.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(model(start, may_look if masked else None), start)
        model.eval()
        return (gradient * vectors).sum(-1).detach()

    def ask() -> Tensor:
        model.train()
        torch.manual_seed(0)
        answer = attempt(model, vectors, may_look)
        if not isinstance(answer, Tensor) or answer.shape != may_look.shape:
            raise Slip(f"wanted one number for each of {len(may_look)} tokens, got {_describe(answer)}")
        return answer.detach()

    with torch.enable_grad():
        answer, state_after = ask(), model.training
        wanted = {key: right(*key) for key in ((True, False), (False, False), (True, True), (False, True))}
    messages = {
        (False, True): "both bugs are still there: dropout is on, and the mask is not handed over",
        (False, False): "the mask is forgotten: the model looks at padding, and padding gets a share",
        (True, True): "the model is still in training mode: dropout gives another answer each time",
    }
    for key, message in messages.items():
        if torch.allclose(answer, wanted[key], rtol=1e-4, atol=1e-6):
            raise Slip(message)
    if not torch.allclose(answer, wanted[True, False], rtol=1e-4, atol=1e-6):
        raise Slip(
            f"wrong: wanted {wanted[True, False].numpy().round(3).tolist()}, "
            f"got {answer.numpy().round(3).tolist()}"
        )
    if not state_after:
        raise Slip("the numbers are right, but the model was training: hand it back as it came")


def _describe(answer: Any) -> str:
    return f"shape {tuple(answer.shape)}" if hasattr(answer, "shape") else type(answer).__name__


@check
def check_agreement(attempt: Answer) -> None:
    """Judge ``agreement(first, second, is_word)``: how often two attributions point at the same word."""

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

    def case(rows: int, length: int) -> tuple[Array, Array, Array]:
        is_word = np.arange(length) < _RNG.integers(2, length, size=rows)[:, None]
        first = _RNG.standard_normal((rows, length)) - 2
        second = np.where(_RNG.random((rows, 1)) < 0.6, first, _RNG.standard_normal((rows, length)) - 2)
        return first + 3 * ~is_word, second - 3 * ~is_word, is_word

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
            "a correlation: wanted is how often the largest numbers stand at the same word": correlation,
            "the smallest numbers were compared: wanted are the largest": (
                lambda first, second, is_word: share(-first, -second, is_word)
            ),
        },
        [case(7, 5), case(41, 7), case(53, 9)],
    )

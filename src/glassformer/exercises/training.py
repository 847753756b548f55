"""Checks for the exercises on training."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, Hint, compare, compare_number, sample
from glassformer.checking.epochs import SLIPS, epoch_with, name_slips, run_epoch
from glassformer.checking.slips import Slip
from glassformer.reference.softmax import log_softmax, softmax
from glassformer.training.schedule import paper_learning_rate

_PAD, _START, _END = 0, 1, 2


@check(see="Padding")
def check_num_labels(attempt: Answer, rng: Generator) -> None:
    """Judge ``num_labels(target_ids, pad_id)``, which counts the tokens that a batch asks for."""

    def counted(more: int) -> Answer:
        return lambda ids, pad: int((ids != pad).sum()) + more * len(ids)

    compare(
        attempt,
        counted(-1),
        {
            "the starts are counted: they are given, nobody asks for them": counted(0),
            "the ends are left out: the model has to learn to stop": counted(-2),
            "what is given is counted: what is wanted comes one step later": lambda ids, pad: int(
                (ids[:, :-1] != pad).sum()
            ),
            "padding is counted: nobody wants it": lambda ids, pad: ids[:, 1:].size,
            "padding and the starts are counted": lambda ids, pad: ids.size,
            "one start is left out: every sentence has its own": (
                lambda ids, pad: int((ids != pad).sum()) - 1
            ),
            "id 0 is taken for padding: pad_id says which id it is": lambda ids, pad: int(
                (ids[:, 1:] != 0).sum()
            ),
            "these are the sentences: count their tokens": lambda ids, pad: len(ids),
        },
        [
            (np.array([[_START, 5, _END]]), _PAD),
            (np.array([[_START, 5, _END, _PAD]]), _PAD),
            (np.array([[_START, 5, 7, 4, _END], [_START, 6, _END, _PAD, _PAD]]), _PAD),
            (np.array([[1, 5, 0, 2, 9, 9], [1, 6, 4, 3, 2, 9], [1, 2, 9, 9, 9, 9]]), 9),
            (np.where(np.arange(7) > rng.integers(1, 6, (5, 1)), 8, rng.integers(0, 8, (5, 7))), 8),
        ],
    )


@check(see="Equation 3")
def check_peak_rate(attempt: Any) -> None:
    """Judge the highest learning rate of the paper's big model."""
    compare_number(
        attempt,
        paper_learning_rate(4000, d_model=1024, warmup_steps=4000),
        {
            paper_learning_rate(4000, d_model=512, warmup_steps=4000): (
                "that is the base model's: the big one is twice as wide"
            ),
            paper_learning_rate(1, d_model=1024, warmup_steps=4000): (
                "that is the rate of the first step: it is highest where the rise ends"
            ),
            paper_learning_rate(100_000, d_model=1024, warmup_steps=4000): (
                "that is the rate after 100,000 steps: it is highest where the rise ends"
            ),
            paper_learning_rate(300_000, d_model=1024, warmup_steps=4000): (
                "that is the rate after 300,000 steps: it is highest where the rise ends"
            ),
            1024**-0.5: "4,000 steps of warm-up are missing: the rise ends at 4000^−½, not at 1",
            4000**-0.5: "the width is missing: wider models take smaller steps",
            1 / (1024 * 4000) / 2: "x**-1/2 is half of 1 / x: put the exponent in parentheses",
            1 / (1024 * 4000): "the root is missing",
            (1024 * 4000) ** 0.5: "that is one over it",
        },
        lambda number: f"then it would rise by {number / 4000:.2g} a step; take equation 3 at step 4,000",
    )


@check(see="Equation 3")
def check_paper_rate(attempt: Answer) -> None:
    """Judge ``paper_rate(step, d_model, warmup_steps)``, equation 3 with steps counted from 1."""

    def right(step: int, d_model: int, warmup_steps: int) -> float:
        return paper_learning_rate(step, d_model=d_model, warmup_steps=warmup_steps)

    compare(
        attempt,
        right,
        {
            "steps are counted from 1: this is the rate of the step after": (
                lambda step, d, w: right(step + 1, d, w)
            ),
            "the exponents have changed places: the step falls with −1/2, warm-up has −3/2": (
                lambda step, d, w: d**-0.5 * min(step**-1.5, step * w**-0.5)
            ),
            "the larger of the two: the rate rises while step · warmup⁻³ᐟ² is the smaller": (
                lambda step, d, w: d**-0.5 * max(step**-0.5, step * w**-1.5)
            ),
            "it only rises: from the end of warm-up on it falls with the root of the step": (
                lambda step, d, w: d**-0.5 * step * w**-1.5
            ),
            "it only falls: while it warms up, it rises": lambda step, d, w: d**-0.5 * step**-0.5,
            "d_model is missing: wider models take smaller steps": (
                lambda step, d, w: min(step**-0.5, step * w**-1.5)
            ),
            "multiplied by √d_model: wider models take smaller steps": (
                lambda step, d, w: d**0.5 * min(step**-0.5, step * w**-1.5)
            ),
            "divided by d_model: it is by its root": lambda step, d, w: min(step**-0.5, step * w**-1.5) / d,
            "x**-1/2 is half of 1 / x: put the exponent in parentheses": (
                lambda step, d, w: d**-1 / 2 * min(step**-1 / 2, step * w**-3 / 2)
            ),
            "the exponents are positive: minus one half is one over the root": (
                lambda step, d, w: d**0.5 * min(step**0.5, step * w**1.5)
            ),
            "the rise ends elsewhere than the fall begins: its exponent is −3/2": (
                lambda step, d, w: d**-0.5 * min(step**-0.5, step * w**-0.5)
            ),
        },
        [
            (1, 4, 4),
            (4, 4, 4),
            (16, 4, 4),
            (3, 64, 9),
            (1, 512, 4000),
            (4000, 512, 4000),
            (100_000, 512, 4000),
        ],
    )


@check(see="The mean of what?")
def check_perplexity(attempt: Answer, rng: Generator) -> None:
    """Judge ``perplexity(sums, counts)``: from the surprise and the number of tokens of each batch."""
    compare(
        attempt,
        lambda sums, counts: float(np.exp(sums.sum() / counts.sum())),
        {
            "the mean of the batches' means: a token of a small batch would count more": (
                lambda sums, counts: float(np.exp((sums / counts).mean()))
            ),
            "the mean of the batches' perplexities: take the mean surprise of all tokens first": (
                lambda sums, counts: float(np.exp(sums / counts).mean())
            ),
            "a surprise is not divided: take the mean of all tokens before the power": (
                lambda sums, counts: float(np.exp(sums.sum()))
            ),
            Hint("this is the loss: the perplexity is e to that power", see="Label smoothing"): (
                lambda sums, counts: float(sums.sum() / counts.sum())
            ),
            Hint("the logarithms are natural ones: the power is one of e, not of 2", see="Label smoothing"): (
                lambda sums, counts: float(2 ** (sums.sum() / counts.sum()))
            ),
            "the surprise of a batch is divided by the number of batches: divide all by all tokens": (
                lambda sums, counts: float(np.exp(sums.mean()))
            ),
            Hint("the sign is turned: this is the probability of a typical token", see="Label smoothing"): (
                lambda sums, counts: float(np.exp(-sums.sum() / counts.sum()))
            ),
        },
        [
            (np.array([2.0]), np.array([1])),
            (np.array([6.0, 1.0]), np.array([2, 3])),
            (np.array([9.5, 2.0, 4.5]), np.array([7, 1, 2])),
            (np.abs(sample(rng, 5)), np.array([3, 1, 4, 1, 5])),
        ],
    )


@check(see="Label smoothing")
def check_smoothed_loss(attempt: Answer, rng: Generator) -> None:
    """Judge ``smoothed_loss(logits, labels, pad_id, smoothing)``, a mean over the wanted tokens."""

    def shares(logits: Array, labels: Array, smoothing: float, right: Answer, others: Answer) -> Array:
        size = logits.shape[-1]
        wanted = np.full_like(logits, others(smoothing, size))
        np.put_along_axis(wanted, labels[..., None], right(smoothing, size), axis=-1)
        return wanted

    def loss(
        right: Callable[[float, int], float],
        others: Callable[[float, int], float],
        over: Callable[[Array, Array], Any] = lambda each, wanted: each[wanted].mean(),
        normalised: Callable[[Array], Array] = log_softmax,
    ) -> Answer:
        """Cross-entropy where the right token is wanted with one share and every other with another."""
        return lambda logits, labels, pad_id, smoothing: float(
            over(
                -(normalised(logits) * shares(logits, labels, smoothing, right, others)).sum(axis=-1),
                labels != pad_id,
            )
        )

    def kept(e: float, v: int) -> float:
        return 1 - e + e / v

    def spread(e: float, v: int) -> float:
        return e / v

    compare(
        attempt,
        loss(kept, spread),
        {
            "nothing is smoothed: the right token is wanted with all of the weight": loss(
                lambda e, v: 1.0, lambda e, v: 0.0
            ),
            "ε is shared by the V − 1 wrong tokens: here, as in torch, the right one has its share too": loss(
                lambda e, v: 1 - e, lambda e, v: e / (v - 1)
            ),
            "the right token lost its own share: what is wanted must sum to one": loss(
                lambda e, v: 1 - e, spread
            ),
            "the right token keeps all of its weight: what is wanted must sum to one": loss(
                lambda e, v: 1 + e / v, spread
            ),
            "id 0 is taken for padding: pad_id says which id it is": (
                lambda logits, wanted, pad, e: loss(kept, spread)(logits, wanted, 0, e)
            ),
            "every token gets ε: they share it": loss(lambda e, v: 1.0, lambda e, v: e),
            "ε and 1 − ε have changed places": loss(lambda e, v: e + (1 - e) / v, lambda e, v: (1 - e) / v),
            "logits are no logarithms of probabilities: normalise them first": loss(
                kept, spread, normalised=lambda logits: logits
            ),
            "probabilities in place of their logarithms: a surprise is −log p": loss(
                kept, spread, normalised=softmax
            ),
            "normalised over all logits together: at each place the probabilities sum to one": loss(
                kept, spread, normalised=lambda logits: logits - np.log(np.exp(logits).sum())
            ),
            "normalised over the words of a sentence: the vocabulary is the last axis": loss(
                kept, spread, normalised=lambda logits: log_softmax(logits, axis=-2)
            ),
            Hint("padding counts: nobody wants it, smoothed or not", see="Padding"): loss(
                kept, spread, lambda each, wanted: each.mean()
            ),
            Hint(
                "the padding is left out of the sum, but still counted in the mean", see="The mean of what?"
            ): loss(kept, spread, lambda each, wanted: (each * wanted).mean()),
            Hint(
                "this is the sum: divide by the number of tokens that are wanted", see="The mean of what?"
            ): loss(kept, spread, lambda each, wanted: each[wanted].sum()),
            "the sign is turned: a loss is positive": loss(
                kept, spread, lambda each, wanted: -each[wanted].mean()
            ),
            "the smoothing falls on the probabilities of the model: it falls on what is wanted": _blurred,
        },
        [
            (sample(rng, 1, 1, 2), np.array([[1]]), _PAD, 0.2),
            (sample(rng, 1, 2, 4), np.array([[3, _END]]), _PAD, 0.2),
            (sample(rng, 1, 3, 5), np.array([[0, 3, 4]]), 4, 0.3),
            (sample(rng, 2, 3, 5), np.array([[3, 4, _END], [_END, _PAD, _PAD]]), _PAD, 0.1),
        ],
    )


@check(see="The mean of what?")
def check_one_epoch(attempt: Answer, rng: Generator) -> None:
    """Judge ``one_epoch(model, optimizer, batches, held_out)``: it trains, and returns the held-out loss."""
    seed = int(rng.integers(1000))
    weights, loss = run_epoch(attempt, seed)
    wanted_weights, wanted_loss = run_epoch(epoch_with(), seed)
    learned = np.allclose(weights, wanted_weights, atol=1e-5)
    if learned and np.isclose(loss, wanted_loss, atol=1e-5):
        return
    if slips := name_slips(weights, loss, seed):
        raise Slip("; ".join(SLIPS[slip] for slip in slips))
    if not learned:
        raise Slip("the weights are not what one correction for each batch, by the mean surprise, makes them")
    raise Slip(f"the weights are right, but of the held-out tokens wanted {wanted_loss:.3f}, got {loss:.3f}")


def _blurred(logits: Array, labels: Array, pad_id: int, smoothing: float) -> float:
    size = logits.shape[-1]
    probs = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    told = np.take_along_axis(probs, labels[..., None], axis=-1)[..., 0]
    return float(-np.log((1 - smoothing) * told + smoothing / size)[labels != pad_id].mean())

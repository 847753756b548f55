"""Checks for the exercises on training."""

import functools
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
from glassformer.training.schedule import noam_learning_rate

_PAD, _START, _END = 0, 1, 2


@check(see="Padding")
def check_num_labels(attempt: Answer, rng: Generator) -> None:
    """Check ``num_labels(target_ids, pad_id)``: number of labels in a batch."""

    def counted(more: int) -> Answer:
        return lambda ids, pad: int((ids != pad).sum()) + more * len(ids)

    compare(
        attempt,
        counted(-1),
        {
            "you count the start tokens; they are inputs, never labels": counted(0),
            "you leave out the end tokens; the model has to learn to stop": counted(-2),
            "you count the inputs; the labels come one step later": lambda ids, pad: int(
                (ids[:, :-1] != pad).sum()
            ),
            "you count padding; it has no label": lambda ids, pad: ids[:, 1:].size,
            "you count padding and the start tokens": lambda ids, pad: ids.size,
            "you leave out one start token; each row has one": lambda ids, pad: int((ids != pad).sum()) - 1,
            "you take id 0 for padding; use pad_id": lambda ids, pad: int((ids[:, 1:] != 0).sum()),
            "you count the sentences; count their tokens": lambda ids, pad: len(ids),
        },
        [
            (np.array([[_START, 5, _END]]), _PAD),
            (np.array([[_START, 5, _END, _PAD]]), _PAD),
            (np.array([[_START, 5, 7, 4, _END], [_START, 6, _END, _PAD, _PAD]]), _PAD),
            (np.array([[1, 5, 0, 2, 9, 9], [1, 6, 4, 3, 2, 9], [1, 2, 9, 9, 9, 9]]), 9),
            (np.where(np.arange(7) > rng.integers(1, 6, (5, 1)), 8, rng.integers(0, 8, (5, 7))), 8),
        ],
    )


@check(see="Warm-up")
def check_peak_rate(attempt: Any) -> None:
    """Check the peak learning rate of the paper's big model."""
    rate = functools.partial(noam_learning_rate, d_model=1024, warmup_steps=4000)
    compare_number(
        attempt,
        rate(4000),
        {
            rate(4000, d_model=512): "that is the rate of the base model; the big one is twice as wide",
            **{
                rate(step): f"that is the rate of step {step:,}; it is highest at the end of warm-up"
                for step in (1, 100_000, 300_000)
            },
            1024**-0.5: "you left out the 4,000 steps of warm-up: the rise ends at 4000^−½, not at 1",
            4000**-0.5: "you left out the width; wider models take smaller steps",
            1 / (1024 * 4000) / 2: "x**-1/2 is half of 1 / x; put the exponent in parentheses",
            1 / (1024 * 4000): "you left out the root",
            (1024 * 4000) ** 0.5: "yours is the reciprocal",
        },
        lambda number: (
            f"your rate would rise by {number / 4000:.2g} per step; evaluate equation 3 at step 4,000"
        ),
    )


@check(see="Warm-up")
def check_paper_rate(attempt: Answer) -> None:
    """Check ``paper_rate(step, d_model, warmup_steps)``: equation 3, with steps counted from 1."""

    def right(step: int, d_model: int, warmup_steps: int) -> float:
        return noam_learning_rate(step, d_model=d_model, warmup_steps=warmup_steps)

    compare(
        attempt,
        right,
        {
            "yours is the next step's rate; steps count from 1": lambda step, d, w: right(step + 1, d, w),
            "your exponents are swapped: the step has −1/2, warm-up has −3/2": (
                lambda step, d, w: d**-0.5 * min(step**-1.5, step * w**-0.5)
            ),
            "you take the larger of the two terms; take the smaller": (
                lambda step, d, w: d**-0.5 * max(step**-0.5, step * w**-1.5)
            ),
            "your rate only rises; after warm-up it should fall with the root of the step": (
                lambda step, d, w: d**-0.5 * step * w**-1.5
            ),
            "your rate only falls; during warm-up it should rise": lambda step, d, w: d**-0.5 * step**-0.5,
            "yours ignores d_model; wider models take smaller steps": (
                lambda step, d, w: min(step**-0.5, step * w**-1.5)
            ),
            "you multiply by √d_model; wider models take smaller steps": (
                lambda step, d, w: d**0.5 * min(step**-0.5, step * w**-1.5)
            ),
            "you divide by d_model; divide by its root": lambda step, d, w: (
                min(step**-0.5, step * w**-1.5) / d
            ),
            "x**-1/2 is half of 1 / x; put the exponent in parentheses": (
                lambda step, d, w: d**-1 / 2 * min(step**-1 / 2, step * w**-3 / 2)
            ),
            "your exponents are positive; minus one half means one over the root": (
                lambda step, d, w: d**0.5 * min(step**0.5, step * w**1.5)
            ),
            "your rise does not end where the fall begins: the exponent of warm-up is −3/2": (
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
    """Check ``perplexity(sums, counts)``: from the summed loss and the number of tokens of each batch."""
    compare(
        attempt,
        lambda sums, counts: float(np.exp(sums.sum() / counts.sum())),
        {
            "you average the means of the batches, so tokens of small batches count more": (
                lambda sums, counts: float(np.exp((sums / counts).mean()))
            ),
            "you average the perplexities of the batches; average the loss of all tokens first": (
                lambda sums, counts: float(np.exp(sums / counts).mean())
            ),
            "you exponentiate the sum; take the mean first": lambda sums, counts: float(np.exp(sums.sum())),
            Hint("that is the loss; the perplexity is e to that power", see="Label smoothing"): (
                lambda sums, counts: float(sums.sum() / counts.sum())
            ),
            Hint(
                "you take a power of 2; the logarithms are natural ones, so take a power of e",
                see="Label smoothing",
            ): (lambda sums, counts: float(2 ** (sums.sum() / counts.sum()))),
            "you divide by the number of batches; divide by the number of tokens": (
                lambda sums, counts: float(np.exp(sums.mean()))
            ),
            Hint("your sign is wrong: that is the probability of a typical token", see="Label smoothing"): (
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
    """Check ``smoothed_loss(logits, labels, pad_id, smoothing)``: mean over the labels."""

    def target_probs(logits: Array, labels: Array, smoothing: float, right: Answer, others: Answer) -> Array:
        size = logits.shape[-1]
        targets = np.full_like(logits, others(smoothing, size))
        np.put_along_axis(targets, labels[..., None], right(smoothing, size), axis=-1)
        return targets

    def loss(
        right: Callable[[float, int], float],
        others: Callable[[float, int], float],
        over: Callable[[Array, Array], Any] = lambda losses, is_label: losses[is_label].mean(),
        normalised: Callable[[Array], Array] = log_softmax,
    ) -> Answer:
        """Return a cross-entropy, given the target probabilities of the label and of every other token."""
        return lambda logits, labels, pad_id, smoothing: float(
            over(
                -(normalised(logits) * target_probs(logits, labels, smoothing, right, others)).sum(axis=-1),
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
            "nothing is smoothed: your label has all of the weight": loss(lambda e, v: 1.0, lambda e, v: 0.0),
            "you share ε among the V − 1 wrong tokens; here, as in PyTorch, the label has a share too": loss(
                lambda e, v: 1 - e, lambda e, v: e / (v - 1)
            ),
            "your label lost its share of ε; the target probabilities must sum to one": loss(
                lambda e, v: 1 - e, spread
            ),
            "your label keeps all of its weight; the target probabilities must sum to one": loss(
                lambda e, v: 1 + e / v, spread
            ),
            "you take id 0 for padding; use pad_id": (
                lambda logits, labels, pad, e: loss(kept, spread)(logits, labels, 0, e)
            ),
            "you give ε to every token; they share it": loss(lambda e, v: 1.0, lambda e, v: e),
            "your ε and 1 − ε are swapped": loss(lambda e, v: e + (1 - e) / v, lambda e, v: (1 - e) / v),
            "you use logits as log-probabilities; normalise them first": loss(
                kept, spread, normalised=lambda logits: logits
            ),
            "you use probabilities in place of their logarithms": loss(kept, spread, normalised=softmax),
            "you normalise over all logits together; at each position the probabilities sum to one": loss(
                kept, spread, normalised=lambda logits: logits - np.log(np.exp(logits).sum())
            ),
            "you normalise over the positions of a sentence; the vocabulary is the last axis": loss(
                kept, spread, normalised=lambda logits: log_softmax(logits, axis=-2)
            ),
            Hint("you count padding; it has no label, smoothed or not", see="Padding"): loss(
                kept, spread, lambda losses, is_label: losses.mean()
            ),
            Hint(
                "you leave padding out of the sum, but still count it in the mean", see="The mean of what?"
            ): loss(kept, spread, lambda losses, is_label: (losses * is_label).mean()),
            Hint("you return the sum; divide by the number of labels", see="The mean of what?"): loss(
                kept, spread, lambda losses, is_label: losses[is_label].sum()
            ),
            "your sign is wrong: a loss is positive": loss(
                kept, spread, lambda losses, is_label: -losses[is_label].mean()
            ),
            "you smooth the probabilities of the model; smooth the target": _smoothed_prediction,
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
    """Check ``one_epoch(model, optimizer, batches, held_out)``: train, and return the held-out loss."""
    seed = int(rng.integers(1000))
    weights, loss = run_epoch(attempt, seed)
    expected_weights, expected_loss = run_epoch(epoch_with(), seed)
    learned = np.allclose(weights, expected_weights, atol=1e-5)
    if learned and np.isclose(loss, expected_loss, atol=1e-5):
        return
    if slips := name_slips(weights, loss, seed):
        raise Slip(". Also, ".join(SLIPS[slip] for slip in slips))
    if not learned:
        raise Slip("your weights are not those after one update for each batch with its mean loss")
    raise Slip(f"your weights are right, but your held-out loss is {loss:.3f}, expected {expected_loss:.3f}")


def _smoothed_prediction(logits: Array, labels: Array, pad_id: int, smoothing: float) -> float:
    size = logits.shape[-1]
    probs = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    probs = np.take_along_axis(probs, labels[..., None], axis=-1)[..., 0]
    return float(-np.log((1 - smoothing) * probs + smoothing / size)[labels != pad_id].mean())

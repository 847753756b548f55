import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from glassformer.exercises import training as exercises
from glassformer.exercises.checking import Slip
from glassformer.exercises.epochs import epoch_with
from glassformer.training.schedule import learning_rate_at


def num_wanted(target_ids, pad_id):
    return int((target_ids[:, 1:] != pad_id).sum())


def perplexity(sums, counts):
    return np.exp(sums.sum() / counts.sum())


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def each_smoothed(logits, wanted_ids, smoothing):
    log_probs = log_softmax(logits)
    told = np.take_along_axis(log_probs, wanted_ids[..., None], -1)[..., 0]
    return -(1 - smoothing) * told - smoothing * log_probs.mean(-1)


def smoothed_loss(logits, wanted_ids, pad_id, smoothing):
    return each_smoothed(logits, wanted_ids, smoothing)[wanted_ids != pad_id].mean()


def paper_rate(step, d_model, warmup_steps):
    return 1 / np.sqrt(d_model) * min(1 / np.sqrt(step), step / warmup_steps**1.5)


def one_epoch(model, optimizer, batches, held_out):
    model.train()
    for batch in batches:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
    model.eval()
    total, count = 0.0, 0
    for batch in held_out:
        surprises = model(batch)
        total += surprises.sum().item()
        count += len(surprises)
    return total / count


def broken_epoch(model, optimizer, batches, held_out):
    for batch in batches:
        model(batch).mean().backward()
        optimizer.step()
    losses = [model(batch).mean().item() for batch in held_out]
    return sum(losses) / len(losses)


def cleared_after(model, optimizer, batches, held_out):
    for batch in batches:
        model(batch).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.inference_mode():
        model.eval()
        return torch.cat([model(batch) for batch in held_out]).mean()


def torchs_smoothed_loss(logits, wanted_ids, pad_id, smoothing):
    flat, wanted = torch.tensor(logits).flatten(0, 1), torch.tensor(wanted_ids).flatten()
    return F.cross_entropy(flat, wanted, ignore_index=pad_id, label_smoothing=smoothing)


def smoothed_with(right, others):
    """Want the right token and every other with these shares, given ε and the size of the vocabulary."""

    def attempt(logits, wanted_ids, pad_id, smoothing):
        size = logits.shape[-1]
        shares = np.full(logits.shape, others(smoothing, size))
        for place in np.ndindex(*wanted_ids.shape):
            shares[(*place, wanted_ids[place])] = right(smoothing, size)
        return -(shares * log_softmax(logits)).sum(-1)[wanted_ids != pad_id].mean()

    return attempt


PEAK = (1024 * 4000) ** -0.5
SOLUTIONS = [
    (exercises.check_num_wanted, num_wanted),
    (exercises.check_perplexity, perplexity),
    (exercises.check_smoothed_loss, smoothed_loss),
    (exercises.check_paper_rate, paper_rate),
    (exercises.check_peak_rate, PEAK),
    (exercises.check_one_epoch, one_epoch),
]
VARIANTS = [
    (exercises.check_num_wanted, lambda ids, pad: np.count_nonzero(ids != pad) - ids.shape[0]),
    (exercises.check_num_wanted, lambda ids, pad: sum(int(id != pad) for row in ids for id in row[1:])),
    (exercises.check_perplexity, lambda sums, counts: math.exp(sum(sums) / sum(counts))),
    (exercises.check_perplexity, lambda sums, counts: np.exp(np.average(sums / counts, weights=counts))),
    (exercises.check_smoothed_loss, torchs_smoothed_loss),
    (exercises.check_smoothed_loss, smoothed_with(lambda e, v: 1 - e + e / v, lambda e, v: e / v)),
    (
        exercises.check_paper_rate,
        lambda step, d, w: learning_rate_at(
            step, peak=(d * w) ** -0.5, warmup_steps=w, total_steps=10**6, schedule="inverse_sqrt"
        ),
    ),
    (exercises.check_peak_rate, 4.94e-4),
    (exercises.check_peak_rate, np.float64(PEAK)),
    (exercises.check_one_epoch, epoch_with()),
    (exercises.check_one_epoch, cleared_after),
]
SLIPS = [
    (exercises.check_num_wanted, lambda ids, pad: int((ids != pad).sum()), "the starts are counted"),
    (exercises.check_num_wanted, lambda ids, pad: int((ids[:, 2:] != pad).sum()), "learn to stop"),
    (exercises.check_num_wanted, lambda ids, pad: ids[:, 1:].size, "padding is counted"),
    (exercises.check_num_wanted, lambda ids, pad: ids.size, "padding and the starts"),
    (exercises.check_num_wanted, lambda ids, pad: int((ids != pad).sum()) - 1, "one start is left out"),
    (exercises.check_num_wanted, lambda ids, pad: len(ids), "these are the sentences"),
    (exercises.check_perplexity, lambda s, n: np.exp(np.mean(s / n)), "mean of the batches' means"),
    (exercises.check_perplexity, lambda s, n: np.mean(np.exp(s / n)), "batches' perplexities"),
    (exercises.check_perplexity, lambda s, n: s.sum() / n.sum(), "this is the loss"),
    (exercises.check_perplexity, lambda s, n: 2 ** (s.sum() / n.sum()), "not of 2"),
    (exercises.check_perplexity, lambda s, n: np.exp(s.mean()), "number of batches"),
    (exercises.check_perplexity, lambda s, n: 1 / perplexity(s, n), "the sign is turned"),
    (exercises.check_smoothed_loss, lambda z, w, pad, e: smoothed_loss(z, w, pad, 0), "nothing is smoothed"),
    (
        exercises.check_smoothed_loss,
        smoothed_with(lambda e, v: 1 - e, lambda e, v: e / (v - 1)),
        "V − 1 wrong tokens",
    ),
    (exercises.check_smoothed_loss, smoothed_with(lambda e, v: 1 - e, lambda e, v: e / v), "lost its own"),
    (exercises.check_smoothed_loss, smoothed_with(lambda e, v: 1 + e / v, lambda e, v: e / v), "keeps all"),
    (exercises.check_smoothed_loss, smoothed_with(lambda e, v: 1, lambda e, v: e), "every token gets ε"),
    (
        exercises.check_smoothed_loss,
        lambda z, w, pad, e: smoothed_loss(z, w, pad, 1 - e),
        "have changed places",
    ),
    (exercises.check_smoothed_loss, lambda z, w, pad, e: each_smoothed(z, w, e).mean(), "padding counts"),
    (
        exercises.check_smoothed_loss,
        lambda z, w, pad, e: (each_smoothed(z, w, e) * (w != pad)).mean(),
        "still counted in the mean",
    ),
    (
        exercises.check_smoothed_loss,
        lambda z, w, pad, e: each_smoothed(z, w, e)[w != pad].sum(),
        "this is the sum",
    ),
    (exercises.check_smoothed_loss, lambda *a: -smoothed_loss(*a), "the sign is turned"),
    (
        exercises.check_smoothed_loss,
        lambda z, w, pad, e: (
            -np.log(
                (1 - e) * np.exp(np.take_along_axis(log_softmax(z), w[..., None], -1)[..., 0])
                + e / z.shape[-1]
            )[w != pad].mean()
        ),
        "on the probabilities of the model",
    ),
    (exercises.check_paper_rate, lambda s, d, w: paper_rate(s + 1, d, w), "counted from 1"),
    (
        exercises.check_paper_rate,
        lambda s, d, w: d**-0.5 * min(s**-1.5, s * w**-0.5),
        "exponents have changed places",
    ),
    (exercises.check_paper_rate, lambda s, d, w: d**-0.5 * max(s**-0.5, s * w**-1.5), "larger of the two"),
    (exercises.check_paper_rate, lambda s, d, w: d**-0.5 * s * w**-1.5, "only rises"),
    (exercises.check_paper_rate, lambda s, d, w: d**-0.5 * s**-0.5, "only falls"),
    (exercises.check_paper_rate, lambda s, d, w: paper_rate(s, 1, w), "d_model is missing"),
    (exercises.check_paper_rate, lambda s, d, w: paper_rate(s, d, w) * d, "multiplied by"),
    (exercises.check_paper_rate, lambda s, d, w: paper_rate(s, d * d, w), "it is by its root"),
    (exercises.check_paper_rate, lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-0.5), "ends elsewhere"),
    (exercises.check_peak_rate, (512 * 4000) ** -0.5, "base model's"),
    (exercises.check_peak_rate, 1024**-0.5 * 4000**-1.5, "first step"),
    (exercises.check_peak_rate, (1024 * 100_000) ** -0.5, "100,000 steps"),
    (exercises.check_peak_rate, (1024 * 300_000) ** -0.5, "300,000 steps"),
    (exercises.check_peak_rate, 1 / 32, "steps of warm-up are missing"),
    (exercises.check_peak_rate, 4000**-0.5, "the width is missing"),
    (exercises.check_peak_rate, 1 / 4_096_000, "the root is missing"),
    (exercises.check_peak_rate, 2023.858, "one over it"),
    (exercises.check_peak_rate, 0.4, "take equation 3 at step 4,000"),
    (exercises.check_one_epoch, broken_epoch, "never cleared.*still on.*small batch counts more"),
    (exercises.check_one_epoch, epoch_with("adds"), "gradients are never cleared"),
    (exercises.check_one_epoch, epoch_with("clears"), "before they are used"),
    (exercises.check_one_epoch, epoch_with("sums"), "take the mean"),
    (exercises.check_one_epoch, epoch_with("no dropout"), "dropout is off"),
    (exercises.check_one_epoch, epoch_with("dropout"), "dropout is still on"),
    (exercises.check_one_epoch, epoch_with("means"), "small batch counts more"),
    (exercises.check_one_epoch, lambda *a: one_epoch(*a) + 1, "the weights are right, but"),
    (exercises.check_one_epoch, lambda *a: 2.0, "the weights are not what"),
]


@pytest.mark.parametrize(("check", "attempt"), SOLUTIONS + VARIANTS)
def test_a_right_answer_passes_however_it_is_written(check, attempt, capsys):
    check(attempt)
    assert "✔" in capsys.readouterr().out


@pytest.mark.parametrize(("check", "attempt", "message"), SLIPS)
def test_a_slip_is_met_with_its_own_message(check, attempt, message):
    with pytest.raises(Slip, match=message):
        check(attempt)


@pytest.mark.parametrize("check", [check for check, _ in SOLUTIONS])
def test_what_is_not_begun_is_greeted(check, capsys):
    check(...)
    assert "◦" in capsys.readouterr().out


@pytest.mark.parametrize(
    "check",
    [
        exercises.check_num_wanted,
        exercises.check_perplexity,
        exercises.check_smoothed_loss,
        exercises.check_paper_rate,
    ],
)
def test_an_answer_of_another_kind_is_shown_beside_the_wanted_one(check):
    with pytest.raises(Slip, match="wanted"):
        check(lambda *_: np.array([99.0]))

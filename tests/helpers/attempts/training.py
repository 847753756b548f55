"""Answers to the exercises on training."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from glassformer.checking.epochs import epoch_with
from glassformer.training.schedule import learning_rate_at

PEAK = (1024 * 4000) ** -0.5


def num_labels(target_ids, pad_id):
    return int((target_ids[:, 1:] != pad_id).sum())


def paper_rate(step, d_model, warmup_steps):
    return 1 / np.sqrt(d_model) * min(1 / np.sqrt(step), step / warmup_steps**1.5)


def perplexity(sums, counts):
    return np.exp(sums.sum() / counts.sum())


def log_softmax(logits, axis=-1):
    return logits - np.log(np.exp(logits).sum(axis, keepdims=True))


def each_smoothed(logits, labels, smoothing, normalised=log_softmax):
    log_probs = normalised(logits)
    probs = np.take_along_axis(log_probs, labels[..., None], -1)[..., 0]
    return -(1 - smoothing) * probs - smoothing * log_probs.mean(-1)


def smoothed_loss(logits, labels, pad_id, smoothing, normalised=log_softmax):
    return each_smoothed(logits, labels, smoothing, normalised)[labels != pad_id].mean()


def smoothed_in_loops(logits, labels, pad_id, smoothing):
    losses = []
    for place in np.ndindex(*labels.shape):
        if labels[place] != pad_id:
            log_probs = log_softmax(logits[place])
            losses.append(-(1 - smoothing) * log_probs[labels[place]] - smoothing * log_probs.mean())
    return sum(losses) / len(losses)


def smoothed_loss_in_torch(logits, labels, pad_id, smoothing):
    flat, wanted = logits.flatten(0, 1), labels.flatten()
    return F.cross_entropy(flat, wanted, ignore_index=pad_id, label_smoothing=smoothing)


def smoothed_with(right, others):
    """Smooth with these target probabilities of the label and of every other token, functions of ε and V."""

    def attempt(logits, labels, pad_id, smoothing):
        size = logits.shape[-1]
        shares = np.full(logits.shape, others(smoothing, size))
        np.put_along_axis(shares, labels[..., None], right(smoothing, size), -1)
        return -np.einsum("stv,stv->st", shares, log_softmax(logits))[labels != pad_id].mean()

    return attempt


def smoothed_prediction_loss(logits, labels, pad_id, smoothing):
    probs = np.exp(np.take_along_axis(log_softmax(logits), labels[..., None], -1)[..., 0])
    probs = (1 - smoothing) * probs + smoothing / logits.shape[-1]
    return -np.log(probs[labels != pad_id]).mean()


def one_epoch(model, optimizer, batches, held_out):
    model.train()
    for batch in batches:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
    model.eval()
    total, count = 0.0, 0
    for batch in held_out:
        token_losses = model(batch)
        total += token_losses.sum().item()
        count += len(token_losses)
    return total / count


def cleared_after(model, optimizer, batches, held_out):
    for batch in batches:
        model(batch).mean().backward()
        optimizer.step()
        model.zero_grad()
    with torch.inference_mode():
        model.eval()
        return torch.cat([model(batch) for batch in held_out]).mean()


def broken_epoch(model, optimizer, batches, held_out):
    for batch in batches:
        model(batch).mean().backward()
        optimizer.step()
    losses = [model(batch).mean().item() for batch in held_out]
    return sum(losses) / len(losses)


RIGHT = {
    "num_labels": [
        num_labels,
        lambda ids, pad: np.count_nonzero(ids != pad) - ids.shape[0],
        lambda ids, pad: sum(int(id != pad) for row in ids for id in row[1:]),
        lambda ids, pad: torch.tensor(ids)[:, 1:].ne(pad).sum(),
    ],
    "peak_rate": [PEAK, 4.94e-4, np.float32(PEAK), torch.tensor(PEAK)],
    "paper_rate": [
        paper_rate,
        lambda step, d, w: learning_rate_at(
            step, peak=(d * w) ** -0.5, warmup_steps=w, total_steps=10**6, schedule="inverse_sqrt"
        ),
        lambda step, d, w: (d * w) ** -0.5 * (step / w if step < w else math.sqrt(w / step)),
        lambda step, d, w: torch.tensor([step**-0.5, step * w**-1.5]).min() / d**0.5,
    ],
    "perplexity": [
        perplexity,
        lambda sums, counts: math.exp(sum(sums) / sum(counts)),
        lambda sums, counts: np.exp(np.average(sums / counts, weights=counts)),
        lambda sums, counts: np.exp(np.float32(sums.sum()) / np.float32(counts.sum())),
        lambda sums, counts: torch.exp(sums.sum() / counts.sum()),
    ],
    "smoothed_loss": [
        smoothed_loss,
        smoothed_in_loops,
        smoothed_loss_in_torch,
        smoothed_with(lambda e, v: 1 - e + e / v, lambda e, v: e / v),
        lambda logits, *rest: smoothed_loss(logits.astype(np.float16), *rest),
    ],
    "one_epoch": [one_epoch, cleared_after, epoch_with()],
}

WRONG = {
    "num_labels": {
        "you count the start tokens": lambda ids, pad: int((ids != pad).sum()),
        "learn to stop": lambda ids, pad: int((ids[:, 2:] != pad).sum()),
        "you count the inputs": lambda ids, pad: int((ids[:, :-1] != pad).sum()),
        "you count padding; it has no label": lambda ids, pad: ids[:, 1:].size,
        "you count padding and the start tokens": lambda ids, pad: ids.size,
        "you leave out one start token": lambda ids, pad: int((ids != pad).sum()) - 1,
        "you take id 0 for padding": lambda ids, pad: int((ids[:, 1:] != 0).sum()),
        "you count the sentences": lambda ids, pad: len(ids),
        "expected a single number, yours has shape (1,)": lambda ids, pad: (ids[:, 1:] != pad).sum(1),
        "wrong for this input": lambda ids, pad: int((ids[:, 1:] == pad).sum()),
    },
    "peak_rate": {
        "that is the rate of the base model": (512 * 4000) ** -0.5,
        "of step 1;": 1024**-0.5 * 4000**-1.5,
        "of step 100,000;": (1024 * 100_000) ** -0.5,
        "of step 300,000;": (1024 * 300_000) ** -0.5,
        "you left out the 4,000 steps of warm-up": 1 / 32,
        "you left out the width": 4000**-0.5,
        "in parentheses": 1 / 8_192_000,
        "you left out the root": 1 / 4_096_000,
        "yours is the reciprocal": 2023.858,
        "your rate would rise by 0.0001 per step": 0.4,
    },
    "paper_rate": {
        "yours is the next step's rate; steps count from 1": lambda s, d, w: paper_rate(s + 1, d, w),
        "your exponents are swapped": lambda s, d, w: d**-0.5 * min(s**-1.5, s * w**-0.5),
        "larger of the two": lambda s, d, w: d**-0.5 * max(s**-0.5, s * w**-1.5),
        "only rises": lambda s, d, w: d**-0.5 * s * w**-1.5,
        "only falls": lambda s, d, w: d**-0.5 * s**-0.5,
        "yours ignores d_model": lambda s, d, w: paper_rate(s, 1, w),
        "you multiply by √d_model": lambda s, d, w: paper_rate(s, d, w) * d,
        "you divide by d_model": lambda s, d, w: paper_rate(s, d * d, w),
        "in parentheses": lambda s, d, w: d**-1 / 2 * min(s**-1 / 2, s * w**-3 / 2),
        "your exponents are positive": lambda s, d, w: d**0.5 * min(s**0.5, s * w**1.5),
        "your rise does not end where the fall begins": lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-0.5),
        "ZeroDivisionError": lambda s, d, w: d**-0.5 * min((s - 1) ** -0.5, s * w**-1.5),
        "wrong for this input": lambda s, d, w: d**-0.5 * min(1 / s, s * w**-1.5),
    },
    "perplexity": {
        "you average the means of the batches": lambda s, n: np.exp(np.mean(s / n)),
        "you average the perplexities of the batches": lambda s, n: np.mean(np.exp(s / n)),
        "you exponentiate the sum": lambda s, n: np.exp(s.sum()),
        "that is the loss": lambda s, n: s.sum() / n.sum(),
        "you take a power of 2; the logarithms are natural ones": lambda s, n: 2 ** (s.sum() / n.sum()),
        "number of batches": lambda s, n: np.exp(s.mean()),
        "your sign is wrong": lambda s, n: 1 / perplexity(s, n),
        "expected a single number, yours has shape (1,)": lambda s, n: np.exp(s / n),
    },
    "smoothed_loss": {
        "nothing is smoothed": lambda z, w, pad, e: smoothed_loss(z, w, pad, 0),
        "V − 1 wrong tokens": smoothed_with(lambda e, v: 1 - e, lambda e, v: e / (v - 1)),
        "your label lost its share of ε": smoothed_with(lambda e, v: 1 - e, lambda e, v: e / v),
        "keeps all": smoothed_with(lambda e, v: 1 + e / v, lambda e, v: e / v),
        "you give ε to every token": smoothed_with(lambda e, v: 1, lambda e, v: e),
        "your ε and 1 − ε are swapped": lambda z, w, pad, e: smoothed_loss(z, w, pad, 1 - e),
        "you take id 0 for padding": lambda z, w, pad, e: smoothed_loss(z, w, 0, e),
        "you count padding": lambda z, w, pad, e: each_smoothed(z, w, e).mean(),
        "you leave padding out of the sum": lambda z, w, pad, e: (each_smoothed(z, w, e) * (w != pad)).mean(),
        "you return the sum": lambda z, w, pad, e: each_smoothed(z, w, e)[w != pad].sum(),
        "your sign is wrong": lambda *a: -smoothed_loss(*a),
        "you smooth the probabilities of the model": smoothed_prediction_loss,
        "you use logits as log-probabilities": lambda *a: smoothed_loss(*a, lambda z: z),
        "you use probabilities in place of their logarithms": lambda *a: smoothed_loss(
            *a, lambda z: np.exp(log_softmax(z))
        ),
        "over all logits together": lambda *a: smoothed_loss(*a, lambda z: log_softmax(z, None)),
        "you normalise over the positions of a sentence": lambda *a: smoothed_loss(
            *a, lambda z: log_softmax(z, 1)
        ),
        "wrong for this input": lambda *a: 2 * smoothed_loss(*a),
    },
    "one_epoch": {
        ". Also, you evaluate in training mode, with dropout. Also, you "
        "average the means of the batches": broken_epoch,
        "do not clear the gradients between steps": epoch_with("adds"),
        "your weights never change": epoch_with("stays"),
        "once for all batches": epoch_with("once"),
        "sum the losses of a batch": epoch_with("sums"),
        "without dropout": epoch_with("no dropout"),
        "training mode, with dropout": epoch_with("dropout"),
        "small batches count more": epoch_with("means"),
        "the sum of the held-out losses": epoch_with("total"),
        "you evaluate the training batches": epoch_with("learned"),
        "your weights are right": lambda *a: 0.5 * one_epoch(*a),
        "your weights are not those": lambda model, *rest: model.output_proj.weight.data.zero_().sum(),
        "one number, yours is of type list": lambda *a: [one_epoch(*a)] * 2,
    },
}

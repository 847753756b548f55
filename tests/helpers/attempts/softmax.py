"""Answers to the exercises on the softmax."""

import math

import numpy as np
import torch


def normalised(exponentials):
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def stable(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def in_place(x):
    x -= x.max(axis=-1, keepdims=True)
    return normalised(np.exp(x))


def stable_in_loops(x):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        exponentials = [math.exp(score - max(row)) for score in row]
        rows.append([each / sum(exponentials) for each in exponentials])
    return np.reshape(rows, x.shape)


def stable_log(x):
    return x - np.logaddexp.reduce(x, axis=-1, keepdims=True)


def masked(x, attn_mask):
    weights = np.zeros_like(x)
    for row, allowed, out in zip(*map(np.atleast_2d, (x, attn_mask, weights)), strict=True):
        if allowed.any():
            out[allowed] = stable(row[allowed])
    return weights


def masked_in_torch(x, attn_mask):
    x = torch.tensor(x).masked_fill(~torch.tensor(attn_mask), -torch.inf)
    return x.softmax(-1).nan_to_num(0)


def filled(number):
    return lambda x, attn_mask: stable(np.where(attn_mask, x, number))


def gradient(grad_weights, weights):
    return weights * (grad_weights - np.einsum("...i,...i", weights, grad_weights)[..., None])


def gradient_with_the_matrix(grad_weights, weights):
    jacobian = weights[..., None] * (np.eye(weights.shape[-1]) - weights[..., None, :])
    return (jacobian @ grad_weights[..., None])[..., 0]


def stream_step(peak, total, block):
    for score in block:
        new = max(peak, score)
        peak, total = new, total * math.exp(peak - new) + math.exp(score - new)
    return peak, total


def attend(query, key, value, attn_mask):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    return masked(scores, attn_mask) @ value


def attend_renormalised(query, key, value, attn_mask):
    return normalised(stable(query @ key.T / math.sqrt(query.shape[-1])) * attn_mask) @ value


def shifted_by_all(x, attn_mask):
    exponentials = np.exp(x - x.max(-1, keepdims=True)) * attn_mask
    total = exponentials.sum(-1, keepdims=True)
    return np.divide(exponentials, total, out=np.zeros_like(x), where=total > 0)


RIGHT = {
    "stable_softmax": [
        stable,
        stable_in_loops,
        lambda x: torch.tensor(x).softmax(-1),
        lambda x: torch.softmax(x, -1),
        lambda x: stable(x.astype(np.float32)),
        lambda x: stable(x.astype(np.float16)),
        lambda x: torch.tensor(x).softmax(-1).bfloat16(),
    ],
    "temperature": [
        3 / math.log(2),
        4.33,
        torch.tensor(3 / math.log(2)),
    ],
    "my_log_softmax": [
        stable_log,
        lambda x: torch.tensor(x).log_softmax(-1),
        lambda x: x - x.logsumexp(-1, keepdim=True),
    ],
    "masked_softmax": [
        masked,
        masked_in_torch,
        lambda x, attn_mask: x.masked_fill(~attn_mask, -torch.inf).softmax(-1).nan_to_num(0),
    ],
    "attend": [
        attend,
        attend_renormalised,
        lambda *qkv: torch.nn.functional.scaled_dot_product_attention(*qkv),
    ],
    "softmax_gradient": [
        gradient,
        gradient_with_the_matrix,
    ],
    "longest_row": [
        149,
        np.int64(149),
    ],
    "stream_step": [
        stream_step,
        lambda *args: np.array(stream_step(*args)),
        lambda *args: list(stream_step(*args)),
    ],
}

WRONG = {
    "stable_softmax": {
        "exp(1000) is infinite": lambda x: normalised(np.exp(x)),
        "your columns sum to one": lambda x: stable(x, axis=0),
        "all your weights together sum to one": lambda x: np.exp(x) / np.exp(x).sum(),
        "do not sum to one": lambda x: np.exp(x - x.max(-1, keepdims=True)),
        "you return the logarithms of the weights": stable_log,
        "largest score of all rows": lambda x: normalised(np.exp(x - x.max())),
        "smallest score": lambda x: normalised(np.exp(x - x.min(-1, keepdims=True))),
        "you subtract the mean": lambda x: normalised(np.exp(x - x.mean(-1, keepdims=True))),
        "wrong for this input": lambda x: stable(2 * x),
        "changes its input": in_place,
        "expected shape (1,), yours has shape (1, 1)": lambda x: stable(x)[None],
    },
    "temperature": {
        "yours is the reciprocal": math.log(2) / 3,
        "you took the lead divided by the temperature": 1.5,
        "multiplied": 2.079,
        "base ten": 3 / math.log10(2),
        "at a temperature of 3 the odds are e to 1": 3,
        "that is the factor by which the odds fall": 10.043,
        "at temperature 6 the odds are 1.65 to 1, expected 2 to 1": 6,
        "a temperature must be positive, yours is -1": -1,
        "expected one number, yours is of type str": "4.33",
    },
    "my_log_softmax": {
        "you return the weights": stable,
        "yours is −∞ for small weights": lambda x: np.log(stable(x)),
        "sum of exponentials overflows": lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)),
        "exp(1000) is infinite": lambda x: np.log(normalised(np.exp(x))),
        "your columns are normalised": lambda x: np.log(stable(x, axis=0)),
        "your sign is wrong": lambda x: -stable_log(x),
        "you subtract the largest score only inside the exponential": lambda x: (
            x - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))
        ),
        "you do not subtract the logarithm of the sum": lambda x: x - x.max(-1, keepdims=True),
        "wrong for this input": lambda x: stable_log(x) / math.log(2),
    },
    "masked_softmax": {
        "your mask has no effect": lambda x, attn_mask: stable(x),
        "your mask is inverted": lambda x, attn_mask: masked(x, ~attn_mask),
        "you mask after the softmax": lambda x, attn_mask: stable(x) * attn_mask,
        "a score of zero": filled(0.0),
        "leaks": filled(-1e4),
        "your weights underflow to 0: shift by the largest score that the mask allows": shifted_by_all,
        "your query that may attend to nothing attends evenly to masked keys": filled(
            np.finfo(float).min / 2
        ),
        "NaN for a query": filled(-np.inf),
        "as if there were no mask": lambda x, attn_mask: masked(
            x, attn_mask | ~attn_mask.any(-1, keepdims=True)
        ),
    },
    "attend": {
        "both bugs are still there": lambda query, key, value, attn_mask: (
            stable(query @ key.T / math.sqrt(query.shape[-1]), axis=0) * attn_mask @ value
        ),
        "you mask after the softmax": lambda query, key, value, attn_mask: (
            stable(query @ key.T / math.sqrt(query.shape[-1])) * attn_mask @ value
        ),
        "over the queries": lambda query, key, value, attn_mask: (
            masked((query @ key.T).T / math.sqrt(query.shape[-1]), attn_mask.T).T @ value
        ),
        "a score of zero": lambda query, key, value, attn_mask: (
            stable(np.where(attn_mask, query @ key.T / math.sqrt(query.shape[-1]), 0)) @ value
        ),
        "no longer divided": lambda query, key, value, attn_mask: masked(query @ key.T, attn_mask) @ value,
        "your mask has no effect": lambda query, key, value, attn_mask: attend(
            query, key, value, np.ones_like(attn_mask)
        ),
        "your mask is inverted": lambda query, key, value, attn_mask: attend(query, key, value, ~attn_mask),
    },
    "softmax_gradient": {
        "only the diagonal": lambda grad, weights: weights * (1 - weights) * grad,
        "you do not subtract the weighted mean": lambda grad, weights: weights * grad,
        "plain mean": lambda grad, weights: weights * (grad - grad.mean(-1, keepdims=True)),
        "plain sum": lambda grad, weights: weights * (grad - grad.sum(-1, keepdims=True)),
        "you do not multiply by the weights": lambda grad, weights: (
            grad - (weights * grad).sum(-1, keepdims=True)
        ),
        "your sign is wrong": lambda grad, weights: -gradient(grad, weights),
        "your weights and their gradients are swapped": lambda grad, weights: gradient(weights, grad),
        "mean is over all rows": lambda grad, weights: weights * (grad - (weights * grad).sum()),
    },
    "longest_row": {
        "you did not count the leader": 148,
        "one too many": 150,
        "that many competing keys": math.exp(5),
        "close, but the number of keys is whole": math.exp(5) + 1,
        "not five times": 10,
        "by e, not by 2": 32,
        "you counted the competing keys twice": 297,
        "among 75 keys the leader has a weight of 0.667": 75,
        "a row has at least one key, yours has 0": 0,
    },
    "stream_step": {
        "you do not rescale the old total": lambda peak, total, block: (
            max(peak, block.max()),
            total + np.exp(block - max(peak, block.max())).sum(),
        ),
        "you forget the old peak": lambda peak, total, block: (
            block.max(),
            total * np.exp(peak - block.max()) + np.exp(block - block.max()).sum(),
        ),
        "you do not raise the peak": lambda peak, total, block: (peak, total + np.exp(block - peak).sum()),
        "overflows": lambda peak, total, block: (max(peak, block.max()), total + np.exp(block).sum()),
        "your results are swapped": lambda *args: stream_step(*args)[::-1],
        "you forget the old total and count only the block": lambda peak, total, block: (
            max(peak, block.max()),
            np.exp(block - max(peak, block.max())).sum(),
        ),
        "you shift the block by its own peak": lambda peak, total, block: (
            max(peak, block.max()),
            total * np.exp(peak - max(peak, block.max())) + np.exp(block - block.max()).sum(),
        ),
        "exp(∞) is NaN": lambda peak, total, block: (
            max(peak, block.max()),
            total * np.exp(max(peak, block.max()) - peak) + np.exp(block - max(peak, block.max())).sum(),
        ),
        "wrong way: when": lambda peak, total, block: (
            max(peak, block.max()),
            (total * np.exp(max(peak, block.max()) - peak) if total else 0.0)
            + np.exp(block - max(peak, block.max())).sum(),
        ),
    },
}

"""Answers to the exercises on scaling the scores."""

import math

import numpy as np
import torch


def softmax(x, axis=-1):
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


def unit(x, axis=-1):
    return x / np.linalg.norm(x, axis=axis, keepdims=True)


def scaled(query, key):
    return query @ key.T / np.sqrt(query.shape[-1])


def scaled_in_loops(query, key):
    return [[sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in key] for q in query]


def scaled_in_torch(query, key):
    query, key = torch.tensor(query), torch.tensor(key)
    return torch.einsum("qd,kd->qk", query, key) * query.shape[-1] ** -0.5


def weights_in_float32(query, key):
    return softmax(scaled(query.astype(np.float32), key.astype(np.float32)))


def weights_in_torch(query, key):
    return torch.softmax(scaled_in_torch(query, key), -1)


def entropy_terms(weights):
    return -weights * np.log2(np.where(weights > 0, weights, 1))


def entropy(weights):
    return entropy_terms(weights).sum(axis=-1)


def entropy_in_loops(weights):
    return [sum(-w * math.log2(w) for w in row if w > 0) for row in weights]


def cosines(query, key):
    return unit(query) @ unit(key).T


def cosine_weights_in_torch(query, key, scale):
    query, key = torch.tensor(query), torch.tensor(key)
    return (scale * torch.cosine_similarity(query[:, None], key[None], dim=-1)).softmax(-1)


RIGHT = {
    "scaled_scores": [
        scaled,
        scaled_in_loops,
        scaled_in_torch,
        lambda query, key: torch.nn.functional.linear(query, key) / math.sqrt(key.shape[-1]),
    ],
    "variance": [
        576,
        576.0,
        np.float32(576),
    ],
    "fixed_weights": [
        lambda query, key: softmax(scaled(query, key)),
        weights_in_float32,
        weights_in_torch,
    ],
    "entropy_in_bits": [
        entropy,
        entropy_in_loops,
        lambda weights: torch.special.entr(torch.tensor(weights)).sum(-1) / math.log(2),
    ],
    "right_divisor": [
        lambda d_k, variance: variance * np.sqrt(d_k),
        lambda d_k, variance: math.sqrt(d_k * variance * variance),
        lambda d_k, variance: torch.tensor(float(d_k)).sqrt() * variance,
    ],
    "cosine_weights": [
        lambda query, key, scale: softmax(scale * cosines(query, key)),
        cosine_weights_in_torch,
        lambda query, key, scale: torch.softmax(
            scale * torch.nn.functional.normalize(query) @ torch.nn.functional.normalize(key).T, -1
        ),
    ],
}

WRONG = {
    "scaled_scores": {
        "unscaled": lambda q, k: q @ k.T,
        "you divide by the width itself": lambda q, k: q @ k.T / q.shape[-1],
        "you multiply instead of dividing": lambda q, k: q @ k.T * q.shape[-1] ** 0.5,
        "root of the number of keys": lambda q, k: q @ k.T / len(k) ** 0.5,
        "root of the number of queries": lambda q, k: q @ k.T / len(q) ** 0.5,
        "your scores are transposed": lambda q, k: scaled(k, q),
        "you return the weights": lambda q, k: softmax(scaled(q, k)),
        "wrong for this input": lambda q, k: np.abs(scaled(q, k)),
    },
    "variance": {
        "components of variance 1": 16,
        "variance of one product": 36,
        "standard deviation": 24,
        "you added the variances of the two factors": 208,
        "multiplied standard deviations": 96,
        "squared once too often": 20736,
        "16 times one of them": 9216,
        "yours is 100: how large is it with one component, and with two?": 100,
        "expected one number, yours is of type str": "large",
    },
    "fixed_weights": {
        "you still divide by the width": lambda q, k: softmax(q @ k.T / q.shape[-1]),
        "you no longer divide at all": lambda q, k: softmax(q @ k.T),
        "after the softmax": lambda q, k: softmax(q @ k.T) / q.shape[-1] ** 0.5,
        "your columns sum to one": lambda q, k: softmax(scaled(q, k), axis=0),
        "root of the number of keys": lambda q, k: softmax(q @ k.T / len(k) ** 0.5),
        "you return the scores": scaled,
        "wrong for this input": lambda q, k: softmax(-scaled(q, k)),
    },
    "entropy_in_bits": {
        "in nats": lambda w: entropy(w) * math.log(2),
        "negative": lambda w: -entropy(w),
        "you sum columns; each row has its own entropy": lambda w: entropy_terms(w).sum(axis=0),
        "one number for all rows": lambda w: entropy_terms(w).sum(),
        "you average over the keys": lambda w: entropy_terms(w).mean(axis=-1),
        "you do not sum": entropy_terms,
        "NaN": lambda w: -(w * np.log2(w)).sum(axis=-1),
        "your sum is unweighted": lambda w: -np.log2(np.where(w > 0, w, 1)).sum(axis=-1),
        "wrong for this input": lambda w: w.max(axis=-1),
    },
    "right_divisor": {
        "yours ignores the variance": lambda d, v: d**0.5,
        "variance of the scores": lambda d, v: d * v * v,
        "you use the variance of one vector only": lambda d, v: (d * v) ** 0.5,
        "you divide by the variance": lambda d, v: d**0.5 / v,
        "without a root": lambda d, v: d * v,
        "you square `variance`": lambda d, v: d**0.5 * v * v,
        "yours is the reciprocal": lambda d, v: 1 / (v * d**0.5),
        "wrong for this input": lambda d, v: 2 * v * d**0.5,
    },
    "cosine_weights": {
        "neither queries nor keys": lambda q, k, s: softmax(s * (q @ k.T)),
        "your keys are not normalised": lambda q, k, s: softmax(s * (unit(q) @ k.T)),
        "your queries are not normalised": lambda q, k, s: softmax(s * (q @ unit(k).T)),
        "you divide by `scale`": lambda q, k, s: softmax(cosines(q, k) / s),
        "you also divide by √d_k": lambda q, k, s: softmax(s * cosines(q, k) / q.shape[-1] ** 0.5),
        "your result does not depend on `scale`": lambda q, k, s: softmax(cosines(q, k)),
        "you normalise the columns": lambda q, k, s: softmax(s * (unit(q, axis=0) @ unit(k, axis=0).T)),
        "you divide all vectors by the same length": lambda q, k, s: softmax(
            s * q @ k.T / (q**2).sum() ** 0.5 / (k**2).sum() ** 0.5
        ),
        "you multiply the weights by `scale`": lambda q, k, s: s * softmax(cosines(q, k)),
        "you divide by the squared lengths": lambda q, k, s: softmax(
            s * q @ k.T / (q**2).sum(-1, keepdims=True) / (k**2).sum(-1, keepdims=True).T
        ),
        "you return the scaled cosines": lambda q, k, s: s * cosines(q, k),
        "your columns sum to one": lambda q, k, s: softmax(s * cosines(q, k), axis=0),
        "wrong for this input": lambda q, k, s: softmax(-s * cosines(q, k)),
    },
}

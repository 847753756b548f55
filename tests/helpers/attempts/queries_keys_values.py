"""Answers to the exercises on queries, keys and values."""

import math

import numpy as np
import torch


def softmax(x, axis=-1):
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


def soft_lookup(query, key, value, sharpness):
    return softmax(sharpness * (key @ query)) @ value


def soft_lookup_in_loops(query, key, value, sharpness):
    shares = [math.exp(sharpness * sum(a * b for a, b in zip(query, row, strict=True))) for row in key]
    columns = range(value.shape[1])
    return [sum(s * row[c] for s, row in zip(shares, value, strict=True)) / sum(shares) for c in columns]


def attend(x, w_q, w_k, w_v, divisor=None, axis=-1):
    scores = x @ w_q @ (x @ w_k).T / (divisor or math.sqrt(w_q.shape[1]))
    return softmax(scores, axis) @ (x @ w_v)


def attend_in_torch(*inputs):
    x, w_q, w_k, w_v = (torch.tensor(array, dtype=torch.float32) for array in inputs)
    return torch.nn.functional.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v)


def fixed_attention(query, key, value, weigh=softmax):
    return weigh(query @ key.T / np.sqrt(query.shape[-1])) @ value


def renormalised(scores):
    weights = softmax(scores, axis=0)
    return weights / weights.sum(-1, keepdims=True)


def fixed_by_transposing(query, key, value):
    return softmax(key @ query.T / np.sqrt(query.shape[-1]), axis=0).T @ value


def regression(x, keys, values, bandwidth):
    return softmax(-((x[:, None] - keys) ** 2) / (2 * bandwidth**2)) @ values


def regression_in_loops(x, keys, values, bandwidth):
    found = []
    for place in x:
        bells = [math.exp(-0.5 * ((place - key) / bandwidth) ** 2) for key in keys]
        found.append(sum(b * v for b, v in zip(bells, values, strict=True)) / sum(bells))
    return found


def left_out(keys, values, bandwidth):
    scores = -((keys[:, None] - keys) ** 2) / (2 * bandwidth**2)
    np.fill_diagonal(scores, -np.inf)
    return values - softmax(scores) @ values


def left_out_in_loops(keys, values, bandwidth):
    def miss(i):
        return values[i] - regression(keys[i : i + 1], np.delete(keys, i), np.delete(values, i), bandwidth)[0]

    return sum(miss(i) ** 2 for i in range(len(keys))) / len(keys)


def left_out_late(keys, values, bandwidth):
    weights = softmax(-((keys[:, None] - keys) ** 2) / (2 * bandwidth**2))
    np.fill_diagonal(weights, 0)
    return np.mean((values - weights @ values) ** 2)


def batched(query, key, value, axis=-1, divisor=None):
    scores = np.einsum("bqd,bkd->bqk", query, key) / (divisor or math.sqrt(query.shape[-1]))
    return softmax(scores, axis) @ value, softmax(scores, axis)


def batched_in_torch(query, key, value):
    weights = (query.bmm(key.mT) / query.shape[-1] ** 0.5).softmax(-1)
    return weights.bmm(value), weights


def batched_in_loops(query, key, value):
    pairs = [
        (softmax(q @ k.T / math.sqrt(q.shape[-1])), v) for q, k, v in zip(query, key, value, strict=True)
    ]
    return np.stack([weights @ v for weights, v in pairs]), np.stack([weights for weights, _ in pairs])


RIGHT = {
    "weighted_mean": [
        17,
        np.float32(17.0),
    ],
    "soft_lookup": [
        soft_lookup,
        soft_lookup_in_loops,
        lambda q, k, v, s: torch.softmax(s * (k @ q), dim=0) @ v,
    ],
    "symmetric": [
        {"d", "a"},
        frozenset("ad"),
        ["a", "d"],
        "ad",
    ],
    "attend": [
        attend,
        attend_in_torch,
        lambda x, *w: torch.nn.functional.scaled_dot_product_attention(*(x @ each for each in w)),
    ],
    "fixed_attention": [
        fixed_attention,
        fixed_by_transposing,
    ],
    "attend_in_batches": [
        batched,
        batched_in_loops,
        batched_in_torch,
        lambda *arrays: batched(*(a.astype(np.float32) for a in arrays)),
    ],
    "kernel_regression": [
        regression,
        regression_in_loops,
        lambda x, k, v, h: (
            torch.softmax(-(torch.cdist(x.unsqueeze(1), k.unsqueeze(1)) ** 2) / 2 / h**2, 1) @ v
        ),
    ],
    "leave_one_out_error": [
        lambda *points: np.mean(left_out(*points) ** 2),
        left_out_in_loops,
        lambda *points: torch.tensor(left_out_in_loops(*points), dtype=torch.float32),
    ],
}

WRONG = {
    "weighted_mean": {
        "the hard look-up": 22,
        "the plain mean": 11,
        "you did not divide by the sum of the powers": 187,
        "weighted by the scores": 16.5,
        "2 to the power 0 is 1": 17.6,
        "you used powers of e": float(softmax(np.array([3, 1, 0])) @ [22, 0, 11]),
        "yours is 5: write down the three powers of two and their sum first": 5,
    },
    "soft_lookup": {
        "the hard look-up": lambda q, k, v, s: v[np.argmax(k @ q)],
        "do not sum to one": lambda q, k, v, s: np.exp(s * (k @ q)) @ v,
        "you weight by the scores": lambda q, k, v, s: s * (k @ q) @ v,
        "you divide the scores by their sum": lambda q, k, v, s: k @ q @ v / (k @ q).sum(),
        "your result does not depend on `sharpness`": lambda q, k, v, s: soft_lookup(q, k, v, 1),
        "you divide by `sharpness`": lambda q, k, v, s: soft_lookup(q, k, v, 1 / s),
        "you multiply the mixture by `sharpness`": lambda q, k, v, s: s * soft_lookup(q, k, v, 1),
        "you divide the scores by √d": lambda q, k, v, s: soft_lookup(q, k, v, s / math.sqrt(len(q))),
        "you return the weights": lambda q, k, v, s: softmax(s * (k @ q)),
        "wrong for this input": lambda q, k, v, s: -soft_lookup(q, k, v, s),
    },
    "symmetric": {
        "expected a set of letters": {"a", "f"},
        "(b) is not": {"a", "b", "d"},
        "(c) is not": {"c", "d"},
        "(e) is not": {"a", "d", "e"},
        "(a) is missing": {"d"},
        "(d) is missing": {"a"},
    },
    "attend": {
        "step 3 is missing": lambda *inputs: attend(*inputs, divisor=1),
        "you divide by d_k": lambda *inputs: attend(*inputs, divisor=inputs[1].shape[1]),
        "by √d_model": lambda *inputs: attend(*inputs, divisor=len(inputs[1]) ** 0.5),
        "your queries and keys are swapped": lambda x, q, k, v: attend(x, k, q, v),
        "you mix X itself": lambda x, q, k, v: fixed_attention(x @ q, x @ k, x),
        "you mix the keys": lambda x, q, k, v: attend(x, q, k, k),
        "your softmax runs down the columns": lambda *inputs: attend(*inputs, axis=0),
        "you return the weights": lambda x, q, k, v: fixed_attention(x @ q, x @ k, np.eye(len(x))),
        "wrong for this input": lambda x, q, k, v: 2 * attend(x, q, k, v),
        "stopped with ValueError": lambda x, q, k, v: q @ v,
    },
    "fixed_attention": {
        "still runs down the columns, which": lambda *qkv: fixed_attention(
            *qkv, lambda s: softmax(s, axis=0)
        ),
        "your whole matrix sums to one": lambda *qkv: fixed_attention(*qkv, lambda s: softmax(s, None)),
        "still runs down the columns": lambda *qkv: fixed_attention(*qkv, renormalised),
        "you never divide the exponentials by their sum": lambda *qkv: fixed_attention(*qkv, np.exp),
        "you removed the softmax": lambda *qkv: fixed_attention(*qkv, np.array),
        "no longer divided by √d_k": lambda q, k, v: softmax(q @ k.T) @ v,
        "wrong for this input": lambda *qkv: fixed_attention(*qkv) + 1,
    },
    "attend_in_batches": {
        "runs over the queries": lambda *qkv: batched(*qkv, axis=-2),
        "runs over the batch": lambda *qkv: batched(*qkv, axis=0),
        "not divided by √d_k": lambda *qkv: batched(*qkv, divisor=1),
        "number of queries": lambda *qkv: batched(*qkv, divisor=math.sqrt(qkv[0].shape[1])),
        "your queries all attend to the first sentence": lambda q, k, v: batched(
            q, np.stack([k[0]] * len(k)), np.stack([v[0]] * len(v))
        ),
        "you return only the attended values": lambda *qkv: batched(*qkv)[0],
        "your results are swapped": lambda *qkv: batched(*qkv)[::-1],
        "wrong for this input": lambda *qkv: (2 * batched(*qkv)[0], batched(*qkv)[1]),
    },
    "kernel_regression": {
        "bandwidth is not squared": lambda x, k, v, h: regression(x, k, v, math.sqrt(h)),
        "your exponent lacks the 2 of 2h²": lambda x, k, v, h: regression(x, k, v, h / math.sqrt(2)),
        "you multiply by the bandwidth": lambda x, k, v, h: regression(x, k, v, 1 / h),
        "your exponent is positive": lambda x, k, v, h: softmax((x[:, None] - k) ** 2 / (2 * h**2)) @ v,
        "distance is not squared": lambda x, k, v, h: softmax(-np.abs(x[:, None] - k) / (2 * h**2)) @ v,
        "dot products": lambda x, k, v, h: softmax(np.outer(x, k) / h**2) @ v,
        "do not sum to one": lambda x, k, v, h: np.exp(-((x[:, None] - k) ** 2) / (2 * h**2)) @ v,
        "the nearest point's value": lambda x, k, v, h: v[np.abs(x[:, None] - k).argmin(1)],
        "wrong for this input": lambda x, k, v, h: np.full(len(x), v.mean()),
    },
    "leave_one_out_error": {
        "your points see themselves": lambda k, v, h: np.mean((v - regression(k, k, v, h)) ** 2),
        "you hide points after the softmax": left_out_late,
        "you average absolute errors": lambda *points: np.mean(np.abs(left_out(*points))),
        "your error is not squared": lambda *points: np.mean(left_out(*points)),
        "you return the sum": lambda *points: np.sum(left_out(*points) ** 2),
        "the root of": lambda *points: np.sqrt(np.mean(left_out(*points) ** 2)),
        "wrong for this input": lambda *points: 0.0,
    },
}

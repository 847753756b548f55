"""Answers to the exercises on multi-head attention."""

import math

import numpy as np
import torch


def merge(x):
    return np.concatenate(list(x), axis=-1)


def contributions(attended, output_weight):
    width = attended.shape[-1]
    return np.stack([head @ output_weight[i * width : (i + 1) * width] for i, head in enumerate(attended)])


def contributions_by_einsum(attended, output_weight):
    heads, _, width = attended.shape
    return np.einsum("htd,hdm->htm", attended, output_weight.reshape(heads, width, -1))


def contributions_by_zeros(attended, output_weight):
    parts = np.zeros((len(attended), *attended.shape))
    for i, head in enumerate(attended):
        parts[i, i] = head
    return np.stack([merge(part) @ output_weight for part in parts])


def softmax(x):
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def attend_in_a_loop(query, key, value, num_heads, divisor=None, split=None, join=merge):
    split = split or (lambda x: np.split(x, num_heads, axis=-1))
    divisor = math.sqrt(query.shape[-1] / num_heads) if divisor is None else divisor
    heads = [softmax(q @ k.T / divisor) @ v for q, k, v in zip(*map(split, (query, key, value)), strict=True)]
    return join(np.stack(heads))


def attend_in_torch(query, key, value, num_heads):
    pieces = (torch.tensor(x).unflatten(-1, (num_heads, -1)).transpose(0, 1) for x in (query, key, value))
    return torch.nn.functional.scaled_dot_product_attention(*pieces).transpose(0, 1).flatten(1)


def attend_by_einsum(query, key, value, num_heads, axis=2):
    query, key, value = (x.reshape(len(x), num_heads, -1) for x in (query, key, value))
    exponentials = np.exp(np.einsum("qhd,khd->hqk", query, key) / math.sqrt(query.shape[-1]))
    weights = exponentials / exponentials.sum(axis, keepdims=True)
    return np.einsum("hqk,khd->qhd", weights, value).reshape(len(query), -1)


def attend_with_the_module(query, key, value, num_heads):
    width = query.shape[-1]
    module = torch.nn.MultiheadAttention(width, num_heads, bias=False, dtype=query.dtype)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(width))
    return module(query, key, value)[0]


def attend_among_heads(query, key, value, num_heads):
    query, key, value = (x.reshape(len(x), num_heads, -1) for x in (query, key, value))
    weights = softmax(query @ key.swapaxes(-2, -1) / math.sqrt(query.shape[-1]))
    return (weights @ value).reshape(len(query), -1)


def attend_interleaved(query, key, value, num_heads):
    return attend_in_a_loop(
        query,
        key,
        value,
        num_heads,
        split=lambda x: [x[:, head::num_heads] for head in range(num_heads)],
        join=lambda heads: np.stack(list(heads), axis=-1).reshape(len(query), -1),
    )


def attend_wrong(divisor=None, split=False, join=False):
    """Return an answer with some of the slips."""

    def run(query, key, value, num_heads):
        return attend_in_a_loop(
            query,
            key,
            value,
            num_heads,
            divisor=divisor and divisor(query.shape[-1]),
            split=(lambda x: x.reshape(num_heads, len(x), -1)) if split else None,
            join=(lambda x: x.reshape(x.shape[1], -1)) if join else merge,
        )

    return run


RIGHT = {
    "merge": [
        merge,
        lambda x: x.transpose(1, 0, 2).reshape(x.shape[1], -1),
        lambda x: torch.tensor(x).transpose(0, 1).flatten(1),
        lambda x: x.permute(1, 0, 2).flatten(1).bfloat16(),
        lambda x: np.einsum("htd->thd", x.astype(np.float32)).reshape(x.shape[1], -1),
        lambda x: [[number for head in x for number in head[word]] for word in range(x.shape[1])],
    ],
    "parameters": [
        1_050_624,
        4 * (512 * 512 + 512),
    ],
    "contributions": [
        contributions,
        contributions_by_einsum,
        contributions_by_zeros,
        lambda attended, output_weight: torch.stack(
            [a @ w for a, w in zip(attended, output_weight.chunk(len(attended)), strict=True)]
        ),
    ],
    "attend": [
        attend_in_a_loop,
        attend_in_torch,
        attend_by_einsum,
        attend_with_the_module,
        lambda *given: attend_in_a_loop(*given).astype(np.float16),
    ],
    "best_share": [
        20 / 64,
        0.3125,
        np.float64(0.31),
    ],
    "sharpness": [
        4,
        4.0,
        np.int64(4),
    ],
}

WRONG = {
    "merge": {
        "you reshape without swapping axes first": lambda x: x.reshape(x.shape[1], -1),
        "alternate": lambda x: np.moveaxis(x, 0, -1).reshape(x.shape[1], -1),
        "you add the heads": lambda x: sum(x),
        "you average the heads": lambda x: x.mean(0),
        "you swapped the axes": lambda x: np.swapaxes(x, 0, 1),
        "you stack the pieces vertically": lambda x: np.concatenate(list(x)),
        "reverse order": lambda x: np.concatenate(list(x)[::-1], axis=-1),
        "your rows are heads": lambda x: x.reshape(len(x), -1),
        "wrong for this input": lambda x: 2 * merge(x),
    },
    "parameters": {
        "you left out the biases": 1_048_576,
        "once for each head": 8 * 1_050_624,
        "you left out one bias": 1_050_112,
        "W_O comes after": 787_968,
        "one head's share": 131_328,
        "yours is 7: count four projections from 512 to 512 numbers, each with a bias": 7,
        "expected one number, yours is of type str": "many",
    },
    "contributions": {
        "you return the sum": lambda a, w: merge(a) @ w,
        "you divide by the number of heads": lambda a, w: contributions(a, w) / len(a),
        "you split the columns of W_O": lambda a, w: contributions(a, w.T),
        "you split the finished output, where all heads are mixed": lambda a, w: np.stack(
            np.split(merge(a) @ w, len(a), axis=-1)
        ),
        "your heads take every h-th row": lambda a, w: np.stack(
            [head @ w[i :: len(a)] for i, head in enumerate(a)]
        ),
        "every head returns the whole output": lambda a, w: np.tile(merge(a) @ w, (len(a), 1, 1)),
        "you multiply every head by the first d_v rows of W_O": lambda a, w: a @ w[: a.shape[-1]],
    },
    "attend": {
        "both bugs": attend_wrong(math.sqrt, split=True, join=True),
        "you still split and merge with a reshape alone": attend_wrong(split=True, join=True),
        "you split correctly, but merge with a reshape alone": attend_wrong(join=True),
        "you merge correctly, but split with a reshape alone": attend_wrong(split=True),
        "you still divide by √d_model": attend_wrong(math.sqrt),
        "no longer divided": attend_wrong(lambda width: 1),
        "you split correctly, but you merge with a reshape alone and divide by √d_model": attend_wrong(
            math.sqrt, join=True
        ),
        "you merge correctly, but you split with a reshape alone and divide by √d_model": attend_wrong(
            math.sqrt, split=True
        ),
        "root of the number of heads": lambda q, k, v, num_heads: attend_in_a_loop(
            q, k, v, num_heads, divisor=math.sqrt(num_heads)
        ),
        "your weights all sum to one together": lambda *given: attend_by_einsum(*given, axis=None),
        "each word attends to its own heads": attend_among_heads,
        "your heads take every h-th column": attend_interleaved,
        "runs over the heads": lambda *given: attend_by_einsum(*given, axis=0),
        "runs over the queries": lambda *given: attend_by_einsum(*given, axis=1),
        "yours ignores num_heads and uses one head": lambda q, k, v, num_heads: attend_in_a_loop(q, k, v, 1),
    },
    "best_share": {
        "that is a blind guess": 1 / 64,
        "you counted six orders for every mixture": 1 / 6,
        "for two questions": 0.625,
        "divide by the number of ordered lists": 1 / 20,
        "you counted only lists with three equal values": 0.0625,
        "you counted lists with three different values": 0.375,
        "you left out lists with two equal values": 0.125,
        "yours is 0.5: count the mixtures of three values": 0.5,
        "a share lies between 0 and 1, yours is 20": 20,
    },
    "sharpness": {
        "divided by √d_k, and here d_k is 8": 2,
        "you divided by √d_model": 6,
        "5 is enough": 5,
        "more than needed": 12,
        "four others outweigh it": 3,
        "next whole number": math.sqrt(8) * math.log(4),
        "4.04e+04 times the weight of each competing key": 30,
    },
}

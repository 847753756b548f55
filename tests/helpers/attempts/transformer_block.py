"""Answers to the exercises on what stands around attention in a block."""

import math

import numpy as np
import torch


def normed(x, scale, shift, *, over=None, inside=1e-5, outside=0.0, axis=-1):
    centred = x - x.mean(axis=axis, keepdims=True)
    count = centred.size if axis is None else centred.shape[axis]
    variance = (centred**2).sum(axis=axis, keepdims=True) / (over or count)
    return scale * centred / (np.sqrt(variance + inside) + outside) + shift


def normed_in_loops(x, scale, shift):
    rows = []
    for row in x:
        mean = sum(row) / len(row)
        root = math.sqrt(sum((number - mean) ** 2 for number in row) / len(row) + 1e-5)
        rows.append([a * (n - mean) / root + b for n, a, b in zip(row, scale, shift, strict=True)])
    return rows


def normed_in_torch(x, scale, shift):
    x, scale, shift = (torch.tensor(each) for each in (x, scale, shift))
    return torch.nn.functional.layer_norm(x, x.shape[-1:], scale, shift)


def pre_norm(x, norm, look, work):
    x = x + look(norm(x))
    return x + work(norm(x))


def pre_norm_on_one_line(x, norm, look, work):
    return (y := x + look(norm(x))) + work(norm(y))


def every(step):
    return lambda x, norm, look, work: step(step(x, norm, look), norm, work)


def both_parts(grad, x):
    centred = x - x.mean(axis=-1, keepdims=True)
    root = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    along = centred / root * (grad * centred / root).mean(axis=-1, keepdims=True)
    return grad.mean(axis=-1, keepdims=True), along, root


def norm_gradient(grad, x):
    mean, along, root = both_parts(grad, x)
    return (grad - mean - along) / root


def norm_gradient_in_steps(grad, x, *, axis=-1, **how):
    normalised = normed(x, 1, 0, **how)
    root = (x - x.mean(-1, keepdims=True)) / normalised
    along = normalised * (grad * normalised).mean(axis=axis, keepdims=True)
    return (grad - grad.mean(axis=axis, keepdims=True) - along) / root


def norm_gradient_by_autograd(grad, x):
    leaf = torch.tensor(x, requires_grad=True)
    torch.nn.functional.layer_norm(leaf, leaf.shape[-1:]).backward(torch.tensor(grad))
    return leaf.grad


def norm_gradient_by_jacobian(grad, x):
    rows = []
    for above, row in zip(grad, x, strict=True):
        leaf = torch.tensor(row)
        jacobian = torch.func.jacrev(lambda leaf: torch.nn.functional.layer_norm(leaf, leaf.shape))(leaf)
        rows.append((torch.tensor(above) @ jacobian).numpy())
    return rows


RIGHT = {
    "my_layer_norm": [
        normed,
        normed_in_loops,
        normed_in_torch,
        lambda x, scale, shift: torch.nn.functional.layer_norm(x, x.shape[-1:], scale, shift),
    ],
    "gradient_factor": [
        1.05**24,
        3.23,
        np.float32(3.2251),
    ],
    "block": [
        pre_norm,
        pre_norm_on_one_line,
        every(lambda x, norm, sublayer: sublayer(norm(x)) + x),
        every(lambda x, norm, sublayer: x.clone().add_(sublayer(norm(x)))),
    ],
    "number_of_parameters": [
        600,
        600.0,
        np.int64(600),
    ],
    "inverted_dropout": [
        lambda x, kept, p: x * kept / (1 - p),
        lambda x, kept, p: np.where(kept, x / (1 - p), 0),
        lambda x, kept, p: torch.tensor(x).masked_fill(~torch.tensor(kept), 0) / (1 - p),
        lambda x, kept, p: x.masked_fill(~kept, 0) / (1 - p),
        lambda x, kept, p: np.einsum("...,...", x, kept / (1 - p)).astype(np.float32),
    ],
    "row_std": [
        0.25,
        0.2503,
        torch.tensor(0.25).item(),
    ],
    "norm_gradient": [
        norm_gradient,
        norm_gradient_by_autograd,
        norm_gradient_by_jacobian,
    ],
}

WRONG = {
    "my_layer_norm": {
        "divided by d − 1: layer norm": lambda x, a, b: normed(x, a, b, over=x.shape[-1] - 1),
        "ε stands beside": lambda x, a, b: normed(x, a, b, inside=0, outside=1e-5),
        "two slips at once": lambda x, a, b: normed(x, a, b, over=x.shape[-1] - 1, inside=0, outside=1e-5),
        "another ε": lambda x, a, b: normed(x, a, b, inside=1e-6),
        "one mean and one variance for all words, and no ε": (
            lambda x, a, b: a * (x - x.mean()) / x.std() + b
        ),
        "divided by d − 1, and no ε": lambda x, a, b: normed(x, a, b, over=x.shape[-1] - 1, inside=0),
        "mean is not taken away": lambda x, a, b: a * x / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + b,
        "no mean is taken away": lambda x, a, b: a * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) + b,
        "shift is scaled": lambda x, a, b: a * (normed(x, 1, 0) + b),
        "NaN": lambda x, a, b: normed(x, a, b, inside=0),
        "the root is missing": lambda x, a, b: (
            a * (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) + b
        ),
        "down the columns": lambda x, a, b: normed(x, a, b, axis=0),
        "one mean and one variance for all words: each": lambda x, a, b: normed(x, a, b, axis=None),
        "play no part": lambda x, a, b: normed(x, 1, 0),
        "before it is normalised": lambda x, a, b: normed(a * x + b, 1, 0),
        "wrong for this input": lambda x, a, b: normed(x, -a, b),
    },
    "gradient_factor": {
        "without residual connections": 0.05**24,
        "two sublayers": 1.05**12,
        "at most one sublayer": 2.2,
        "their product counts": 1.1**12,
        "not taken from it": 0.95**24,
        "not twice the product": 2 * 1.05**12,
        "not 7": 7,
        "expected one number, yours is of type str": "much",
    },
    "block": {
        "straight path carries": every(lambda x, norm, f: norm(x) + f(norm(x))),
        "that is post-norm": every(lambda x, norm, f: norm(x + f(x))),
        "nothing is added": every(lambda x, norm, f: f(norm(x))),
        "no norm is left": every(lambda x, norm, f: x + f(x)),
        "it belongs in front": every(lambda x, norm, f: x + norm(f(x))),
        "feed-forward network is still wrong": lambda x, norm, look, work: (
            (y := norm(x + look(norm(x)))) + work(y)
        ),
        "attention is still wrong": lambda x, norm, look, work: (
            (y := norm(x) + look(norm(x))) + work(norm(y))
        ),
        "handed its words without a norm": lambda x, norm, look, work: (y := x + look(norm(x))) + work(y),
        "a norm too many": lambda x, norm, look, work: norm(pre_norm(x, norm, look, work)),
        "stands first": lambda x, norm, look, work: pre_norm(x, norm, work, look),
        "read the same words": lambda x, norm, look, work: x + look(norm(x)) + work(norm(x)),
        "wrong for this input": every(lambda x, norm, f: x - f(norm(x))),
    },
    "number_of_parameters": {
        "the biases are missing": 544,
        "32 are missing": 568,
        "biases of the feed-forward": 576,
        "half of that is missing": 584,
        "biases and norms are missing": 512,
        "one projection": 528,
        "attention alone": 288,
        "feed-forward network alone": 280,
        "decoder layer": 904,
        "not 1: count": 1,
    },
    "inverted_dropout": {
        "not scaled up": lambda x, kept, p: x * kept,
        "divided by p": lambda x, kept, p: x * kept / p,
        "made smaller": lambda x, kept, p: x * kept * (1 - p),
        "the dropped are kept": lambda x, kept, p: x * ~kept / (1 - p),
        "happened to be kept": lambda x, kept, p: x * kept / kept.mean(),
        "stay as they were": lambda x, kept, p: np.where(kept, x / (1 - p), x),
        "keep their places": lambda x, kept, p: x[kept] / (1 - p),
        "nothing is dropped": lambda x, kept, p: x / (1 - p),
        "wrong for this input": lambda x, kept, p: -x * kept / (1 - p),
    },
    "row_std": {
        "that is the variance": 0.0625,
        "not p": math.sqrt(0.05),
        "squared weights times p": 0.05,
        "alone: the weights play a part": 0.5,
        "that is the mean": 1,
        "how one weight varies": 0.125,
        "do not make up": 0.2,
        "not 9": 9,
    },
    "norm_gradient": {
        "taken as constants": lambda g, x: g / both_parts(g, x)[2],
        "the variance is taken": lambda g, x: (g - both_parts(g, x)[0]) / both_parts(g, x)[2],
        "the mean is taken": lambda g, x: (g - both_parts(g, x)[1]) / both_parts(g, x)[2],
        "not divided by the root": lambda g, x: norm_gradient(g, x) * both_parts(g, x)[2],
        "multiplied by the root": lambda g, x: norm_gradient(g, x) * both_parts(g, x)[2] ** 2,
        "part along the normed word is a mean": lambda g, x: (
            norm_gradient(g, x) - (g.shape[-1] - 1) * both_parts(g, x)[1] / both_parts(g, x)[2]
        ),
        "mean that is taken away": lambda g, x: (
            norm_gradient(g, x) - (g.shape[-1] - 1) * both_parts(g, x)[0] / both_parts(g, x)[2]
        ),
        "means are those of all words": lambda g, x: norm_gradient_in_steps(g, x, axis=None),
        "ε stands beside": lambda g, x: norm_gradient_in_steps(g, x, inside=0, outside=1e-5),
        "there is no ε": lambda g, x: norm_gradient_in_steps(g, x, inside=0),
        "divided by d − 1": lambda g, x: norm_gradient_in_steps(g, x, over=x.shape[-1] - 1),
        "the sign of a part": lambda g, x: 2 * g / both_parts(g, x)[2] - norm_gradient(g, x),
        "wrong for this input": lambda g, x: 2 * norm_gradient(g, x),
    },
}

"""Answers to the exercises on the Transformer block."""

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


def both_sublayers(step):
    return lambda x, norm, look, work: step(step(x, norm, look), norm, work)


def both_parts(grad, x):
    centred = x - x.mean(axis=-1, keepdims=True)
    root = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    along = centred / root * (grad * centred / root).mean(axis=-1, keepdims=True)
    return grad.mean(axis=-1, keepdims=True), along, root


def norm_gradient(grad, x):
    mean, along, root = both_parts(grad, x)
    return (grad - mean - along) / root


def norm_gradient_in_steps(grad, x, *, axis=-1, **options):
    normalised = normed(x, 1, 0, **options)
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
        both_sublayers(lambda x, norm, sublayer: sublayer(norm(x)) + x),
        both_sublayers(lambda x, norm, sublayer: x.clone().add_(sublayer(norm(x)))),
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
        "you divide by d − 1; layer norm divides the sum of squares by d": lambda x, a, b: normed(
            x, a, b, over=x.shape[-1] - 1
        ),
        "you add ε outside the root; it belongs inside": lambda x, a, b: normed(
            x, a, b, inside=0, outside=1e-5
        ),
        "two mistakes: you divide by d − 1, and you add ε outside the root": lambda x, a, b: normed(
            x, a, b, over=x.shape[-1] - 1, inside=0, outside=1e-5
        ),
        "your ε is not 1e-5": lambda x, a, b: normed(x, a, b, inside=1e-6),
        "one mean and one variance for all words, and no ε": (
            lambda x, a, b: a * (x - x.mean()) / x.std() + b
        ),
        "two mistakes: you divide by d − 1, and there is no ε": lambda x, a, b: normed(
            x, a, b, over=x.shape[-1] - 1, inside=0
        ),
        "you divide correctly": lambda x, a, b: a * x / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + b,
        "you never subtract the mean, not even in the variance": lambda x, a, b: (
            a * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) + b
        ),
        "you scale the shift too": lambda x, a, b: a * (normed(x, 1, 0) + b),
        "NaN": lambda x, a, b: normed(x, a, b, inside=0),
        "you divide by the variance": lambda x, a, b: (
            a * (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) + b
        ),
        "you normalise the columns": lambda x, a, b: normed(x, a, b, axis=0),
        "you use one mean and one variance for all words; each word has its own": lambda x, a, b: normed(
            x, a, b, axis=None
        ),
        "your scale and shift have no effect": lambda x, a, b: normed(x, 1, 0),
        "you scale and shift before you normalise": lambda x, a, b: normed(a * x + b, 1, 0),
        "wrong for this input": lambda x, a, b: normed(x, -a, b),
    },
    "gradient_factor": {
        "without residual connections": 0.05**24,
        "you counted one sublayer per block": 1.05**12,
        "at most one sublayer": 2.2,
        "their product counts": 1.1**12,
        "you subtracted the slope from 1; add it": 0.95**24,
        "you doubled the product": 2 * 1.05**12,
        "yours is 7: what does one sublayer multiply the gradient by, and how many are there?": 7,
        "expected one number, yours is of type str": "much",
    },
    "block": {
        "you add to the normalised words": both_sublayers(lambda x, norm, f: norm(x) + f(norm(x))),
        "yours is post-norm": both_sublayers(lambda x, norm, f: norm(x + f(x))),
        "you add nothing back": both_sublayers(lambda x, norm, f: f(norm(x))),
        "you removed the norms": both_sublayers(lambda x, norm, f: x + f(x)),
        "you normalise after the sublayer": both_sublayers(lambda x, norm, f: x + norm(f(x))),
        "your feed-forward sublayer is still wrong": lambda x, norm, look, work: (
            (y := norm(x + look(norm(x)))) + work(y)
        ),
        "attention is still wrong": lambda x, norm, look, work: (
            (y := norm(x) + look(norm(x))) + work(norm(y))
        ),
        "your feed-forward network gets its words without a norm": lambda x, norm, look, work: (
            (y := x + look(norm(x))) + work(y)
        ),
        "you have one norm too many": lambda x, norm, look, work: norm(pre_norm(x, norm, look, work)),
        "your feed-forward network comes first": lambda x, norm, look, work: pre_norm(x, norm, work, look),
        "read the same words": lambda x, norm, look, work: x + look(norm(x)) + work(norm(x)),
        "wrong for this input": both_sublayers(lambda x, norm, f: x - f(norm(x))),
    },
    "number_of_parameters": {
        "you left out the biases of four projections": 544,
        "yours is short by 32: the biases of the four projections, or the two norms": 568,
        "biases of the feed-forward": 576,
        "you counted half of the norms": 584,
        "biases and norms are missing": 512,
        "one projection": 528,
        "attention alone": 288,
        "feed-forward network alone": 280,
        "decoder layer": 904,
        "yours is 1: count attention, feed-forward network and norms one by one": 1,
    },
    "inverted_dropout": {
        "you do not scale up": lambda x, kept, p: x * kept,
        "you divide by p": lambda x, kept, p: x * kept / p,
        "you multiply by 1 − p": lambda x, kept, p: x * kept * (1 - p),
        "your mask is inverted": lambda x, kept, p: x * ~kept / (1 - p),
        "happened to be kept": lambda x, kept, p: x * kept / kept.mean(),
        "your dropped numbers are unchanged": lambda x, kept, p: np.where(kept, x / (1 - p), x),
        "you return only the kept numbers": lambda x, kept, p: x[kept] / (1 - p),
        "you drop nothing": lambda x, kept, p: x / (1 - p),
        "wrong for this input": lambda x, kept, p: -x * kept / (1 - p),
    },
    "row_std": {
        "that is the variance": 0.0625,
        "your factor is p": math.sqrt(0.05),
        "you multiplied squared weights by p": 0.05,
        "yours is √(p / (1 − p)) alone": 0.5,
        "that is the mean": 1,
        "that is the standard deviation of one weight": 0.125,
        "you left out the division by 1 − p": 0.2,
        "yours is 9: add the variances of four weights, each 0 or 0.25 / 0.8": 9,
    },
    "norm_gradient": {
        "you treat mean and variance as constants": lambda g, x: g / both_parts(g, x)[2],
        "you treat the variance as a constant": lambda g, x: (g - both_parts(g, x)[0]) / both_parts(g, x)[2],
        "you treat the mean as a constant": lambda g, x: (g - both_parts(g, x)[1]) / both_parts(g, x)[2],
        "you do not divide by the root": lambda g, x: norm_gradient(g, x) * both_parts(g, x)[2],
        "you multiply by the root": lambda g, x: norm_gradient(g, x) * both_parts(g, x)[2] ** 2,
        "you sum the part along the normalised word": lambda g, x: (
            norm_gradient(g, x) - (g.shape[-1] - 1) * both_parts(g, x)[1] / both_parts(g, x)[2]
        ),
        "you subtract the sum of the gradient": lambda g, x: (
            norm_gradient(g, x) - (g.shape[-1] - 1) * both_parts(g, x)[0] / both_parts(g, x)[2]
        ),
        "your means are over all words": lambda g, x: norm_gradient_in_steps(g, x, axis=None),
        "you add ε outside the root": lambda g, x: norm_gradient_in_steps(g, x, inside=0, outside=1e-5),
        "yours lacks the ε": lambda g, x: norm_gradient_in_steps(g, x, inside=0),
        "you divide by d − 1; layer norm divides the sum of squares by d": lambda g, x: (
            norm_gradient_in_steps(g, x, over=x.shape[-1] - 1)
        ),
        "your sign of one part is wrong": lambda g, x: 2 * g / both_parts(g, x)[2] - norm_gradient(g, x),
        "wrong for this input": lambda g, x: 2 * norm_gradient(g, x),
    },
}

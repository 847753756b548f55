"""Answers to the exercises on vectors, derivatives and gradient descent."""

import math

import numpy as np
import torch


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


def cosine_in_loops(a, b):
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))


def cosine_in_torch(a, b):
    return torch.cosine_similarity(torch.tensor(a), torch.tensor(b), dim=0)


def unit(x, axis=1):
    return x / np.linalg.norm(x, axis=axis, keepdims=True)


def chained_by_autograd(x):
    variable = torch.tensor(float(x), dtype=torch.float64, requires_grad=True)
    ((2 * variable - 1) ** 3).backward()
    return variable.grad


def descend(w, x, y, rate):
    return w - rate * 2 * (w @ x - y) * x


def descend_in_loops(w, x, y, rate):
    error = sum(a * b for a, b in zip(w, x, strict=True)) - y
    return [a - rate * 2 * error * b for a, b in zip(w, x, strict=True)]


def descend_by_autograd(w, x, y, rate):
    weights = torch.tensor(w, requires_grad=True)
    ((weights @ torch.tensor(x) - y) ** 2).backward()
    return (weights - rate * weights.grad).detach()


RIGHT = {
    "cosine_of": [cosine, cosine_in_loops, cosine_in_torch],
    "all_cosines": [
        lambda x: unit(x) @ unit(x).T,
        lambda x: [[cosine(a, b) for b in x] for a in x],
        lambda x: torch.cosine_similarity(torch.tensor(x)[:, None], torch.tensor(x)[None], dim=-1),
    ],
    "slope": [
        lambda x, h: ((x + h) ** 3 - (x - h) ** 3) / (2 * h),
        lambda x, h: 3 * x**2 + h**2,
    ],
    "derivative": [lambda x: 6 * (2 * x - 1) ** 2, lambda x: 24 * x**2 - 24 * x + 6, chained_by_autograd],
    "descend": [descend, descend_in_loops, descend_by_autograd],
    "variance_of_mean": [
        lambda variance, count: variance / count,
        lambda variance, count: count * variance / count**2,
    ],
}

WRONG = {
    "cosine_of": {
        "you return the dot product": lambda a, b: a @ b,
        "squared lengths": lambda a, b: a @ b / ((a @ a) * (b @ b)),
        "one length only": lambda a, b: a @ b / (a @ a) ** 0.5,
        "second vector only": lambda a, b: a @ b / (b @ b) ** 0.5,
        "number of components": lambda a, b: (a * b).mean(),
        "do not add up": lambda a, b: a * b / ((a @ a) * (b @ b)) ** 0.5,
        "you add the lengths": lambda a, b: a @ b / ((a @ a) ** 0.5 + (b @ b) ** 0.5),
        "yours is the angle": lambda a, b: math.acos(cosine(a, b)),
        "wrong for this input": lambda a, b: -cosine(a, b),
    },
    "all_cosines": {
        "yours are dot products": lambda x: x @ x.T,
        "your columns have length 1": lambda x: unit(x, 0) @ unit(x, 0).T,
        "you compare columns": lambda x: unit(x, 0).T @ unit(x, 0),
        "first vectors only": lambda x: unit(x) @ x.T,
        "second vectors only": lambda x: x @ unit(x).T,
        "the same length": lambda x: x @ x.T / (x**2).sum(),
        "wrong for this input": lambda x: -unit(x) @ unit(x).T,
    },
    "slope": {
        "to the right only": lambda x, h: ((x + h) ** 3 - x**3) / h,
        "to the left only": lambda x, h: (x**3 - (x - h) ** 3) / h,
        "2h apart": lambda x, h: ((x + h) ** 3 - (x - h) ** 3) / h,
        "you do not divide": lambda x, h: (x + h) ** 3 - (x - h) ** 3,
        "your sign is wrong": lambda x, h: ((x - h) ** 3 - (x + h) ** 3) / (2 * h),
        "put parentheses": lambda x, h: ((x + h) ** 3 - (x - h) ** 3) / 2 * h,
        "exact derivative": lambda x, h: 3 * x**2,
        "wrong for this input": lambda x, h: ((x + h) ** 2 - (x - h) ** 2) / (2 * h),
    },
    "derivative": {
        "you forgot the inner derivative": lambda x: 3 * (2 * x - 1) ** 2,
        "it belongs at u": lambda x: 6 * x**2,
        "the function itself": lambda x: (2 * x - 1) ** 3,
        "not u²": lambda x: 2 * (2 * x - 1) ** 2,
        "not 3u": lambda x: 6 * (2 * x - 1),
        "you add the two factors": lambda x: 3 * (2 * x - 1) ** 2 + 2,
        "wrong for this input": lambda x: 12 * (2 * x - 1) ** 2,
    },
    "descend": {
        "you step along the gradient": lambda w, x, y, rate: w + rate * 2 * (w @ x - y) * x,
        "the factor 2": lambda w, x, y, rate: w - rate * (w @ x - y) * x,
        "you forgot the inner derivative": lambda w, x, y, rate: w - rate * 2 * (w @ x - y),
        "you return the gradient": lambda w, x, y, rate: 2 * (w @ x - y) * x,
        "you return the step": lambda w, x, y, rate: rate * 2 * (w @ x - y) * x,
        "you forgot the learning rate": lambda w, x, y, rate: w - 2 * (w @ x - y) * x,
        "you squared the error": lambda w, x, y, rate: w - rate * 2 * (w @ x - y) ** 2 * x,
        "wrong for this input": lambda w, x, y, rate: w - rate * 2 * (w @ x + y) * x,
    },
    "variance_of_mean": {
        "variance of the sum": lambda variance, count: variance * count,
        "variance of one number": lambda variance, count: variance,
        "you divide by count²": lambda variance, count: variance / count**2,
        "yours is the standard deviation": lambda variance, count: (variance / count) ** 0.5,
        "root of `count`": lambda variance, count: variance / count**0.5,
        "wrong for this input": lambda variance, count: variance / (count + 1),
    },
}

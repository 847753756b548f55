"""Checks for the exercises on vectors, derivatives and gradient descent."""

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, sample


@check(see="The dot product")
def check_cosine_of(attempt: Answer, rng: Generator) -> None:
    """Check ``cosine_of(a, b)``: the cosine of the angle between two vectors."""

    def lengths(a: Array, b: Array) -> float:
        return float(np.linalg.norm(a) * np.linalg.norm(b))

    slips: dict[str, Answer] = {
        "you return the dot product; divide it by both lengths": lambda a, b: a @ b,
        "you divide by the squared lengths; take their roots": lambda a, b: a @ b / lengths(a, b) ** 2,
        "you divide by one length only; both vectors have one": lambda a, b: a @ b / np.linalg.norm(a),
        "you divide by the length of the second vector only; both vectors have one": (
            lambda a, b: a @ b / np.linalg.norm(b)
        ),
        "you divide by the number of components; divide by the lengths of the vectors": (
            lambda a, b: a @ b / len(a)
        ),
        "you multiply component by component but do not add up": lambda a, b: a * b / lengths(a, b),
        "you add the lengths; multiply them": (lambda a, b: a @ b / (np.linalg.norm(a) + np.linalg.norm(b))),
        "yours is the angle; the exercise asks for its cosine": (
            lambda a, b: np.arccos(np.clip(a @ b / lengths(a, b), -1, 1))
        ),
    }
    cases = [(sample(rng, width), sample(rng, width)) for width in (2, 3, 5)]
    compare(attempt, lambda a, b: a @ b / lengths(a, b), slips, cases)


@check(see="The dot product")
def check_all_cosines(attempt: Answer, rng: Generator) -> None:
    """Check ``all_cosines(X)``: the cosines of all pairs of rows."""

    def unit(x: Array, axis: int = 1) -> Array:
        return x / np.linalg.norm(x, axis=axis, keepdims=True)

    slips: dict[str, Answer] = {
        "yours are dot products; divide each row by its length first": lambda x: x @ x.T,
        "your columns have length 1; each row, one vector, should": lambda x: (
            unit(x, axis=0) @ unit(x, axis=0).T
        ),
        "you compare columns; the vectors are the rows": lambda x: unit(x, axis=0).T @ unit(x, axis=0),
        "you divide by the lengths of the first vectors only": lambda x: unit(x) @ x.T,
        "you divide by the lengths of the second vectors only": lambda x: x @ unit(x).T,
        "you divide all vectors by the same length; each has its own": (
            lambda x: x @ x.T / np.linalg.norm(x) ** 2
        ),
    }
    cases = [(sample(rng, rows, width),) for rows, width in ((2, 2), (2, 3), (4, 3))]
    compare(attempt, lambda x: unit(x) @ unit(x).T, slips, cases)


@check(see="The derivative: how a function changes")
def check_slope(attempt: Answer, rng: Generator) -> None:
    """Check ``slope(x, h)``: a finite difference of x³ with a step to both sides."""
    slips: dict[str, Answer] = {
        "you step to the right only; step to both sides of x": lambda x, h: ((x + h) ** 3 - x**3) / h,
        "you step to the left only; step to both sides of x": lambda x, h: (x**3 - (x - h) ** 3) / h,
        "you divide by h, but the two points are 2h apart": lambda x, h: ((x + h) ** 3 - (x - h) ** 3) / h,
        "you do not divide by the distance between the two points": (
            lambda x, h: (x + h) ** 3 - (x - h) ** 3
        ),
        "your sign is wrong: subtract the value on the left from the value on the right": (
            lambda x, h: ((x - h) ** 3 - (x + h) ** 3) / (2 * h)
        ),
        "`/ 2 * h` multiplies by h; put parentheses around 2 * h": (
            lambda x, h: ((x + h) ** 3 - (x - h) ** 3) / 2 * h
        ),
        "yours is the exact derivative; estimate it from two values of x³": lambda x, h: 3 * x**2,
    }
    cases = [(1.0, 0.5), (2.0, 0.1), (_number(rng), 0.25)]
    compare(attempt, lambda x, h: ((x + h) ** 3 - (x - h) ** 3) / (2 * h), slips, cases)


@check(see="The chain rule: functions of functions")
def check_derivative(attempt: Answer, rng: Generator) -> None:
    """Check ``derivative(x)``: the derivative of (2x − 1)³."""
    slips: dict[str, Answer] = {
        "you forgot the inner derivative: u = 2x − 1 changes twice as fast as x": lambda x: (
            3 * (2 * x - 1) ** 2
        ),
        "you evaluate the outer derivative at x; it belongs at u = 2x − 1": lambda x: 6 * x**2,
        "yours is the function itself; the exercise asks for its derivative": lambda x: (2 * x - 1) ** 3,
        "the derivative of u³ is 3u², not u²": lambda x: 2 * (2 * x - 1) ** 2,
        "the derivative of u³ is 3u², not 3u": lambda x: 6 * (2 * x - 1),
        "you add the two factors; the chain rule multiplies them": lambda x: 3 * (2 * x - 1) ** 2 + 2,
    }
    cases = [(1.0,), (0.0,), (_number(rng),)]
    compare(attempt, lambda x: 6 * (2 * x - 1) ** 2, slips, cases)


@check(see="The gradient: many inputs")
def check_descend(attempt: Answer, rng: Generator) -> None:
    """Check ``descend(w, x, y, rate)``: one step of gradient descent on a squared error."""
    slips: dict[str, Answer] = {
        "you step along the gradient, so the loss grows; step against it": (
            lambda w, x, y, rate: w + rate * 2 * (w @ x - y) * x
        ),
        "you forgot the factor 2, which comes from the square": lambda w, x, y, rate: (
            w - rate * (w @ x - y) * x
        ),
        "you forgot the inner derivative: the prediction w · x changes with w as fast as x is large": (
            lambda w, x, y, rate: w - rate * 2 * (w @ x - y)
        ),
        "you return the gradient; return the weights after the step": lambda w, x, y, rate: (
            2 * (w @ x - y) * x
        ),
        "you return the step; subtract it from the weights": lambda w, x, y, rate: rate * 2 * (w @ x - y) * x,
        "you forgot the learning rate": lambda w, x, y, rate: w - 2 * (w @ x - y) * x,
        "you squared the error; its derivative is twice the error itself": (
            lambda w, x, y, rate: w - rate * 2 * (w @ x - y) ** 2 * x
        ),
    }
    cases = [
        (sample(rng, width), sample(rng, width), _number(rng), rate)
        for width, rate in ((1, 0.5), (2, 0.1), (4, 0.25))
    ]
    compare(attempt, lambda w, x, y, rate: w - rate * 2 * (w @ x - y) * x, slips, cases)


@check(see="Mean and variance")
def check_variance_of_mean(attempt: Answer, rng: Generator) -> None:
    """Check ``variance_of_mean(variance, count)``: the variance of the mean of independent numbers."""
    slips: dict[str, Answer] = {
        "yours is the variance of the sum; the mean is the sum divided by `count`": (
            lambda variance, count: variance * count
        ),
        "yours is the variance of one number; a mean varies less": lambda variance, count: variance,
        "you divide by count²; the sum has `count` times the variance of one number": (
            lambda variance, count: variance / count**2
        ),
        "yours is the standard deviation; the exercise asks for its square": (
            lambda variance, count: np.sqrt(variance / count)
        ),
        "you divide by the root of `count`, as a standard deviation would be": (
            lambda variance, count: variance / np.sqrt(count)
        ),
    }
    cases = [(4.0, 2), (1.0, 4), (abs(_number(rng)), 9)]
    compare(attempt, lambda variance, count: variance / count, slips, cases)


def _number(rng: Generator) -> float:
    return float(sample(rng, 1)[0])

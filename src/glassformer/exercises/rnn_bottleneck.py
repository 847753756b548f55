"""Checks for the exercises on recurrence and the one vector that must carry a sentence."""

import math
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, read_number, sample
from glassformer.checking.slips import Slip
from glassformer.reference.recurrence import additive_attention, elman_rnn, lstm
from glassformer.reference.softmax import softmax


@check(see="A recurrent network by hand")
def check_elman_step(attempt: Answer, rng: Generator) -> None:
    """Judge ``elman_step(x, state, input_weight, hidden_weight, bias)``, which returns the next state."""

    def right(x: Array, state: Array, into: Array, hidden: Array, bias: Array) -> Array:
        weights = {"input_weight": into, "hidden_weight": hidden, "bias": bias}
        return elman_rnn(x[None], **weights, initial_state=state)[0]

    slips: dict[str, Answer] = {
        "not squashed: the sum still has to go through tanh": (
            lambda x, state, into, hidden, bias: x @ into + state @ hidden + bias
        ),
        "squashed to numbers between 0 and 1: that is a sigmoid, an Elman step uses tanh": (
            lambda x, state, into, hidden, bias: _sigmoid(x @ into + state @ hidden + bias)
        ),
        "the old state plays no part: nothing that was read before can be known": (
            lambda x, state, into, hidden, bias: np.tanh(x @ into + bias)
        ),
        "the bias is missing": lambda x, state, into, hidden, bias: np.tanh(x @ into + state @ hidden),
        "the recurrent matrix is turned: the state stands to its left, state @ hidden_weight": (
            lambda x, state, into, hidden, bias: np.tanh(x @ into + hidden @ state + bias)
        ),
        "the bias is added after the squashing: it belongs inside the tanh": (
            lambda x, state, into, hidden, bias: np.tanh(x @ into + state @ hidden) + bias
        ),
        "the old state is added after the squashing: it belongs inside the tanh": (
            lambda x, state, into, hidden, bias: np.tanh(x @ into + bias) + state @ hidden
        ),
    }
    compare(attempt, right, slips, [_step_inputs(rng, *sizes) for sizes in ((1, 1), (1, 2), (2, 2), (3, 5))])


@check(see="What is left after many words")
def check_steps_until_one_percent(attempt: Any) -> None:
    """Judge the number of steps after which a gradient that keeps 0.9 a step is below one hundredth."""
    kept, left = 0.9, 0.01
    steps = read_number(attempt)
    exact = math.log(left) / math.log(kept)
    if steps == math.ceil(exact):
        return
    if steps < 0:
        raise Slip("negative: a logarithm below one is negative, the quotient of two of them is not")
    if steps in (9, 9.9, 10):
        raise Slip("each step takes a tenth of what is left, not a tenth of what there was at first")
    if steps == math.floor(exact):
        raise Slip(f"one too few: after {steps:.0f} steps {kept**steps:.4f} is left, still above {left}")
    if abs(steps - exact) < 0.1:
        raise Slip("the right place, but steps come whole: after which whole step is it below?")
    if steps == math.ceil(math.log(0.1) / math.log(kept)):
        raise Slip("that is where a tenth is left: one hundredth is wanted")
    side = "still more" if kept**steps > left else "long since less"
    raise Slip(f"after {steps:g} steps {kept**steps:.3g} is left, {side} than {left}")


@check(see="The number that decides")
def check_rescaled(attempt: Answer, rng: Generator) -> None:
    """Judge ``rescaled(matrix, radius)``, which returns the matrix scaled to that spectral radius."""

    def right(matrix: Array, radius: float) -> Array:
        return matrix * radius / np.abs(np.linalg.eigvals(matrix)).max()

    slips: dict[str, Answer] = {
        "scaled by the largest singular value, which is how much a matrix can stretch once; "
        "in the long run the eigenvalues count": (
            lambda matrix, radius: matrix * radius / np.linalg.norm(matrix, 2)
        ),
        "scaled by the largest real part: eigenvalues are complex, what counts is their distance from 0": (
            lambda matrix, radius: matrix * radius / np.linalg.eigvals(matrix).real.max()
        ),
        "multiplied by the radius only: the matrix has a spectral radius of its own, divide by it": (
            lambda matrix, radius: matrix * radius
        ),
        "scaled by the root of the sum of squares (the Frobenius norm), not by the spectral radius": (
            lambda matrix, radius: matrix * radius / np.linalg.norm(matrix)
        ),
        "scaled to a spectral radius of 1: the wanted radius plays no part": (
            lambda matrix, radius: matrix / np.abs(np.linalg.eigvals(matrix)).max()
        ),
    }
    turn = np.array([[0.5, -2.0], [0.5, 0.5]])
    matrix = sample(rng, 5, 5)
    compare(attempt, right, slips, [(np.array([[-0.5]]), 0.75), (turn, 1.25), (matrix, 0.9)])


@check(see="A recurrent network by hand")
def check_fixed_rnn(attempt: Answer, rng: Generator) -> None:
    """Judge the mended ``rnn(x, input_weight, hidden_weight, bias)``, which returns all states."""

    def right(x: Array, input_weight: Array, hidden_weight: Array, bias: Array) -> Array:
        return elman_rnn(x, input_weight=input_weight, hidden_weight=hidden_weight, bias=bias)

    def first_unread(x: Array, *weights: Array) -> Array:
        later = right(x[1:], *weights) if len(x) > 1 else np.zeros((0, len(weights[-1])))
        return np.concatenate([np.zeros((1, len(weights[-1]))), later])

    slips: dict[str, Answer] = {
        "the first word is still unread: its state is all zeros": first_unread,
        "the last word is unread: as many states as words are wanted": (
            lambda x, *weights: right(x, *weights)[:-1]
        ),
        "the last state is still zeros: the loop stops one word too early": (
            lambda x, *weights: np.concatenate([right(x, *weights)[:-1], np.zeros((1, len(weights[-1])))])
        ),
        "no state is carried over: each word is read as if it were the first": (
            lambda x, *weights: np.stack([right(word[None], *weights)[0] for word in x])
        ),
        "only the last state is returned: one state for each word is wanted": (
            lambda x, *weights: right(x, *weights)[-1]
        ),
        "read from the end: the first word comes first": (lambda x, *weights: right(x[::-1], *weights)[::-1]),
    }
    cases = []
    for length, d_in, d_hidden in ((1, 1, 1), (2, 1, 1), (5, 3, 2)):
        _, _, *weights = _step_inputs(rng, d_in, d_hidden)
        cases.append((sample(rng, length, d_in), *weights))
    compare(attempt, right, slips, cases)


@check(see="A cell that keeps: the LSTM")
def check_lstm_step(attempt: Answer, rng: Generator) -> None:
    """Judge ``lstm_step(gates, cell)``, which returns the next state and the next cell.

    ``gates`` are the four sums before squashing: input gate, forget gate, candidate, output gate.
    """

    def right(gates: Array, cell: Array) -> tuple[Array, Array]:
        d_hidden = len(cell)
        states, cells = lstm(
            gates[None],
            input_weight=np.eye(4 * d_hidden),
            hidden_weight=np.zeros((d_hidden, 4 * d_hidden)),
            bias=np.zeros(4 * d_hidden),
            initial_state=(np.zeros(d_hidden), cell),
        )
        return states[0], cells[0]

    def step(
        gates: Array, cell: Array, order: str = "ifgo", squash: Answer = np.tanh, show: Answer = np.tanh
    ) -> tuple[Array, Array]:
        named = dict(zip(order, np.split(gates, 4), strict=True))
        cell = _sigmoid(named["f"]) * cell + _sigmoid(named["i"]) * squash(named["g"])
        return _sigmoid(named["o"]) * show(cell), cell

    slips: dict[str, Answer] = {
        "the other way round: the state comes first, then the cell": (
            lambda gates, cell: right(gates, cell)[::-1]
        ),
        "the input gate and the forget gate have changed places": (
            lambda gates, cell: step(gates, cell, order="figo")
        ),
        "the candidate and the output gate have changed places: the candidate comes third": (
            lambda gates, cell: step(gates, cell, order="ifog")
        ),
        "the candidate goes through a sigmoid: it is what may be written, through tanh, not a gate": (
            lambda gates, cell: step(gates, cell, squash=_sigmoid)
        ),
        "the candidate is not squashed: it goes through tanh": (
            lambda gates, cell: step(gates, cell, squash=lambda x: x)
        ),
        "the state shows the cell itself: the cell goes through tanh first": (
            lambda gates, cell: step(gates, cell, show=lambda x: x)
        ),
        "the sums are dealt out by turns: those of a gate stand together, one gate after the other": (
            lambda gates, cell: right(gates.reshape(-1, 4).T.ravel(), cell)
        ),
        "the state shows the old cell: the new one is made first, then shown": (
            lambda gates, cell: (_sigmoid(np.split(gates, 4)[3]) * np.tanh(cell), right(gates, cell)[1])
        ),
    }
    cases = [(sample(rng, 4 * d_hidden), 2 * sample(rng, d_hidden)) for d_hidden in (1, 3)]
    compare(attempt, right, slips, cases)


@check(see="The remedy, in one paragraph")
def check_additive_weights(attempt: Answer, rng: Generator) -> None:
    """Judge ``additive_weights(query, key, query_weight, key_weight, score_weight)``."""

    def right(query: Array, key: Array, *weights: Array) -> Array:
        names = ("query_weight", "key_weight", "score_weight")
        return additive_attention(query, key, key, **dict(zip(names, weights, strict=True)))[1]

    def scores(query: Array, key: Array, *weights: Array, squash: Answer = np.tanh) -> Array:
        query_weight, key_weight, score_weight = weights
        return squash((query @ query_weight)[:, None] + (key @ key_weight)[None]) @ score_weight

    slips: dict[str, Answer] = {
        "these are the scores: a softmax turns them into weights": scores,
        "each column sums to one: the weights of one query, a row, should": (
            lambda *inputs: softmax(scores(*inputs), axis=0)
        ),
        "all pairs together sum to one: each query has weights of its own": (
            lambda *inputs: softmax(scores(*inputs).reshape(-1)).reshape(len(inputs[0]), len(inputs[1]))
        ),
        "the sums of query and key are not squashed: tanh comes before the product with score_weight": (
            lambda *inputs: softmax(scores(*inputs, squash=lambda pair: pair))
        ),
        "query and key are squashed apart: they are added first, and tanh squashes their sum": (
            lambda query, key, query_weight, key_weight, score_weight: softmax(
                np.tanh(query @ query_weight)[:, None] @ score_weight
                + np.tanh(key @ key_weight)[None] @ score_weight
            )
        ),
        "turned: a row for each query, a column for each key": lambda *inputs: right(*inputs).T,
    }
    cases = [
        _attention_inputs(rng, *sizes)
        for sizes in ((1, 1, 1, 1, 1), (1, 2, 2, 2, 1), (2, 2, 2, 2, 2), (3, 5, 2, 4, 7))
    ]
    compare(attempt, right, slips, cases)


@check(see="And the work?")
def check_multiplications(attempt: Answer) -> None:
    """Judge ``multiplications(length, width)``: how many a recurrent and an attention layer need."""
    slips: dict[str, Answer] = {
        "the other way round: recurrence first, then attention": (
            lambda length, width: (2 * length**2 * width, 2 * length * width**2)
        ),
        "recurrence is counted for one word: there are `length` of them": (
            lambda length, width: (2 * width**2, 2 * length**2 * width)
        ),
        "one product of each is missing: an Elman step multiplies the word and the state by a matrix, "
        "attention scores the pairs and then mixes": (
            lambda length, width: (length * width**2, length**2 * width)
        ),
        "an Elman step counts one matrix only: the word meets one, and the state another": (
            lambda length, width: (length * width**2, 2 * length**2 * width)
        ),
        "attention counts projections: ours has none, it scores the words themselves and mixes them": (
            lambda length, width: (2 * length * width**2, 3 * length * width**2 + 2 * length**2 * width)
        ),
        "attention counts the scores only: mixing takes as many again": (
            lambda length, width: (2 * length * width**2, length**2 * width)
        ),
        "additions are counted too: each number is twice what is asked": (
            lambda length, width: (4 * length * width**2, 4 * length**2 * width)
        ),
        "attention counts pairs: each pair costs `width` multiplications": (
            lambda length, width: (2 * length * width**2, 2 * length**2)
        ),
    }
    compare(
        attempt,
        lambda length, width: (2 * length * width**2, 2 * length**2 * width),
        slips,
        [(1, 1), (2, 1), (1, 2), (7, 5)],
    )


def _step_inputs(rng: Generator, d_in: int, d_hidden: int) -> tuple[Array, ...]:
    shapes = ((d_in,), (d_hidden,), (d_in, d_hidden), (d_hidden, d_hidden), (d_hidden,))
    return tuple(sample(rng, *shape) for shape in shapes)


def _attention_inputs(
    rng: Generator, queries: int, keys: int, d_query: int, d_key: int, d_hidden: int
) -> tuple[Array, ...]:
    shapes = ((queries, d_query), (keys, d_key), (d_query, d_hidden), (d_key, d_hidden), (d_hidden,))
    return tuple(sample(rng, *shape) for shape in shapes)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))

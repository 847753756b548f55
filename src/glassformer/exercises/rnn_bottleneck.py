"""Checks for the exercises on recurrent networks and additive attention."""

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
    """Check ``elman_step(x, state, input_weight, hidden_weight, bias)``: the next state."""

    def right(x: Array, state: Array, into: Array, hidden: Array, bias: Array) -> Array:
        weights = {"input_weight": into, "hidden_weight": hidden, "bias": bias}
        return elman_rnn(x[None], **weights, initial_state=state)[0]

    slips: dict[str, Answer] = {
        "your sum skips tanh": lambda x, state, into, hidden, bias: x @ into + state @ hidden + bias,
        "your state lies between 0 and 1, as after a sigmoid; an Elman step uses tanh": (
            lambda x, state, into, hidden, bias: _sigmoid(x @ into + state @ hidden + bias)
        ),
        "your step ignores the old state, so it remembers nothing that was read earlier": (
            lambda x, state, into, hidden, bias: np.tanh(x @ into + bias)
        ),
        "your sum lacks the bias": lambda x, state, into, hidden, bias: np.tanh(x @ into + state @ hidden),
        "your recurrent matrix is transposed; multiply state @ hidden_weight": (
            lambda x, state, into, hidden, bias: np.tanh(x @ into + hidden @ state + bias)
        ),
        "you add the bias after tanh; add it inside": (
            lambda x, state, into, hidden, bias: np.tanh(x @ into + state @ hidden) + bias
        ),
        "you add the old state after tanh; add it inside": (
            lambda x, state, into, hidden, bias: np.tanh(x @ into + bias) + state @ hidden
        ),
    }
    compare(attempt, right, slips, [_step_inputs(rng, *sizes) for sizes in ((1, 1), (1, 2), (2, 2), (3, 5))])


@check(see="What is left after many words")
def check_steps_until_one_percent(attempt: Any) -> None:
    """Check the number of steps that leave less than one hundredth of a gradient, at 0.9 per step."""
    kept, left = 0.9, 0.01
    steps = read_number(attempt)
    exact = math.log(left) / math.log(kept)
    if steps == math.ceil(exact):
        return
    if steps < 0:
        raise Slip(
            "your number is negative; expected the quotient of two negative logarithms, which is positive"
        )
    if steps in (9, 9.9, 10):
        raise Slip("each step removes a tenth of what is left, not a tenth of the initial length")
    if steps == math.floor(exact):
        raise Slip(
            f"one step too few: after {steps:.0f} steps, {kept**steps:.4f} is left, still above {left}"
        )
    if abs(steps - exact) < 0.1:
        raise Slip("close, but expected a whole number: after which step is less than one hundredth left?")
    if steps == math.ceil(math.log(0.1) / math.log(kept)):
        raise Slip("after that many steps a tenth is left; the exercise asks for one hundredth")
    side = "still more" if kept**steps > left else "already much less"
    raise Slip(f"after {steps:g} steps, {kept**steps:.3g} is left, {side} than {left}")


@check(see="The spectral radius")
def check_rescaled(attempt: Answer, rng: Generator) -> None:
    """Check ``rescaled(matrix, radius)``: the matrix scaled to this spectral radius."""

    def right(matrix: Array, radius: float) -> Array:
        return matrix * radius / np.abs(np.linalg.eigvals(matrix)).max()

    slips: dict[str, Answer] = {
        "you divide by the largest singular value, which bounds one step; divide by the spectral radius": (
            lambda matrix, radius: matrix * radius / np.linalg.norm(matrix, 2)
        ),
        "you divide by the largest real part; eigenvalues can be complex, so use their absolute values": (
            lambda matrix, radius: matrix * radius / np.linalg.eigvals(matrix).real.max()
        ),
        "you multiply by the radius, but do not divide by the spectral radius of the given matrix": (
            lambda matrix, radius: matrix * radius
        ),
        "you divide by the Frobenius norm; divide by the spectral radius": (
            lambda matrix, radius: matrix * radius / np.linalg.norm(matrix)
        ),
        "your matrix always has spectral radius 1; multiply by the requested radius": (
            lambda matrix, radius: matrix / np.abs(np.linalg.eigvals(matrix)).max()
        ),
    }
    turn = np.array([[0.5, -2.0], [0.5, 0.5]])
    matrix = sample(rng, 5, 5)
    compare(attempt, right, slips, [(np.array([[-0.5]]), 0.75), (turn, 1.25), (matrix, 0.9)])


@check(see="A recurrent network by hand")
def check_fixed_rnn(attempt: Answer, rng: Generator) -> None:
    """Check ``fixed_rnn(x, input_weight, hidden_weight, bias)``: all states."""

    def right(x: Array, input_weight: Array, hidden_weight: Array, bias: Array) -> Array:
        return elman_rnn(x, input_weight=input_weight, hidden_weight=hidden_weight, bias=bias)

    def first_word_unread(x: Array, *weights: Array) -> Array:
        later = right(x[1:], *weights) if len(x) > 1 else np.zeros((0, len(weights[-1])))
        return np.concatenate([np.zeros((1, len(weights[-1]))), later])

    slips: dict[str, Answer] = {
        "your first state is still all zeros: your loop does not read the first word": first_word_unread,
        "you skip the last word; return a state for each word": lambda x, *weights: right(x, *weights)[:-1],
        "your last state is all zeros: your loop stops one word too early": (
            lambda x, *weights: np.concatenate([right(x, *weights)[:-1], np.zeros((1, len(weights[-1])))])
        ),
        "your loop does not carry the state over: each word is read as if it were the first": (
            lambda x, *weights: np.stack([right(word[None], *weights)[0] for word in x])
        ),
        "you return only the last state; return one state for each word": lambda x, *weights: right(
            x, *weights
        )[-1],
        "you read the sentence backwards": lambda x, *weights: right(x[::-1], *weights)[::-1],
    }
    cases = []
    for length, d_in, d_hidden in ((1, 1, 1), (2, 1, 1), (5, 3, 2)):
        _, _, *weights = _step_inputs(rng, d_in, d_hidden)
        cases.append((sample(rng, length, d_in), *weights))
    compare(attempt, right, slips, cases)


@check(see="The LSTM: a cell that can hold on to a signal")
def check_lstm_step(attempt: Answer, rng: Generator) -> None:
    """Check ``lstm_step(gates, cell)``: the next state and the next cell.

    ``gates`` are the four pre-activations: input gate, forget gate, candidate, output gate.
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
        gates: Array, cell: Array, order: str = "ifgo", activation: Answer = np.tanh, show: Answer = np.tanh
    ) -> tuple[Array, Array]:
        named = dict(zip(order, np.split(gates, 4), strict=True))
        cell = _sigmoid(named["f"]) * cell + _sigmoid(named["i"]) * activation(named["g"])
        return _sigmoid(named["o"]) * show(cell), cell

    slips: dict[str, Answer] = {
        "your results are swapped: state first, then cell": lambda gates, cell: right(gates, cell)[::-1],
        "your input gate and forget gate are swapped": (lambda gates, cell: step(gates, cell, order="figo")),
        "your candidate and output gate are swapped: the candidate comes third": (
            lambda gates, cell: step(gates, cell, order="ifog")
        ),
        "your candidate goes through a sigmoid; it is not a gate, so use tanh": (
            lambda gates, cell: step(gates, cell, activation=_sigmoid)
        ),
        "your candidate skips tanh": lambda gates, cell: step(gates, cell, activation=lambda x: x),
        "your state uses the cell itself; the cell goes through tanh first": (
            lambda gates, cell: step(gates, cell, show=lambda x: x)
        ),
        "you assign the sums to the gates in turn; each gate takes a contiguous quarter": (
            lambda gates, cell: right(gates.reshape(-1, 4).T.ravel(), cell)
        ),
        "your state uses the old cell; compute the new cell first": (
            lambda gates, cell: (_sigmoid(np.split(gates, 4)[3]) * np.tanh(cell), right(gates, cell)[1])
        ),
    }
    cases = [(sample(rng, 4 * d_hidden), 2 * sample(rng, d_hidden)) for d_hidden in (1, 3)]
    compare(attempt, right, slips, cases)


@check(see="A direct look back")
def check_additive_weights(attempt: Answer, rng: Generator) -> None:
    """Check ``additive_weights(query, key, query_weight, key_weight, score_weight)``."""

    def right(query: Array, key: Array, *weights: Array) -> Array:
        names = ("query_weight", "key_weight", "score_weight")
        return additive_attention(query, key, key, **dict(zip(names, weights, strict=True)))[1]

    def scores(query: Array, key: Array, *weights: Array, activation: Answer = np.tanh) -> Array:
        query_weight, key_weight, score_weight = weights
        return activation((query @ query_weight)[:, None] + (key @ key_weight)[None]) @ score_weight

    slips: dict[str, Answer] = {
        "you return the scores; a softmax turns them into weights": scores,
        "your columns sum to one; expected rows that sum to one, a row for each query": (
            lambda *inputs: softmax(scores(*inputs), axis=0)
        ),
        "all your weights together sum to one; expected rows that sum to one, a row for each query": (
            lambda *inputs: softmax(scores(*inputs).reshape(-1)).reshape(len(inputs[0]), len(inputs[1]))
        ),
        "your sums of query and key skip tanh; apply it before the product with score_weight": (
            lambda *inputs: softmax(scores(*inputs, activation=lambda pair: pair))
        ),
        "you apply tanh to query and key separately; add them first, then apply tanh to the sum": (
            lambda query, key, query_weight, key_weight, score_weight: softmax(
                np.tanh(query @ query_weight)[:, None] @ score_weight
                + np.tanh(key @ key_weight)[None] @ score_weight
            )
        ),
        "your result is transposed; expected a row for each query": lambda *inputs: right(*inputs).T,
    }
    cases = [
        _attention_inputs(rng, *sizes)
        for sizes in ((1, 1, 1, 1, 1), (1, 2, 2, 2, 1), (2, 2, 2, 2, 2), (3, 5, 2, 4, 7))
    ]
    compare(attempt, right, slips, cases)


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

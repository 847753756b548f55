import math

import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.rnn_bottleneck import (
    check_additive_weights,
    check_elman_step,
    check_lstm_step,
    check_mended_rnn,
    check_multiplications,
    check_rescaled,
    check_steps_until_one_percent,
)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


def elman_step(x, state, input_weight, hidden_weight, bias):
    return np.tanh(x @ input_weight + state @ hidden_weight + bias)


def elman_step_in_loops(x, state, input_weight, hidden_weight, bias):
    total = list(bias)
    for unit in range(len(bias)):
        total[unit] += sum(x[i] * input_weight[i, unit] for i in range(len(x)))
        total[unit] += sum(state[i] * hidden_weight[i, unit] for i in range(len(state)))
    return [math.tanh(number) for number in total]


def elman_step_in_torch(*inputs):
    x, state, input_weight, hidden_weight, bias = map(torch.tensor, inputs)
    return torch.tanh(x @ input_weight + state @ hidden_weight + bias)


def rescaled(matrix, radius):
    return radius * matrix / np.abs(np.linalg.eigvals(matrix)).max()


def lstm_step(gates, cell):
    i, f, g, o = np.split(gates, 4)
    cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(cell), cell


def lstm_step_in_float32(gates, cell):
    return tuple(part.astype(np.float32) for part in lstm_step(gates, cell))


def scores(query, key, query_weight, key_weight, score_weight):
    return np.tanh((query @ query_weight)[:, None] + (key @ key_weight)[None]) @ score_weight


def additive_weights(*inputs):
    return softmax(scores(*inputs))


def additive_weights_in_loops(query, key, query_weight, key_weight, score_weight):
    pairs = [[np.tanh(q @ query_weight + k @ key_weight) @ score_weight for k in key] for q in query]
    return [[math.exp(pair) / sum(map(math.exp, row)) for pair in row] for row in pairs]


def mended_rnn(x, input_weight, hidden_weight, bias):
    state, states = np.zeros(len(bias)), []
    for word in x:
        state = np.tanh(word @ input_weight + state @ hidden_weight + bias)
        states.append(state)
    return np.stack(states)


def mended_rnn_by_wrapping_round(x, input_weight, hidden_weight, bias):
    states = np.zeros((len(x), len(bias)))
    for t in range(len(x)):
        states[t] = np.tanh(x[t] @ input_weight + states[t - 1] @ hidden_weight + bias)
    return states


def truncated_rnn(x, input_weight, hidden_weight, bias):
    states = np.zeros((len(x), len(bias)))
    for t in range(1, len(x)):
        states[t] = np.tanh(x[t] @ input_weight + states[t - 1] @ hidden_weight + bias)
    return states


def multiplications(length, width):
    return 2 * length * width**2, 2 * length**2 * width


@pytest.mark.parametrize(
    ("check", "attempt"),
    [
        (check_elman_step, elman_step),
        (check_elman_step, elman_step_in_loops),
        (check_elman_step, elman_step_in_torch),
        (check_steps_until_one_percent, 44),
        (check_steps_until_one_percent, np.ceil(np.log(0.01) / np.log(0.9))),
        (check_rescaled, rescaled),
        (check_rescaled, lambda matrix, radius: rescaled(matrix.astype(np.float32), radius)),
        (check_lstm_step, lstm_step),
        (check_lstm_step, lstm_step_in_float32),
        (check_additive_weights, additive_weights),
        (check_additive_weights, additive_weights_in_loops),
        (check_mended_rnn, mended_rnn),
        (check_mended_rnn, mended_rnn_by_wrapping_round),
        (check_multiplications, multiplications),
        (check_multiplications, lambda length, width: np.array([2.0 * width, 2.0 * length]) * length * width),
    ],
)
def test_a_right_answer_passes_however_it_is_written(check, attempt, capsys):
    check(attempt)
    assert "right" in capsys.readouterr().out


@pytest.mark.parametrize(
    "check",
    [
        check_elman_step,
        check_steps_until_one_percent,
        check_rescaled,
        check_lstm_step,
        check_additive_weights,
        check_mended_rnn,
        check_multiplications,
    ],
)
def test_an_attempt_not_begun_is_greeted(check, capsys):
    check(... if check is check_steps_until_one_percent else lambda *inputs: ...)
    assert "nothing to check yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("check", "attempt", "message"),
    [
        (check_elman_step, lambda x, s, w, u, b: x @ w + s @ u + b, "not squashed"),
        (check_elman_step, lambda x, s, w, u, b: sigmoid(x @ w + s @ u + b), "that is a sigmoid"),
        (check_elman_step, lambda x, s, w, u, b: np.tanh(x @ w + b), "the old state plays no part"),
        (check_elman_step, lambda x, s, w, u, b: np.tanh(x @ w + s @ u), "bias is missing"),
        (check_elman_step, lambda x, s, w, u, b: np.tanh(x @ w + u @ s + b), "recurrent matrix is turned"),
        (check_elman_step, lambda x, s, w, u, b: np.tanh(x @ w + b) + s @ u, "inside the tanh"),
        (check_elman_step, lambda x, s, w, u, b: np.tanh(x @ w - s @ u + b), "wrong for"),
        (check_elman_step, lambda x, s, w, u, b: x @ u, "stopped with ValueError"),
        (check_steps_until_one_percent, 43, "one too few"),
        (check_steps_until_one_percent, 43.7, "steps come whole"),
        (check_steps_until_one_percent, 10, "a tenth of what is left"),
        (check_steps_until_one_percent, 22, "where a tenth is left"),
        (check_steps_until_one_percent, -44, "negative"),
        (check_steps_until_one_percent, 30, r"after 30 steps 0.0424 is left, still more than 0.01"),
        (check_steps_until_one_percent, 50, r"after 50 steps 0.00515 is left, long since less than 0.01"),
        (check_steps_until_one_percent, "many", "wanted one number, got str"),
        (check_rescaled, lambda m, r: m * r / np.linalg.norm(m, 2), "largest singular value"),
        (check_rescaled, lambda m, r: m * r / np.linalg.eigvals(m).real.max(), "largest real part"),
        (check_rescaled, lambda m, r: m * r, "multiplied by the radius only"),
        (check_rescaled, lambda m, r: m * r / np.linalg.norm(m), "Frobenius"),
        (check_rescaled, lambda m, r: rescaled(m, 1), "wanted radius plays no part"),
        (check_rescaled, lambda m, r: np.abs(rescaled(m, r)), r"wrong for \[\[-0.5\]\]"),
        (check_lstm_step, lambda gates, cell: lstm_step(gates, cell)[::-1], "state comes first"),
        (check_lstm_step, lambda gates, cell: lstm_step(np.roll(gates, len(cell)), cell), "wrong for"),
        (
            check_lstm_step,
            lambda gates, cell: lstm_step(
                np.concatenate([np.split(gates, 4)[k] for k in (1, 0, 2, 3)]), cell
            ),
            "input gate and the forget gate have changed places",
        ),
        (
            check_lstm_step,
            lambda gates, cell: lstm_step(
                np.concatenate([np.split(gates, 4)[k] for k in (0, 1, 3, 2)]), cell
            ),
            "candidate and the output gate have changed places",
        ),
        (
            check_lstm_step,
            lambda gates, cell: lstm_with(gates, cell, squash=sigmoid),
            "goes through a sigmoid",
        ),
        (check_lstm_step, lambda gates, cell: lstm_with(gates, cell, squash=np.array), "is not squashed"),
        (
            check_lstm_step,
            lambda gates, cell: lstm_with(gates, cell, show=np.array),
            "cell goes through tanh first",
        ),
        (check_lstm_step, lambda gates, cell: lstm_step(gates, cell)[0], "wrong for"),
        (check_additive_weights, scores, "these are the scores"),
        (check_additive_weights, lambda *inputs: softmax(scores(*inputs), axis=0), "each column sums to one"),
        (
            check_additive_weights,
            lambda *inputs: np.exp(scores(*inputs)) / np.exp(scores(*inputs)).sum(),
            "all pairs together",
        ),
        (
            check_additive_weights,
            lambda q, k, w, u, v: softmax(((q @ w)[:, None] + (k @ u)[None]) @ v),
            "are not squashed",
        ),
        (check_additive_weights, lambda *inputs: additive_weights(*inputs).T, "turned"),
        (check_additive_weights, lambda *inputs: np.abs(scores(*inputs)), "wrong for"),
        (check_mended_rnn, truncated_rnn, "first word is still unread"),
        (check_mended_rnn, lambda x, *weights: mended_rnn(x, *weights)[:-1], "last word is unread"),
        (
            check_mended_rnn,
            lambda x, *weights: np.append(
                mended_rnn(x, *weights)[:-1], np.zeros((1, len(weights[-1]))), axis=0
            ),
            "stops one word too early",
        ),
        (
            check_mended_rnn,
            lambda x, w, u, b: np.tanh(x @ w + b),
            "no state is carried over",
        ),
        (check_mended_rnn, lambda x, *weights: mended_rnn(x, *weights)[-1], "only the last state"),
        (check_mended_rnn, lambda x, *weights: mended_rnn(x[::-1], *weights)[::-1], "read from the end"),
        (check_mended_rnn, lambda x, *weights: -mended_rnn(x, *weights), "wrong for"),
        (check_multiplications, lambda t, d: (2 * t * t * d, 2 * t * d * d), "other way round"),
        (check_multiplications, lambda t, d: (2 * d * d, 2 * t * t * d), "counted for one word"),
        (check_multiplications, lambda t, d: (t * d * d, t * t * d), "one product of each is missing"),
        (check_multiplications, lambda t, d: (2 * t * d * d, t * t * d), "scores only"),
        (check_multiplications, lambda t, d: (4 * t * d * d, 4 * t * t * d), "additions are counted"),
        (check_multiplications, lambda t, d: (2 * t * d * d, 2 * t * t), "attention counts pairs"),
        (
            check_multiplications,
            lambda t, d: (t * d, t * d),
            r"wrong for 1, 1: wanted \[2, 2\], got \[1, 1\]",
        ),
    ],
)
def test_a_usual_slip_is_met_with_its_own_message(check, attempt, message):
    with pytest.raises(Slip, match=message):
        check(attempt)


def lstm_with(gates, cell, squash=np.tanh, show=np.tanh):
    i, f, g, o = np.split(gates, 4)
    cell = sigmoid(f) * cell + sigmoid(i) * squash(g)
    return sigmoid(o) * show(cell), cell

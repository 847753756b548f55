"""Answers to the exercises on recurrent networks."""

import math

import numpy as np
import torch


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


def fixed_rnn(x, input_weight, hidden_weight, bias):
    state, states = np.zeros(len(bias)), []
    for word in x:
        state = np.tanh(word @ input_weight + state @ hidden_weight + bias)
        states.append(state)
    return np.stack(states)


def fixed_rnn_in_torch(x, input_weight, hidden_weight, bias):
    states = [torch.zeros(len(bias))]
    for word in x:
        states.append(torch.tanh(word @ input_weight + states[-1] @ hidden_weight + bias))
    return torch.stack(states[1:])


def fixed_rnn_by_negative_index(x, input_weight, hidden_weight, bias):
    states = np.zeros((len(x), len(bias)))
    for t in range(len(x)):
        states[t] = np.tanh(x[t] @ input_weight + states[t - 1] @ hidden_weight + bias)
    return states


def truncated_rnn(x, input_weight, hidden_weight, bias):
    states = np.zeros((len(x), len(bias)))
    for t in range(1, len(x)):
        states[t] = np.tanh(x[t] @ input_weight + states[t - 1] @ hidden_weight + bias)
    return states


def lstm_with(gates, cell, activation=np.tanh, show=np.tanh):
    i, f, g, o = np.split(gates, 4)
    cell = sigmoid(f) * cell + sigmoid(i) * activation(g)
    return sigmoid(o) * show(cell), cell


RIGHT = {
    "elman_step": [
        elman_step,
        elman_step_in_loops,
        elman_step_in_torch,
        lambda x, s, w, u, b: torch.cat([x, s]).matmul(torch.cat([w, u])).add(b).tanh(),
    ],
    "steps_until_one_percent": [
        44,
        np.ceil(np.log(0.01) / np.log(0.9)),
    ],
    "rescaled": [
        rescaled,
        lambda matrix, radius: rescaled(matrix.astype(np.float32), radius),
        lambda matrix, radius: matrix * (radius / torch.linalg.eigvals(matrix).abs().max()),
    ],
    "fixed_rnn": [
        fixed_rnn,
        fixed_rnn_by_negative_index,
        fixed_rnn_in_torch,
    ],
    "lstm_step": [
        lstm_step,
        lstm_step_in_float32,
    ],
    "additive_weights": [
        additive_weights,
        additive_weights_in_loops,
        lambda q, k, w, u, v: torch.tanh((q @ w).unsqueeze(1) + k @ u).matmul(v).softmax(-1),
    ],
}

WRONG = {
    "elman_step": {
        "your sum skips tanh": lambda x, s, w, u, b: x @ w + s @ u + b,
        "your state lies between 0 and 1": lambda x, s, w, u, b: sigmoid(x @ w + s @ u + b),
        "your step ignores the old state": lambda x, s, w, u, b: np.tanh(x @ w + b),
        "your sum lacks the bias": lambda x, s, w, u, b: np.tanh(x @ w + s @ u),
        "your recurrent matrix is transposed": lambda x, s, w, u, b: np.tanh(x @ w + u @ s + b),
        "you add the bias after tanh": lambda x, s, w, u, b: np.tanh(x @ w + s @ u) + b,
        "you add the old state after tanh": lambda x, s, w, u, b: np.tanh(x @ w + b) + s @ u,
        "wrong for this input": lambda x, s, w, u, b: np.tanh(x @ w - s @ u + b),
        "stopped with ValueError": lambda x, s, w, u, b: x @ u,
    },
    "steps_until_one_percent": {
        "one step too few": 43,
        "close, but expected a whole number": 43.7,
        "a tenth of what is left": 10,
        "after that many steps a tenth is left": 22,
        "negative": -44,
        "after 30 steps, 0.0424 is left, still more than 0.01": 30,
        "after 50 steps, 0.00515 is left, already much less than 0.01": 50,
        "expected one number, yours is of type str": "many",
    },
    "rescaled": {
        "largest singular value": lambda m, r: m * r / np.linalg.norm(m, 2),
        "largest real part": lambda m, r: m * r / np.linalg.eigvals(m).real.max(),
        "you multiply by the radius": lambda m, r: m * r,
        "Frobenius": lambda m, r: m * r / np.linalg.norm(m),
        "your matrix always has spectral radius 1; multiply by the requested radius": lambda m, r: rescaled(
            m, 1
        ),
        "wrong for this input": lambda m, r: np.abs(rescaled(m, r)),
    },
    "fixed_rnn": {
        "your first state is still all zeros": truncated_rnn,
        "you skip the last word": lambda x, *weights: fixed_rnn(x, *weights)[:-1],
        "stops one word too early": lambda x, *weights: np.append(
            fixed_rnn(x, *weights)[:-1], np.zeros((1, len(weights[-1]))), axis=0
        ),
        "your loop does not carry the state over": lambda x, w, u, b: np.tanh(x @ w + b),
        "only the last state": lambda x, *weights: fixed_rnn(x, *weights)[-1],
        "you read the sentence backwards": lambda x, *weights: fixed_rnn(x[::-1], *weights)[::-1],
        "wrong for this input": lambda x, *weights: -fixed_rnn(x, *weights),
    },
    "lstm_step": {
        "your results are swapped": lambda gates, cell: lstm_step(gates, cell)[::-1],
        "wrong for this input": lambda gates, cell: lstm_step(np.roll(gates, len(cell)), cell),
        "expected 2 results, yours returns 1 result": lambda gates, cell: lstm_step(gates, cell)[0],
        "your input gate and forget gate are swapped": lambda gates, cell: lstm_step(
            np.concatenate([np.split(gates, 4)[k] for k in (1, 0, 2, 3)]), cell
        ),
        "your candidate and output gate are swapped": lambda gates, cell: lstm_step(
            np.concatenate([np.split(gates, 4)[k] for k in (0, 1, 3, 2)]), cell
        ),
        "goes through a sigmoid": lambda gates, cell: lstm_with(gates, cell, activation=sigmoid),
        "your candidate skips tanh": lambda gates, cell: lstm_with(gates, cell, activation=np.array),
        "you assign the sums to the gates in turn": lambda gates, cell: lstm_step(
            gates.reshape(-1, 4).T.ravel(), cell
        ),
        "uses the old cell": lambda gates, cell: (
            sigmoid(gates[-len(cell) :]) * np.tanh(cell),
            lstm_step(gates, cell)[1],
        ),
        "cell goes through tanh first": lambda gates, cell: lstm_with(gates, cell, show=np.array),
    },
    "additive_weights": {
        "you return the scores": scores,
        "your columns sum to one": lambda *inputs: softmax(scores(*inputs), axis=0),
        "all your weights together": lambda *inputs: np.exp(scores(*inputs)) / np.exp(scores(*inputs)).sum(),
        "your sums of query and key skip tanh": lambda q, k, w, u, v: softmax(
            ((q @ w)[:, None] + (k @ u)[None]) @ v
        ),
        "you apply tanh to query and key separately": lambda q, k, w, u, v: softmax(
            (np.tanh(q @ w)[:, None] + np.tanh(k @ u)[None]) @ v
        ),
        "your result is transposed": lambda *inputs: additive_weights(*inputs).T,
        "wrong for this input": lambda *inputs: np.abs(scores(*inputs)),
    },
}

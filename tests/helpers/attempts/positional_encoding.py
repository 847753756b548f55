"""Answers to the exercises on positional encodings."""

import math

import numpy as np
import torch

from glassformer.modules import positions as modules
from glassformer.reference.positions import apply_rotary_embedding, sinusoidal_positions


def table(length, d_model, *, exponent=2.0, first=0, unit=1.0, swap=False):
    rows = []
    for position in range(first, length + first):
        row = []
        for pair in range(d_model // 2):
            angle = unit * position / 10000 ** (exponent * pair / d_model)
            both = [math.sin(angle), math.cos(angle)]
            row += both[::-1] if swap else both
        rows.append(row)
    return np.array(rows)


def blocks(length, d_model):
    pairs = table(length, d_model).reshape(length, -1, 2)
    return np.concatenate([pairs[..., 0], pairs[..., 1]], axis=-1)


def own_frequency(length, d_model):
    columns = np.arange(d_model)
    angles = np.outer(np.arange(length), 10000.0 ** (-2 * columns / d_model))
    return np.where(columns % 2, np.cos(angles), np.sin(angles))


def own_frequency_of_cosines(length, d_model):
    rows = np.zeros((length, d_model))
    for place, column in np.ndindex(length, d_model):
        angle = place / 10000 ** (column / d_model)
        rows[place, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return rows


def shift(delta, d_model):
    """Return the rotation R with P[t + delta] = R P[t]."""
    frequency = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    cos, sin = np.diag(np.cos(frequency * delta)), np.diag(np.sin(frequency * delta))
    return np.kron(cos, np.eye(2)) + np.kron(sin, [[0, 1], [-1, 0]])


def slowest_at_one(length, d_model):
    frequency = np.geomspace(1, 1e-4, d_model // 2)
    angles = np.arange(length)[:, None] * frequency
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def table_in_torch(length, d_model):
    angles = torch.arange(length)[:, None] * torch.logspace(0, -4, d_model // 2 + 1)[:-1]
    table = torch.empty(length, d_model)
    table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table


def look_back(offset, d_model):
    return 80 * shift(-offset, d_model).T, np.eye(d_model)


def look_back_by_the_key(offset, d_model):
    return np.eye(d_model), 80 * shift(offset, d_model).T


def look_back_as_tensors(offset, d_model):
    return [torch.tensor(each) for each in look_back(offset, d_model)]


def rotary(query, key, *, key_sign=1, aligned=True, behind=0, scale=True):
    places = np.arange(len(query)) + (len(key) - len(query)) * aligned + behind
    rotated_key = apply_rotary_embedding(key, key_sign * np.arange(len(key)))
    scores = apply_rotary_embedding(query, places) @ rotated_key.T
    return scores / np.sqrt(query.shape[1]) if scale else scores


def rotary_in_torch(query, key):
    query, key, _ = modules.RotaryPositions()(torch.tensor(query)[None], torch.tensor(key)[None])
    return (query @ key.mT / query.shape[-1] ** 0.5)[0]


def rotary_by_difference(query, key):
    scores = np.empty((len(query), len(key)))
    for row, column in np.ndindex(scores.shape):
        away = column - (row + len(key) - len(query))
        scores[row, column] = (query[row] @ apply_rotary_embedding(key[[column]], np.array([away])).T).item()
    return scores / math.sqrt(query.shape[1])


def rotary_by_complex_numbers(query, key):
    frequency = 10000.0 ** (-np.arange(0, key.shape[1], 2) / key.shape[1])
    turn = np.exp(1j * np.arange(len(key))[:, None] * frequency)
    query = (query[:, ::2] + 1j * query[:, 1::2]) * turn[-len(query) :]
    key = (key[:, ::2] + 1j * key[:, 1::2]) * turn
    return np.einsum("qd,kd->qk", query, key.conj()).real / math.sqrt(2 * key.shape[1])


def bias(length, num_heads, *, first=1, sign=-1, heads=None):
    slopes = [2 ** (-8 * (head + first) / (heads or num_heads)) for head in range(num_heads)]
    rows = range(length)
    return np.array([[[sign * slope * abs(s - t) for s in rows] for t in rows] for slope in slopes])


def halves(weight):
    return np.concatenate([weight[:, 0::2], weight[:, 1::2]], axis=1)


def to_pairs(weight):
    half = weight.shape[1] // 2
    return np.stack([weight[:, :half], weight[:, half:]], axis=-1).reshape(weight.shape)


RIGHT = {
    "position_table": [
        table,
        sinusoidal_positions,
        table_in_torch,
        lambda length, d_model: table(length, d_model).astype(np.float16),
        lambda length, d_model: table(length, d_model).tolist(),
        lambda length, d_model: torch.tensor(table(length, d_model)),
    ],
    "longest_wave": [
        2 * math.pi * 10000 ** (30 / 32),
        35_333,
    ],
    "first_rise": [
        12,
        np.int64(12),
    ],
    "my_bias": [
        bias,
        lambda length, num_heads: bias(length, num_heads).astype(np.float32),
        lambda length, num_heads: modules.alibi(length, length, num_heads),
    ],
    "look_back_weights": [
        look_back,
        look_back_by_the_key,
        look_back_as_tensors,
        lambda offset, d_model: [math.sqrt(80) * w for w in look_back(offset, d_model)],
    ],
    "rotary_scores": [
        rotary,
        rotary_in_torch,
        rotary_by_difference,
        rotary_by_complex_numbers,
    ],
    "to_halves_weight": [
        halves,
        lambda weight: torch.cat([weight[:, ::2], weight[:, 1::2]], dim=1).bfloat16(),
        lambda weight: [[*row[::2], *row[1::2]] for row in weight],
        lambda weight: weight.reshape(len(weight), -1, 2).swapaxes(1, 2).reshape(weight.shape),
    ],
}

WRONG = {
    "position_table": {
        "your sine and cosine are swapped": lambda *sizes: table(*sizes, swap=True),
        "you put all sines first, then all cosines": blocks,
        "your waves are too short": lambda *sizes: table(*sizes, exponent=1),
        "your numbers each have their own frequency": own_frequency,
        "your cosines have their own frequency": own_frequency_of_cosines,
        "your pairs all turn at one speed": lambda *sizes: table(*sizes, exponent=0),
        "your first position is 1; it should be 0": lambda *sizes: table(*sizes, first=1),
        "grow shorter": lambda *sizes: table(*sizes, exponent=-2),
        "your slowest pair has exponent 1": slowest_at_one,
        "degrees": lambda *sizes: table(*sizes, unit=math.pi / 180),
        "your table is transposed": lambda *sizes: table(*sizes).T,
        "wrong for this input": lambda *sizes: 2 * table(*sizes),
    },
    "longest_wave": {
        "no pair is that slow": 62_831.85,
        "a turn is 2π radians, and no pair": 10_000,
        "one radian": 10000 ** (30 / 32),
        "31 is the last number": 2 * math.pi * 10000 ** (31 / 32),
        "your exponent lacks a factor": 2 * math.pi * 10000 ** (15 / 32),
        "half a turn": math.pi * 10000 ** (30 / 32),
        "the fastest hand": 2 * math.pi,
        "that is the frequency": 10000 ** (-30 / 32),
        "moves 0.0628 radians": 100,
        "more than 0 positions": -1,
        "expected one number": "long",
    },
    "first_rise": {
        "still falls there; the first rise": 11,
        "already risen": 13,
        "with 64 components": 6,
        "with 512 components": 44,
        "the fastest hand has made half a turn": 3,
        "yours is 100: find the first distance at which P_s · P_t is larger than one step before": 100,
    },
    "my_bias": {
        "your sign is wrong": lambda *sizes: bias(*sizes, sign=1),
        "your first head has slope 1; heads are counted from 1": lambda *sizes: bias(*sizes, first=0),
        "your bias raises the scores of keys on one side": lambda length, n: (
            bias(length, n) * np.sign(np.subtract.outer(np.arange(length), np.arange(length)))
        ),
        "the same slope": lambda length, n: np.tile(bias(length, n)[:1], (n, 1, 1)),
        "your slopes do not depend on the number of heads": lambda length, n: bias(length, n, heads=8),
        "your slopes fall linearly": lambda length, n: bias(length, 1) * np.arange(n, 0, -1)[:, None, None],
        "you hide the keys after the query": lambda length, n: (
            bias(length, n) - np.triu(np.full((length,) * 2, np.inf), 1)
        ),
        "your bias is 0 for keys after the query": lambda length, n: np.tril(bias(length, n)),
        "reverse order": lambda *sizes: bias(*sizes)[::-1],
        "your heads are the last axis": lambda *sizes: np.moveaxis(bias(*sizes), 0, -1),
        "wrong for this input": lambda *sizes: bias(*sizes) - 1,
    },
    "look_back_weights": {
        "your head looks at the word itself": lambda offset, d: (80 * np.eye(d), np.eye(d)),
        "ahead, not back": lambda offset, d: (80 * shift(-offset, d), np.eye(d)),
        "your head looks 2 back, expected 1": lambda offset, d: look_back(2 * offset, d),
        "with a weight of only": lambda offset, d: (shift(-offset, d).T, np.eye(d)),
        "equally wide": lambda offset, d: (np.eye(d), np.eye(d)[:, :5]),
        "expected two matrices, query_weight and key_weight, yours returns 1": lambda offset, d: np.eye(d),
        "query_weight must have 64 rows": lambda offset, d: (np.eye(3), np.eye(3)),
        "your head looks -31 to 34 back, depending on the position": lambda offset, d: (
            80 * np.roll(np.eye(d), 3, axis=0),
            np.eye(d),
        ),
    },
    "rotary_scores": {
        "both bugs are still there": lambda *args: rotary(*args, key_sign=-1, aligned=False),
        "your keys rotate the other way": lambda *args: rotary(*args, key_sign=-1),
        "your queries start at 0": lambda *args: rotary(*args, aligned=False),
        "you rotate nothing": lambda query, key: query @ key.T / math.sqrt(len(key.T)),
        "only the queries": lambda *args: rotary(*args, key_sign=0),
        "only the keys": lambda query, key: query @ apply_rotary_embedding(key).T / math.sqrt(len(key.T)),
        "no longer divided": lambda *args: rotary(*args, scale=False),
        "your queries are one position too far": lambda *args: rotary(*args, behind=1),
        "wrong for this input": lambda *args: -rotary(*args),
    },
    "to_halves_weight": {
        "unchanged": lambda weight: weight,
        "yours converts the other way, from halves to pairs": to_pairs,
        "you reorder the rows": lambda weight: halves(weight.T).T,
        "your halves are swapped": lambda weight: np.roll(halves(weight), weight.shape[1] // 2, axis=1),
        "you reverse the columns": lambda weight: weight[:, ::-1],
        "wrong for this input": lambda weight: -halves(weight),
    },
}

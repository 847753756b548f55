import math

import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.positional_encoding import (
    check_first_rise,
    check_linear_bias,
    check_longest_wave,
    check_looking_back,
    check_pairs_to_halves,
    check_position_table,
    check_rotary_scores,
)
from glassformer.modules import positions as modules
from glassformer.reference.positions import rotate_by_position, sinusoidal_positions


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


def shift(delta, d_model):
    """R with P[t + delta] = R P[t], as complex numbers turn."""
    frequency = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    cos, sin = np.diag(np.cos(frequency * delta)), np.diag(np.sin(frequency * delta))
    return np.kron(cos, np.eye(2)) + np.kron(sin, [[0, 1], [-1, 0]])


def looking_back(offset, d_model):
    return 80 * shift(-offset, d_model).T, np.eye(d_model)


def looking_back_by_the_key(offset, d_model):
    return np.eye(d_model), 80 * shift(offset, d_model).T


def looking_back_as_tensors(offset, d_model):
    return [torch.tensor(each) for each in looking_back(offset, d_model)]


def rotary(query, key, *, key_sign=1, aligned=True, scale=True):
    places = np.arange(len(query)) + (len(key) - len(query)) * aligned
    scores = rotate_by_position(query, places) @ rotate_by_position(key, key_sign * np.arange(len(key))).T
    return scores / np.sqrt(query.shape[1]) if scale else scores


def rotary_in_torch(query, key):
    query, key, _ = modules.RotaryPositions()(torch.tensor(query)[None], torch.tensor(key)[None])
    return (query @ key.mT / query.shape[-1] ** 0.5)[0]


def rotary_by_difference(query, key):
    scores = np.empty((len(query), len(key)))
    for row, column in np.ndindex(scores.shape):
        away = column - (row + len(key) - len(query))
        scores[row, column] = (query[row] @ rotate_by_position(key[[column]], np.array([away])).T).item()
    return scores / math.sqrt(query.shape[1])


def bias(length, num_heads, *, first=1, sign=-1, heads=None):
    slopes = [2 ** (-8 * (head + first) / (heads or num_heads)) for head in range(num_heads)]
    rows = range(length)
    return np.array([[[sign * slope * abs(s - t) for s in rows] for t in rows] for slope in slopes])


def halves(weight):
    return np.concatenate([weight[:, 0::2], weight[:, 1::2]], axis=1)


def pairs_again(weight):
    half = weight.shape[1] // 2
    return np.stack([weight[:, :half], weight[:, half:]], axis=-1).reshape(weight.shape)


RIGHT = [
    (check_position_table, table),
    (check_position_table, sinusoidal_positions),
    (check_position_table, lambda length, d_model: torch.tensor(table(length, d_model))),
    (check_longest_wave, 2 * math.pi * 10000 ** (30 / 32)),
    (check_longest_wave, 35_333),
    (check_looking_back, looking_back),
    (check_looking_back, looking_back_by_the_key),
    (check_looking_back, looking_back_as_tensors),
    (check_looking_back, lambda offset, d_model: [math.sqrt(80) * w for w in looking_back(offset, d_model)]),
    (check_rotary_scores, rotary),
    (check_rotary_scores, rotary_in_torch),
    (check_rotary_scores, rotary_by_difference),
    (check_linear_bias, bias),
    (check_linear_bias, lambda length, num_heads: modules.linear_bias(length, length, num_heads)),
    (check_pairs_to_halves, halves),
    (
        check_pairs_to_halves,
        lambda weight: weight.reshape(len(weight), -1, 2).swapaxes(1, 2).reshape(weight.shape),
    ),
    (check_first_rise, 12),
    (check_first_rise, np.int64(12)),
]

WRONG = [
    (check_position_table, lambda *sizes: table(*sizes, swap=True), "changed places"),
    (check_position_table, blocks, "all sines come first"),
    (check_position_table, lambda *sizes: table(*sizes, exponent=1), "the waves are too short"),
    (check_position_table, own_frequency, "a frequency of its own"),
    (check_position_table, lambda *sizes: table(*sizes, first=1), "the first position is 0"),
    (check_position_table, lambda *sizes: table(*sizes, exponent=-2), "grow shorter"),
    (check_position_table, lambda *sizes: table(*sizes, unit=math.pi / 180), "degrees"),
    (check_position_table, lambda *sizes: table(*sizes).T, "the wrong way round"),
    (check_position_table, lambda *sizes: 2 * table(*sizes), r"wrong for 1, 2: wanted \[\[0.0, 1.0\]\]"),
    (check_longest_wave, 62_831.85, "no pair is that slow"),
    (check_longest_wave, 10000 ** (30 / 32), "one radian"),
    (check_longest_wave, 2 * math.pi * 10000 ** (31 / 32), "31 is the last number"),
    (check_longest_wave, 2 * math.pi * 10000 ** (15 / 32), "a factor is missing"),
    (check_longest_wave, math.pi * 10000 ** (30 / 32), "half a turn"),
    (check_longest_wave, 2 * math.pi, "the fastest hand"),
    (check_longest_wave, 10000 ** (-30 / 32), "that is the frequency"),
    (check_longest_wave, 100, "moves 0.0628 radians"),
    (check_longest_wave, -1, "more than 0 positions"),
    (check_longest_wave, "long", "wanted one number"),
    (check_looking_back, lambda offset, d: (80 * np.eye(d), np.eye(d)), "looks at itself"),
    (check_looking_back, lambda offset, d: (80 * shift(-offset, d), np.eye(d)), "ahead, not back"),
    (check_looking_back, lambda offset, d: looking_back(2 * offset, d), "it looks 2 back, wanted 1"),
    (check_looking_back, lambda offset, d: (shift(-offset, d).T, np.eye(d)), "with a weight of only"),
    (check_looking_back, lambda offset, d: np.eye(d), "wanted two matrices"),
    (check_looking_back, lambda offset, d: (np.eye(3), np.eye(3)), r"query_weight must have 64 rows"),
    (
        check_looking_back,
        lambda offset, d: (80 * np.roll(np.eye(d), 3, axis=0), np.eye(d)),
        "depending on where it stands",
    ),
    (check_rotary_scores, lambda *args: rotary(*args, key_sign=-1, aligned=False), "two bugs"),
    (check_rotary_scores, lambda *args: rotary(*args, key_sign=-1), "the keys turn the other way"),
    (check_rotary_scores, lambda *args: rotary(*args, aligned=False), "the last one should stand"),
    (check_rotary_scores, lambda query, key: query @ key.T / math.sqrt(6), "nothing is turned"),
    (check_rotary_scores, lambda *args: rotary(*args, key_sign=0), "only the queries"),
    (check_rotary_scores, lambda q, k: q @ rotate_by_position(k).T / math.sqrt(6), "only the keys"),
    (check_rotary_scores, lambda *args: rotary(*args, scale=False), "no longer divided"),
    (check_rotary_scores, lambda *args: -rotary(*args), "wrong for"),
    (check_linear_bias, lambda *sizes: bias(*sizes, sign=1), "the sign is turned"),
    (check_linear_bias, lambda *sizes: bias(*sizes, first=0), "counted from 1"),
    (
        check_linear_bias,
        lambda length, n: bias(length, n) * np.sign(np.subtract.outer(np.arange(length), np.arange(length))),
        "both ways",
    ),
    (check_linear_bias, lambda length, n: np.tile(bias(length, n)[:1], (n, 1, 1)), "the same slope"),
    (check_linear_bias, lambda length, n: bias(length, n, heads=8), "how many heads there are"),
    (
        check_linear_bias,
        lambda length, n: bias(length, 1) * np.arange(n, 0, -1)[:, None, None],
        "fall evenly",
    ),
    (check_linear_bias, lambda *sizes: np.moveaxis(bias(*sizes), 0, -1), "the heads come last"),
    (check_linear_bias, lambda *sizes: bias(*sizes) - 1, "wrong for 1, 1"),
    (check_pairs_to_halves, lambda weight: weight, "unchanged"),
    (check_pairs_to_halves, pairs_again, "the other way round"),
    (check_pairs_to_halves, lambda weight: halves(weight.T).T, "the rows are reordered"),
    (
        check_pairs_to_halves,
        lambda weight: np.roll(halves(weight), len(weight) // 2, axis=1),
        "changed places",
    ),
    (check_pairs_to_halves, lambda weight: weight[:, ::-1], "reversed"),
    (check_pairs_to_halves, lambda weight: -halves(weight), "wrong for"),
    (check_first_rise, 11, "still falling"),
    (check_first_rise, 13, "risen before"),
    (check_first_rise, 6, "with 64 numbers"),
    (check_first_rise, 44, "with 512 numbers"),
    (check_first_rise, 3, "half a turn"),
    (check_first_rise, 100, "wanted the first distance"),
]


def name(case):
    return case[0].__name__.removeprefix("check_")


@pytest.mark.parametrize(("check", "answer"), RIGHT, ids=map(name, RIGHT))
def test_a_right_answer_passes_however_it_is_written(check, answer, capsys):
    check(answer)
    assert capsys.readouterr().out.startswith("✔")


@pytest.mark.parametrize(("check", "answer", "message"), WRONG, ids=map(name, WRONG))
def test_a_wrong_answer_is_met_with_its_own_message(check, answer, message):
    with pytest.raises(Slip, match=message):
        check(answer)


@pytest.mark.parametrize("check", dict.fromkeys(case[0] for case in RIGHT), ids=lambda check: check.__name__)
def test_an_answer_not_begun_is_greeted(check, capsys):
    check(...)
    assert capsys.readouterr().out.startswith("◦")


def test_at_least_three_slips_of_each_exercise_have_messages_of_their_own():
    for check in {case[0] for case in RIGHT}:
        assert len({message for judge, _, message in WRONG if judge is check}) >= 3


@pytest.mark.parametrize("d_model", [64, 128, 512])
def test_the_first_rise_is_where_the_check_says(d_model):
    place = sinusoidal_positions(60, d_model)
    rise = int(np.flatnonzero(np.diff(place @ place[0]) > 0)[0]) + 1
    assert rise == {64: 6, 128: 12, 512: 44}[d_model]

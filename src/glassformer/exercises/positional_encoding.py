"""Checks for the exercises on positional encodings."""

import math
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, compare_number, sample
from glassformer.checking.slips import Slip
from glassformer.checking.tolerance import parts_of
from glassformer.reference.positions import alibi, apply_rotary_embedding, sinusoidal_positions
from glassformer.reference.softmax import softmax


@check(see="A clock with many hands")
def check_position_table(attempt: Answer, rng: Generator) -> None:
    """Check ``position_table(length, d_model)``: sinusoidal positions, for an even ``d_model``."""

    def waves(exponent: float = 2.0, first: int = 0, turn: float = 1.0) -> Answer:
        def table(length: int, d_model: int) -> Array:
            frequency = turn * 10000.0 ** (-exponent * np.arange(d_model // 2) / d_model)
            angles = (np.arange(length) + first)[:, None] * frequency
            return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)

        return table

    def own_frequencies(step: int) -> Answer:
        def table(length: int, d_model: int) -> Array:
            columns = np.arange(d_model)
            angles = np.arange(length)[:, None] * 10000.0 ** (-step * columns / d_model)
            return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))

        return table

    def slowest_at_one(length: int, d_model: int) -> Array:
        exponents = np.arange(d_model // 2) / max(d_model // 2 - 1, 1)
        angles = np.arange(length)[:, None] * 10000.0**-exponents
        return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)

    compare(
        attempt,
        sinusoidal_positions,
        {
            "your sine and cosine are swapped: the first number of each pair is the sine": (
                lambda length, d_model: (
                    sinusoidal_positions(length, d_model)
                    .reshape(length, -1, 2)[..., ::-1]
                    .reshape(length, d_model)
                )
            ),
            "you put all sines first, then all cosines; the two of a pair belong side by side": (
                lambda length, d_model: (
                    sinusoidal_positions(length, d_model)
                    .reshape(length, -1, 2)
                    .swapaxes(1, 2)
                    .reshape(length, d_model)
                )
            ),
            "your waves are too short: the exponent is 2i, because each pair holds two numbers": waves(1.0),
            "your numbers each have their own frequency; the two of a pair share one": own_frequencies(2),
            "your cosines have their own frequency; each shares that of its sine": own_frequencies(1),
            "your pairs all turn at one speed: 2i / d_model is a fraction, which `//` rounds to zero": waves(
                0.0
            ),
            "your first position is 1; it should be 0": waves(first=1),
            "your slowest pair has exponent 1: divide by d_model, not by the last index": slowest_at_one,
            "your waves grow shorter from pair to pair; the exponent should be negative": waves(-2.0),
            "you pass degrees; sine and cosine take radians": waves(turn=math.pi / 180),
            "your table is transposed: expected a row for each position and a column for each number": (
                lambda length, d_model: sinusoidal_positions(length, d_model).T
            ),
        },
        [(1, 2), (2, 2), (4, 4), (3, 4), (7, 10), (int(rng.integers(20, 50)), 16)],
    )


@check(see="A clock with many hands")
def check_longest_wave(attempt: Any) -> None:
    """Check the longest wavelength of the sinusoids, in positions, for ``d_model = 32``."""
    compare_number(
        attempt,
        2 * math.pi * 10000 ** (30 / 32),
        {
            10000: "a turn is 2π radians, and no pair is that slow: the last is pair 15",
            2 * math.pi * 10000: "no pair is that slow: pairs count from 0, so the last is pair 15",
            10000 ** (30 / 32): "in that many positions the hand turns by one radian; a full turn is 2π",
            2
            * math.pi
            * 10000 ** (31 / 32): "31 is the last number; the exponent of a pair is 2i, with i = 15",
            2 * math.pi * 10000 ** (15 / 32): "your exponent lacks a factor: it is 2i, not i",
            2 * math.pi * 10000 ** (15 / 16) / 2: "that is half a turn",
            2 * math.pi: "that is the fastest hand",
            10000 ** (-30 / 32): "that is the frequency, in radians per position",
        },
        lambda value: (
            f"a hand that takes {value:.6g} positions per turn moves {2 * math.pi / value:.3g} radians "
            "per position, which is not the frequency of pair 15"
            if value > 0
            else f"a turn takes more than 0 positions, yours takes {value:g}"
        ),
    )


@check(see="How similar are two positions?")
def check_first_rise(attempt: Any) -> None:
    """Check the first distance at which P_s · P_t rises, for ``d_model = 128``."""
    compare_number(
        attempt,
        12,
        {
            11: "the dot product still falls there; the first rise comes later",
            13: "the dot product has already risen before that distance",
            6: "that is the first rise with 64 components; here there are 128",
            44: "that is the first rise with 512 components; here there are 128",
            3: "the fastest hand has made half a turn there, but the sum over all pairs still falls",
        },
        lambda value: (
            f"yours is {value:g}: find the first distance at which P_s · P_t is larger than one step before"
        ),
    )


@check(see="Learned vectors and ALiBi")
def check_my_bias(attempt: Answer, rng: Generator) -> None:
    """Check ``my_bias(length, num_heads)``: the ALiBi biases of each head."""

    def sloped(slopes: Answer, distance: Answer = np.abs) -> Answer:
        def run(length: int, num_heads: int) -> Array:
            away = np.arange(length)[:, None] - np.arange(length)
            return -slopes(np.arange(num_heads), num_heads)[:, None, None] * distance(away)

        return run

    def right(length: int, num_heads: int) -> Array:
        return alibi(length, length, num_heads)

    compare(
        attempt,
        right,
        {
            "your sign is wrong: the bias should lower the scores of distant keys": lambda *sizes: (
                -right(*sizes)
            ),
            "your first head has slope 1; heads are counted from 1": sloped(
                lambda head, n: 2.0 ** (-8 * head / n)
            ),
            "your bias raises the scores of keys on one side of the query; use the absolute distance": (
                sloped(lambda head, n: 2.0 ** (-8 * (head + 1) / n), lambda away: away)
            ),
            "your bias is 0 for keys after the query; use the absolute distance; the mask hides": (
                sloped(lambda head, n: 2.0 ** (-8 * (head + 1) / n), lambda away: np.maximum(away, 0))
            ),
            "you hide the keys after the query; leave that to the mask": (
                lambda length, n: np.where(np.tri(length, dtype=bool), right(length, n), -np.inf)
            ),
            "your heads are in reverse order: the first has the largest slope": (
                sloped(lambda head, n: 2.0 ** (-8 * (n - head) / n))
            ),
            "your heads all have the same slope": sloped(lambda head, n: 2.0 ** (-8 / n) * np.ones(n)),
            "your slopes fall linearly; they should fall by a constant factor": (
                sloped(lambda head, n: 2.0**-8 * (n - head))
            ),
            "your slopes do not depend on the number of heads; the last should be 2 to the −8": (
                sloped(lambda head, n: 2.0 ** -(head + 1.0))
            ),
            "your heads are the last axis; they should be the first": lambda *sizes: np.moveaxis(
                right(*sizes), 0, -1
            ),
        },
        [(2, 1), (2, 2), (3, 2), (int(rng.integers(4, 8)), 8), (4, 16)],
    )


@check(see="A head that looks one word back")
def check_look_back_weights(attempt: Answer, rng: Generator) -> None:
    """Check ``look_back_weights(offset, d_model)``: W_Q and W_K of a head that looks ``offset`` back."""
    for offset, d_model in ((1, 64), (3, 64), (10, 128), (int(rng.integers(4, 10)), 64)):
        weights = [part.array for part in parts_of(attempt(offset, d_model), (0, 0))]
        if len(weights) != 2:
            raise Slip(f"expected two matrices, query_weight and key_weight, yours returns {len(weights)}")
        for name, weight in zip(("query_weight", "key_weight"), weights, strict=True):
            if weight.ndim != 2 or weight.shape[0] != d_model:
                raise Slip(f"{name} must have {d_model} rows, yours has shape {weight.shape}")
        if weights[0].shape != weights[1].shape:
            raise Slip(
                f"both matrices must be equally wide, yours are {weights[0].shape} and {weights[1].shape}"
            )
        query, key = (sinusoidal_positions(60, d_model) @ weight for weight in weights)
        _require_look_back(softmax(query[20:40] @ key.T / math.sqrt(query.shape[1])), offset)


def _require_look_back(weights: Array, offset: int) -> None:
    """Raise a slip unless every query from position 20 on attends ``offset`` back."""
    back = np.arange(20, 40) - weights.argmax(axis=-1)
    if (back == 0).all():
        raise Slip("your head looks at the word itself: nothing moves the query by the offset")
    if (back == -offset).all():
        raise Slip(
            f"your head looks {offset} ahead, not back: row vectors are rotated by the transposed matrix",
            see="A step is a rotation",
        )
    if len(set(back.tolist())) > 1:
        raise Slip(f"your head looks {back.min()} to {back.max()} back, depending on the position")
    if back[0] != offset:
        raise Slip(f"your head looks {back[0]} back, expected {offset}")
    if (least := weights.max(axis=-1).min()) < 0.9:
        raise Slip(
            f"your head picks the right word with a weight of only {least:.2f}; 0.9 needs larger scores"
        )


@check(see="Rotary positions")
def check_rotary_scores(attempt: Answer, rng: Generator) -> None:
    """Check ``rotary_scores(query, key)``: scaled rotary scores; the last query is at the last key."""

    def scores(turn_query: int = 1, turn_key: int = 1, behind: int | None = 0, scaled: bool = True) -> Answer:
        def run(query: Array, key: Array) -> Array:
            places = np.arange(len(query)) + (0 if behind is None else len(key) - len(query) + behind)
            query = apply_rotary_embedding(query, turn_query * places)
            key = apply_rotary_embedding(key, turn_key * np.arange(len(key)))
            return query @ key.T / (np.sqrt(query.shape[-1]) if scaled else 1)

        return run

    compare(
        attempt,
        scores(),
        {
            "both bugs are still there: write down the position of each query and of each key": (
                scores(turn_key=-1, behind=None)
            ),
            "your keys rotate the other way, so positions add up instead of cancelling": scores(turn_key=-1),
            "your queries start at 0; the last should be at the last key's position": scores(behind=None),
            "you rotate only the queries, so a key's position has no effect": scores(turn_key=0),
            "you rotate only the keys, so a query's position has no effect": scores(turn_query=0),
            "you rotate nothing": scores(0, 0),
            "your queries are one position too far; the last should be at the last key's position": scores(
                behind=1
            ),
            "your scores are no longer divided by √d_k": scores(scaled=False),
        },
        [
            (sample(rng, queries, width), sample(rng, keys, width))
            for queries, keys, width in ((1, 2, 2), (2, 2, 2), (3, 3, 4), (2, 5, 6))
        ],
    )


@check(see="Rotary positions")
def check_to_halves_weight(attempt: Answer, rng: Generator) -> None:
    """Check ``to_halves_weight(weight)``: convert a projection from rotated pairs to rotated halves."""

    def right(weight: Array) -> Array:
        return weight[:, _halves(weight.shape[1])]

    compare(
        attempt,
        right,
        {
            "you return the matrix unchanged": lambda weight: weight,
            "yours converts the other way, from halves to pairs": (
                lambda weight: weight[:, np.argsort(_halves(weight.shape[1]))]
            ),
            "you reorder the rows; the components of a query come from the columns": (
                lambda weight: weight[_halves(weight.shape[0])]
            ),
            "your halves are swapped: the first number of each pair comes first": (
                lambda weight: weight[:, np.roll(_halves(weight.shape[1]), weight.shape[1] // 2)]
            ),
            "you reverse the columns": lambda weight: weight[:, ::-1],
        },
        [(sample(rng, *shape),) for shape in ((1, 4), (4, 4), (3, 6), (8, 10))],
    )


def _halves(width: int) -> Array:
    """Return the even indices, then the odd ones."""
    return np.concatenate([np.arange(0, width, 2), np.arange(1, width, 2)])

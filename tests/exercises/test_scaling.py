import math

import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.scaling import (
    check_cosine_weights,
    check_entropy,
    check_mended_weights,
    check_right_divisor,
    check_scaled_scores,
    check_variance,
)


def softmax(x, axis=-1):
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


def unit(x, axis=-1):
    return x / np.linalg.norm(x, axis=axis, keepdims=True)


def scaled(query, key):
    return query @ key.T / np.sqrt(query.shape[-1])


def scaled_in_loops(query, key):
    return [[sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in key] for q in query]


def scaled_in_torch(query, key):
    query, key = torch.tensor(query), torch.tensor(key)
    return torch.einsum("qd,kd->qk", query, key) * query.shape[-1] ** -0.5


def weights_in_float32(query, key):
    return softmax(scaled(query.astype(np.float32), key.astype(np.float32)))


def weights_in_torch(query, key):
    return torch.softmax(scaled_in_torch(query, key), -1)


def surprise(weights):
    return -weights * np.log2(np.where(weights > 0, weights, 1))


def entropy(weights):
    return surprise(weights).sum(axis=-1)


def entropy_in_loops(weights):
    return [sum(-w * math.log2(w) for w in row if w > 0) for row in weights]


def cosines(query, key):
    return unit(query) @ unit(key).T


def cosine_weights_in_torch(query, key, scale):
    query, key = torch.tensor(query), torch.tensor(key)
    return (scale * torch.cosine_similarity(query[:, None], key[None], dim=-1)).softmax(-1)


RIGHT = [
    (check_scaled_scores, scaled),
    (check_scaled_scores, scaled_in_loops),
    (check_scaled_scores, scaled_in_torch),
    (check_variance, 576),
    (check_variance, 576.0),
    (check_variance, np.float32(576)),
    (check_mended_weights, lambda query, key: softmax(scaled(query, key))),
    (check_mended_weights, weights_in_float32),
    (check_mended_weights, weights_in_torch),
    (check_entropy, entropy),
    (check_entropy, entropy_in_loops),
    (check_entropy, lambda weights: torch.special.entr(torch.tensor(weights)).sum(-1) / math.log(2)),
    (check_right_divisor, lambda d_k, variance: variance * np.sqrt(d_k)),
    (check_right_divisor, lambda d_k, variance: math.sqrt(d_k * variance * variance)),
    (check_right_divisor, lambda d_k, variance: torch.tensor(float(d_k)).sqrt() * variance),
    (check_cosine_weights, lambda query, key, scale: softmax(scale * cosines(query, key))),
    (check_cosine_weights, cosine_weights_in_torch),
]


@pytest.mark.parametrize(("check", "attempt"), RIGHT)
def test_a_right_answer_passes_however_it_is_written(check, attempt, capsys):
    check(attempt)
    assert "right" in capsys.readouterr().out


@pytest.mark.parametrize("check", dict.fromkeys(check for check, _ in RIGHT))
def test_an_attempt_not_begun_is_greeted(check, capsys):
    check(... if check is check_variance else lambda *inputs: ...)
    assert "nothing to check yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("check", "attempt", "message"),
    [
        (check_scaled_scores, lambda q, k: q @ k.T, "unscaled"),
        (check_scaled_scores, lambda q, k: q @ k.T / q.shape[-1], "divided by the width itself"),
        (check_scaled_scores, lambda q, k: q @ k.T * q.shape[-1] ** 0.5, "multiplied instead of divided"),
        (check_scaled_scores, lambda q, k: q @ k.T / len(k) ** 0.5, "root of the number of keys"),
        (check_scaled_scores, lambda q, k: q @ k.T / len(q) ** 0.5, "root of the number of queries"),
        (check_scaled_scores, lambda q, k: scaled(k, q), "turned"),
        (check_scaled_scores, lambda q, k: softmax(scaled(q, k)), "these are the weights"),
        (check_scaled_scores, lambda q, k: np.abs(scaled(q, k)), "wrong for"),
        (check_variance, 16, "components of variance 1"),
        (check_variance, 36, "variance of one product"),
        (check_variance, 24, "standard deviation"),
        (check_variance, 208, "are multiplied"),
        (check_variance, 96, "multiplied standard deviations"),
        (check_variance, 20736, "squared once too often"),
        (check_variance, 9216, "16 times one of them"),
        (check_variance, 100, "not 100: how large is it with one component"),
        (check_variance, "large", "wanted one number, got str"),
        (check_mended_weights, lambda q, k: softmax(q @ k.T / q.shape[-1]), "still divided by the width"),
        (check_mended_weights, lambda q, k: softmax(q @ k.T), "no longer divided"),
        (check_mended_weights, lambda q, k: softmax(q @ k.T) / q.shape[-1] ** 0.5, "after the softmax"),
        (check_mended_weights, lambda q, k: softmax(scaled(q, k), axis=0), "each column sums to one"),
        (check_mended_weights, lambda q, k: softmax(q @ k.T / len(k) ** 0.5), "root of the number of keys"),
        (check_mended_weights, scaled, "the softmax is lost"),
        (check_mended_weights, lambda q, k: softmax(-scaled(q, k)), "wrong for"),
        (check_entropy, lambda w: entropy(w) * math.log(2), "in nats"),
        (check_entropy, lambda w: -entropy(w), "negative"),
        (check_entropy, lambda w: surprise(w).sum(axis=0), "down the columns"),
        (check_entropy, lambda w: surprise(w).sum(), "one number for all rows"),
        (check_entropy, lambda w: surprise(w).mean(axis=-1), "the mean over the keys"),
        (check_entropy, surprise, "not summed"),
        (check_entropy, lambda w: -(w * np.log2(w)).sum(axis=-1), "NaN"),
        (check_entropy, lambda w: -np.log2(np.where(w > 0, w, 1)).sum(axis=-1), "not weighted"),
        (check_entropy, lambda w: w.max(axis=-1), r"wrong for \[\[0.5, 0.5\]\]: wanted \[1.0\], got \[0.5\]"),
        (check_right_divisor, lambda d, v: d**0.5, "plays no part"),
        (check_right_divisor, lambda d, v: d * v * v, "variance of the scores"),
        (check_right_divisor, lambda d, v: (d * v) ** 0.5, "only one of the two vectors"),
        (check_right_divisor, lambda d, v: d**0.5 / v, "divided by the variance"),
        (check_right_divisor, lambda d, v: d * v, "without a root"),
        (check_right_divisor, lambda d, v: d**0.5 * v * v, "taken for the standard deviation"),
        (check_right_divisor, lambda d, v: 1 / (v * d**0.5), "one over it"),
        (check_right_divisor, lambda d, v: 2 * v * d**0.5, "wrong for 1, 1.0: wanted 1.0, got 2.0"),
        (check_cosine_weights, lambda q, k, s: softmax(s * (q @ k.T)), "neither queries nor keys"),
        (check_cosine_weights, lambda q, k, s: softmax(s * (unit(q) @ k.T)), "the keys are as long"),
        (check_cosine_weights, lambda q, k, s: softmax(s * (q @ unit(k).T)), "the queries are as long"),
        (check_cosine_weights, lambda q, k, s: softmax(cosines(q, k) / s), "divided by `scale`"),
        (
            check_cosine_weights,
            lambda q, k, s: softmax(s * cosines(q, k) / q.shape[-1] ** 0.5),
            "divided by √d_k as well",
        ),
        (check_cosine_weights, lambda q, k, s: softmax(cosines(q, k)), "`scale` plays no part"),
        (
            check_cosine_weights,
            lambda q, k, s: softmax(s * (unit(q, axis=0) @ unit(k, axis=0).T)),
            "down the columns",
        ),
        (
            check_cosine_weights,
            lambda q, k, s: softmax(
                s * q @ k.T / (q**2).sum(-1, keepdims=True) / (k**2).sum(-1, keepdims=True).T
            ),
            "the root is missing",
        ),
        (check_cosine_weights, lambda q, k, s: s * cosines(q, k), "these are the scaled cosines"),
        (check_cosine_weights, lambda q, k, s: softmax(s * cosines(q, k), axis=0), "each column sums to one"),
        (check_cosine_weights, lambda q, k, s: softmax(-s * cosines(q, k)), "wrong for"),
    ],
)
def test_a_usual_slip_is_met_with_its_own_message(check, attempt, message):
    with pytest.raises(Slip, match=message), np.errstate(all="ignore"):
        check(attempt)

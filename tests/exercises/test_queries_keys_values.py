import math

import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.queries_keys_values import (
    check_attend,
    check_attend_in_batches,
    check_by_hand,
    check_kernel_regression,
    check_leave_one_out,
    check_mended,
    check_soft_lookup,
    check_symmetric,
)


def softmax(x, axis=-1):
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


def soft_lookup(query, key, value, sharpness):
    return softmax(sharpness * (key @ query)) @ value


def soft_lookup_in_loops(query, key, value, sharpness):
    shares = [math.exp(sharpness * sum(a * b for a, b in zip(query, row, strict=True))) for row in key]
    columns = range(value.shape[1])
    return [sum(s * row[c] for s, row in zip(shares, value, strict=True)) / sum(shares) for c in columns]


def attend(x, w_q, w_k, w_v, divisor=None, axis=-1):
    scores = x @ w_q @ (x @ w_k).T / (divisor or math.sqrt(w_q.shape[1]))
    return softmax(scores, axis) @ (x @ w_v)


def attend_in_torch(*inputs):
    x, w_q, w_k, w_v = (torch.tensor(array, dtype=torch.float32) for array in inputs)
    return torch.nn.functional.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v)


def mended(query, key, value, weigh=softmax):
    return weigh(query @ key.T / np.sqrt(query.shape[-1])) @ value


def mended_by_turning(query, key, value):
    return softmax(key @ query.T / np.sqrt(query.shape[-1]), axis=0).T @ value


def regression(x, keys, values, bandwidth):
    return softmax(-((x[:, None] - keys) ** 2) / (2 * bandwidth**2)) @ values


def regression_in_loops(x, keys, values, bandwidth):
    found = []
    for place in x:
        bells = [math.exp(-0.5 * ((place - key) / bandwidth) ** 2) for key in keys]
        found.append(sum(b * v for b, v in zip(bells, values, strict=True)) / sum(bells))
    return found


def left_out(keys, values, bandwidth):
    scores = -((keys[:, None] - keys) ** 2) / (2 * bandwidth**2)
    np.fill_diagonal(scores, -np.inf)
    return values - softmax(scores) @ values


def left_out_in_loops(keys, values, bandwidth):
    def miss(i):
        return values[i] - regression(keys[i : i + 1], np.delete(keys, i), np.delete(values, i), bandwidth)[0]

    return sum(miss(i) ** 2 for i in range(len(keys))) / len(keys)


def left_out_late(keys, values, bandwidth):
    weights = softmax(-((keys[:, None] - keys) ** 2) / (2 * bandwidth**2))
    np.fill_diagonal(weights, 0)
    return np.mean((values - weights @ values) ** 2)


def batched(query, key, value, axis=-1, divisor=None):
    scores = np.einsum("bqd,bkd->bqk", query, key) / (divisor or math.sqrt(query.shape[-1]))
    return softmax(scores, axis) @ value, softmax(scores, axis)


def batched_in_loops(query, key, value):
    pairs = [
        (softmax(q @ k.T / math.sqrt(q.shape[-1])), v) for q, k, v in zip(query, key, value, strict=True)
    ]
    return np.stack([weights @ v for weights, v in pairs]), np.stack([weights for weights, _ in pairs])


@pytest.mark.parametrize(
    ("check", "attempt"),
    [
        (check_by_hand, 17),
        (check_by_hand, np.float32(17.0)),
        (check_soft_lookup, soft_lookup),
        (check_soft_lookup, soft_lookup_in_loops),
        (check_symmetric, {"d", "a"}),
        (check_symmetric, frozenset("ad")),
        (check_attend, attend),
        (check_attend, attend_in_torch),
        (check_mended, mended),
        (check_mended, mended_by_turning),
        (check_kernel_regression, regression),
        (check_kernel_regression, regression_in_loops),
        (check_leave_one_out, lambda *points: np.mean(left_out(*points) ** 2)),
        (check_leave_one_out, left_out_in_loops),
        (check_attend_in_batches, batched),
        (check_attend_in_batches, batched_in_loops),
        (check_attend_in_batches, lambda *arrays: batched(*(a.astype(np.float32) for a in arrays))),
    ],
)
def test_a_right_answer_passes_however_it_is_written(check, attempt, capsys):
    check(attempt)
    assert "right" in capsys.readouterr().out


@pytest.mark.parametrize(
    "check",
    [
        check_by_hand,
        check_soft_lookup,
        check_symmetric,
        check_attend,
        check_mended,
        check_kernel_regression,
        check_leave_one_out,
        check_attend_in_batches,
    ],
)
def test_an_attempt_not_begun_is_greeted(check, capsys):
    check(... if check in (check_by_hand, check_symmetric) else lambda *inputs: ...)
    assert "nothing to check yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("check", "attempt", "message"),
    [
        (check_by_hand, 22, "the hard look-up"),
        (check_by_hand, 11, "the plain mean"),
        (check_by_hand, 187, "not divided by the sum"),
        (check_by_hand, 16.5, "weighted by the scores"),
        (check_by_hand, 17.6, "2 to the power 0 is 1"),
        (check_by_hand, float(softmax(np.array([3, 1, 0])) @ [22, 0, 11]), "with e instead of 2"),
        (check_by_hand, 5, "not 5. Write down the three powers"),
        (check_soft_lookup, lambda q, k, v, s: v[np.argmax(k @ q)], "the hard look-up"),
        (check_soft_lookup, lambda q, k, v, s: np.exp(s * (k @ q)) @ v, "do not sum to one"),
        (check_soft_lookup, lambda q, k, v, s: s * (k @ q) @ v, "weighted by the scores"),
        (check_soft_lookup, lambda q, k, v, s: k @ q @ v / (k @ q).sum(), "without the exponential"),
        (check_soft_lookup, lambda q, k, v, s: soft_lookup(q, k, v, 1), "`sharpness` plays no part"),
        (check_soft_lookup, lambda q, k, v, s: soft_lookup(q, k, v, 1 / s), "divided by `sharpness`"),
        (check_soft_lookup, lambda q, k, v, s: softmax(s * (k @ q)), "these are the weights"),
        (check_soft_lookup, lambda q, k, v, s: -soft_lookup(q, k, v, s), r"wrong for \[1.0\], \[\[2.0\]"),
        (check_symmetric, ["a", "d"], "wanted a set of letters"),
        (check_symmetric, {"a", "f"}, "wanted a set of letters"),
        (check_symmetric, {"a", "b", "d"}, r"\(b\) is not"),
        (check_symmetric, {"c", "d"}, r"\(c\) is not"),
        (check_symmetric, {"a", "d", "e"}, r"\(e\) is not"),
        (check_symmetric, {"d"}, r"\(a\) is missing"),
        (check_symmetric, {"a"}, r"\(d\) is missing"),
        (check_attend, lambda *inputs: attend(*inputs, divisor=1), "step 3 is missing"),
        (check_attend, lambda *inputs: attend(*inputs, divisor=inputs[1].shape[1]), "divided by d_k"),
        (check_attend, lambda *inputs: attend(*inputs, divisor=len(inputs[1]) ** 0.5), "by √d_model"),
        (check_attend, lambda x, q, k, v: attend(x, k, q, v), "have changed places"),
        (check_attend, lambda x, q, k, v: mended(x @ q, x @ k, x), "X itself is mixed"),
        (check_attend, lambda x, q, k, v: attend(x, q, k, k), "the keys are mixed"),
        (check_attend, lambda *inputs: attend(*inputs, axis=0), "step 4 runs down the columns"),
        (check_attend, lambda x, q, k, v: mended(x @ q, x @ k, np.eye(len(x))), "these are the weights"),
        (check_attend, lambda x, q, k, v: 2 * attend(x, q, k, v), "wrong for"),
        (check_attend, lambda x, q, k, v: q @ v, "stopped with ValueError"),
        (check_mended, lambda *qkv: mended(*qkv, lambda s: softmax(s, axis=0)), "still over the wrong axis"),
        (check_mended, lambda *qkv: mended(*qkv, lambda s: softmax(s, None)), "the whole matrix sums to one"),
        (check_mended, lambda *qkv: mended(*qkv, np.exp), "never divided by their sum"),
        (check_mended, lambda *qkv: mended(*qkv, np.array), "the softmax is gone"),
        (check_mended, lambda q, k, v: softmax(q @ k.T) @ v, "no longer divided by √d_k"),
        (check_mended, lambda *qkv: mended(*qkv) + 1, "wrong for"),
        (
            check_kernel_regression,
            lambda x, k, v, h: regression(x, k, v, math.sqrt(h)),
            "bandwidth is not squared",
        ),
        (check_kernel_regression, lambda x, k, v, h: regression(x, k, v, h / math.sqrt(2)), "the 2 in 2h²"),
        (check_kernel_regression, lambda x, k, v, h: regression(x, k, v, 1 / h), "multiplied by the bandw"),
        (
            check_kernel_regression,
            lambda x, k, v, h: softmax(-np.abs(x[:, None] - k) / (2 * h**2)) @ v,
            "distance is not squared",
        ),
        (check_kernel_regression, lambda x, k, v, h: softmax(np.outer(x, k) / h**2) @ v, "dot products"),
        (
            check_kernel_regression,
            lambda x, k, v, h: np.exp(-((x[:, None] - k) ** 2) / (2 * h**2)) @ v,
            "do not sum to one",
        ),
        (
            check_kernel_regression,
            lambda x, k, v, h: v[np.abs(x[:, None] - k).argmin(1)],
            "the nearest point's value",
        ),
        (check_kernel_regression, lambda x, k, v, h: np.full(len(x), v.mean()), r"wrong for \[0.0\]"),
        (
            check_leave_one_out,
            lambda k, v, h: np.mean((v - regression(k, k, v, h)) ** 2),
            "no point is hidden",
        ),
        (check_leave_one_out, left_out_late, "hidden after the softmax"),
        (check_leave_one_out, lambda *points: np.mean(left_out(*points)), "not squared"),
        (check_leave_one_out, lambda *points: np.sum(left_out(*points) ** 2), "summed"),
        (check_leave_one_out, lambda *points: np.sqrt(np.mean(left_out(*points) ** 2)), "the root of"),
        (check_leave_one_out, lambda *points: 0.0, r"wrong for \[0.0, 1.0\]"),
        (check_attend_in_batches, lambda *qkv: batched(*qkv, axis=-2), "runs over the queries"),
        (check_attend_in_batches, lambda *qkv: batched(*qkv, axis=0), "runs over the batch"),
        (check_attend_in_batches, lambda *qkv: batched(*qkv, divisor=1), "not divided by √d_k"),
        (
            check_attend_in_batches,
            lambda q, k, v: batched(q, np.stack([k[0]] * len(k)), np.stack([v[0]] * len(v))),
            "asked about the first one",
        ),
        (check_attend_in_batches, lambda *qkv: batched(*qkv)[0], "wanted two arrays"),
        (check_attend_in_batches, lambda *qkv: batched(*qkv)[::-1], "attended should have shape"),
        (check_attend_in_batches, lambda *qkv: (2 * batched(*qkv)[0], batched(*qkv)[1]), "wrong for"),
    ],
)
def test_each_slip_is_met_with_its_own_message(check, attempt, message):
    with pytest.raises(Slip, match=message):
        check(attempt)

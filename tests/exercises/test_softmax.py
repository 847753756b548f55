import math

import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.softmax import (
    check_log_softmax,
    check_longest_row,
    check_masked_softmax,
    check_mended_attention,
    check_softmax_gradient,
    check_stable_softmax,
    check_stream_step,
    check_temperature,
)


def normalised(exponentials):
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def stable(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def stable_in_loops(x):
    rows = []
    for row in np.atleast_2d(x):
        exponentials = [math.exp(score - max(row)) for score in row]
        rows.append([each / sum(exponentials) for each in exponentials])
    return np.reshape(rows, x.shape)


def stable_log(x):
    return x - np.logaddexp.reduce(x, axis=-1, keepdims=True)


def masked(x, attn_mask):
    weights = np.zeros_like(x)
    for row, allowed, out in zip(*map(np.atleast_2d, (x, attn_mask, weights)), strict=True):
        if allowed.any():
            out[allowed] = stable(row[allowed])
    return weights


def masked_in_torch(x, attn_mask):
    x = torch.tensor(x).masked_fill(~torch.tensor(attn_mask), -torch.inf)
    return x.softmax(-1).nan_to_num(0)


def filled(number):
    return lambda x, attn_mask: stable(np.where(attn_mask, x, number))


def gradient(grad_weights, weights):
    return weights * (grad_weights - np.einsum("...i,...i", weights, grad_weights)[..., None])


def gradient_with_the_matrix(grad_weights, weights):
    jacobian = weights[..., None] * (np.eye(weights.shape[-1]) - weights[..., None, :])
    return (jacobian @ grad_weights[..., None])[..., 0]


def stream_step(peak, total, block):
    for score in block:
        new = max(peak, score)
        peak, total = new, total * math.exp(peak - new) + math.exp(score - new)
    return peak, total


def attend(query, key, value, attn_mask):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    return masked(scores, attn_mask) @ value


def attend_renormalised(query, key, value, attn_mask):
    return normalised(stable(query @ key.T / math.sqrt(query.shape[-1])) * attn_mask) @ value


RIGHT = [
    (check_stable_softmax, stable),
    (check_stable_softmax, stable_in_loops),
    (check_stable_softmax, lambda x: torch.tensor(x).softmax(-1)),
    (check_stable_softmax, lambda x: stable(x.astype(np.float32))),
    (check_log_softmax, stable_log),
    (check_log_softmax, lambda x: torch.tensor(x).log_softmax(-1)),
    (check_masked_softmax, masked),
    (check_masked_softmax, masked_in_torch),
    (check_softmax_gradient, gradient),
    (check_softmax_gradient, gradient_with_the_matrix),
    (check_stream_step, stream_step),
    (check_stream_step, lambda *args: np.array(stream_step(*args))),
    (check_mended_attention, attend),
    (check_mended_attention, attend_renormalised),
    (check_temperature, 3 / math.log(2)),
    (check_temperature, 4.33),
    (check_longest_row, 149),
    (check_longest_row, np.int64(149)),
]

WRONG = [
    (check_stable_softmax, lambda x: normalised(np.exp(x)), r"exp\(1000\) is infinite"),
    (check_stable_softmax, lambda x: stable(x, axis=0), "each column sums to one"),
    (check_stable_softmax, lambda x: np.exp(x) / np.exp(x).sum(), "all rows together"),
    (check_stable_softmax, lambda x: np.exp(x - x.max(-1, keepdims=True)), "do not sum to one"),
    (check_stable_softmax, stable_log, r"wrong for \[0.5\]: wanted \[1.0\], got \[0.0\]"),
    (check_stable_softmax, lambda x: normalised(np.exp(x - x.max())), "largest score of all rows"),
    (check_stable_softmax, lambda x: normalised(np.exp(x - x.min(-1, keepdims=True))), "smallest score"),
    (
        check_stable_softmax,
        lambda x: normalised(np.exp(x - x.mean(-1, keepdims=True))),
        r"wrong for \[0.0, 2000.0\]",
    ),
    (check_stable_softmax, lambda x: stable(2 * x), r"wrong for \[1.0, 2.0\]: wanted \[0.269, 0.731\]"),
    (check_log_softmax, stable, "these are the weights"),
    (check_log_softmax, lambda x: np.log(stable(x)), "−∞ for a small weight"),
    (
        check_log_softmax,
        lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)),
        "sum of exponentials overflows",
    ),
    (check_log_softmax, lambda x: np.log(normalised(np.exp(x))), r"exp\(1000\) is infinite"),
    (check_log_softmax, lambda x: np.log(stable(x, axis=0)), "each column is normalised"),
    (check_log_softmax, lambda x: -stable_log(x), "sign is turned"),
    (check_log_softmax, lambda x: x - x.max(-1, keepdims=True), "logarithm of the sum is missing"),
    (check_log_softmax, lambda x: stable_log(x) / math.log(2), r"wrong for \[1.0, 2.0\]"),
    (check_masked_softmax, lambda x, attn_mask: stable(x), "plays no part"),
    (check_masked_softmax, lambda x, attn_mask: masked(x, ~attn_mask), "mask is turned"),
    (check_masked_softmax, lambda x, attn_mask: stable(x) * attn_mask, "masked after the softmax"),
    (check_masked_softmax, filled(0.0), "a score of zero"),
    (check_masked_softmax, filled(-1e9), "leaks"),
    (check_masked_softmax, filled(-1e4), "leaks"),
    (check_masked_softmax, filled(np.finfo(float).min / 2), "evenly to what is forbidden"),
    (check_masked_softmax, filled(-np.inf), "NaN for a query"),
    (
        check_masked_softmax,
        lambda x, attn_mask: masked(x, attn_mask | ~attn_mask.any(-1, keepdims=True)),
        "as if there were no mask",
    ),
    (check_softmax_gradient, lambda grad, weights: weights * (1 - weights) * grad, "only the diagonal"),
    (check_softmax_gradient, lambda grad, weights: weights * grad, "weighted mean is not subtracted"),
    (
        check_softmax_gradient,
        lambda grad, weights: weights * (grad - grad.mean(-1, keepdims=True)),
        "plain mean",
    ),
    (
        check_softmax_gradient,
        lambda grad, weights: weights * (grad - grad.sum(-1, keepdims=True)),
        "plain sum",
    ),
    (
        check_softmax_gradient,
        lambda grad, weights: grad - (weights * grad).sum(-1, keepdims=True),
        "factor is missing",
    ),
    (check_softmax_gradient, lambda grad, weights: -gradient(grad, weights), "sign is turned"),
    (
        check_softmax_gradient,
        lambda grad, weights: weights * (grad - (weights * grad).sum()),
        "mean is over all rows",
    ),
    (
        check_stream_step,
        lambda peak, total, block: (
            max(peak, block.max()),
            total + np.exp(block - max(peak, block.max())).sum(),
        ),
        "not rescaled",
    ),
    (
        check_stream_step,
        lambda peak, total, block: (
            block.max(),
            total * np.exp(peak - block.max()) + np.exp(block - block.max()).sum(),
        ),
        "old peak is forgotten",
    ),
    (check_stream_step, lambda peak, total, block: (peak, total + np.exp(block - peak).sum()), "not raised"),
    (
        check_stream_step,
        lambda peak, total, block: (max(peak, block.max()), total + np.exp(block).sum()),
        "overflows",
    ),
    (check_stream_step, lambda *args: stream_step(*args)[::-1], "other way round"),
    (
        check_stream_step,
        lambda peak, total, block: (
            max(peak, block.max()),
            np.exp(block - max(peak, block.max())).sum(),
        ),
        "total so far is forgotten",
    ),
    (
        check_stream_step,
        lambda peak, total, block: (
            max(peak, block.max()),
            (total * np.exp(max(peak, block.max()) - peak) if total else 0.0)
            + np.exp(block - max(peak, block.max())).sum(),
        ),
        "wrong way",
    ),
    (
        check_mended_attention,
        lambda query, key, value, attn_mask: (
            stable(query @ key.T / math.sqrt(query.shape[-1]), axis=0) * attn_mask @ value
        ),
        "two bugs",
    ),
    (
        check_mended_attention,
        lambda query, key, value, attn_mask: (
            stable(query @ key.T / math.sqrt(query.shape[-1])) * attn_mask @ value
        ),
        "masked after the softmax",
    ),
    (
        check_mended_attention,
        lambda query, key, value, attn_mask: (
            masked((query @ key.T).T / math.sqrt(query.shape[-1]), attn_mask.T).T @ value
        ),
        "over the queries",
    ),
    (
        check_mended_attention,
        lambda query, key, value, attn_mask: masked(query @ key.T, attn_mask) @ value,
        "no longer divided",
    ),
    (
        check_mended_attention,
        lambda query, key, value, attn_mask: attend(query, key, value, np.ones_like(attn_mask)),
        "plays no part",
    ),
    (
        check_mended_attention,
        lambda query, key, value, attn_mask: attend(query, key, value, ~attn_mask),
        "mask is turned",
    ),
    (check_temperature, math.log(2) / 3, "upside down"),
    (check_temperature, 1.5, "exp of that"),
    (check_temperature, 2.079, "multiplied"),
    (check_temperature, 3 / math.log10(2), "base ten"),
    (check_temperature, 3, "logarithm of 2 is not 1"),
    (check_temperature, 10.043, "stands inside exp"),
    (check_temperature, 6, "at temperature 6 the odds are 1.65 to 1, wanted 2 to 1"),
    (check_temperature, -1, "above zero, got -1"),
    (check_temperature, "4.33", "wanted one number, got str"),
    (check_longest_row, 148, "winner is a key too"),
    (check_longest_row, 150, "one too many"),
    (check_longest_row, math.exp(5), "that many rivals"),
    (check_longest_row, math.exp(5) + 1, "keys come whole"),
    (check_longest_row, 10, "not five times"),
    (check_longest_row, 32, "by e, not by 2"),
    (check_longest_row, 297, "count them once"),
    (check_longest_row, 75, "among 75 keys the winner has a weight of 0.667"),
    (check_longest_row, 0, "at least one key, got 0"),
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

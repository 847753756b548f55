import math

import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.transformer_block import (
    check_dropped,
    check_gradient_factor,
    check_layer_norm,
    check_mended_block,
    check_norm_gradient,
    check_number_of_parameters,
    check_row_spread,
)


def normed(x, scale, shift, *, over=None, inside=1e-5, outside=0.0, axis=-1):
    centred = x - x.mean(axis=axis, keepdims=True)
    count = centred.size if axis is None else centred.shape[axis]
    variance = (centred**2).sum(axis=axis, keepdims=True) / (over or count)
    return scale * centred / (np.sqrt(variance + inside) + outside) + shift


def normed_in_loops(x, scale, shift):
    rows = []
    for row in x:
        mean = sum(row) / len(row)
        root = math.sqrt(sum((number - mean) ** 2 for number in row) / len(row) + 1e-5)
        rows.append([a * (n - mean) / root + b for n, a, b in zip(row, scale, shift, strict=True)])
    return rows


def normed_in_torch(x, scale, shift):
    x, scale, shift = (torch.tensor(each) for each in (x, scale, shift))
    return torch.nn.functional.layer_norm(x, x.shape[-1:], scale, shift)


def pre_norm(x, norm, look, work):
    x = x + look(norm(x))
    return x + work(norm(x))


def pre_norm_on_one_line(x, norm, look, work):
    return (y := x + look(norm(x))) + work(norm(y))


def every(step):
    return lambda x, norm, look, work: step(step(x, norm, look), norm, work)


def both_parts(grad, x):
    centred = x - x.mean(axis=-1, keepdims=True)
    root = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    along = centred / root * (grad * centred / root).mean(axis=-1, keepdims=True)
    return grad.mean(axis=-1, keepdims=True), along, root


def norm_gradient(grad, x):
    mean, along, root = both_parts(grad, x)
    return (grad - mean - along) / root


def norm_gradient_by_autograd(grad, x):
    leaf = torch.tensor(x, requires_grad=True)
    torch.nn.functional.layer_norm(leaf, leaf.shape[-1:]).backward(torch.tensor(grad))
    return leaf.grad


def norm_gradient_by_jacobian(grad, x):
    rows = []
    for above, row in zip(grad, x, strict=True):
        leaf = torch.tensor(row)
        jacobian = torch.func.jacrev(lambda leaf: torch.nn.functional.layer_norm(leaf, leaf.shape))(leaf)
        rows.append((torch.tensor(above) @ jacobian).numpy())
    return rows


RIGHT = [
    (check_layer_norm, normed),
    (check_layer_norm, normed_in_loops),
    (check_layer_norm, normed_in_torch),
    (check_gradient_factor, 1.05**24),
    (check_gradient_factor, 3.23),
    (check_gradient_factor, np.float32(3.2251)),
    (check_mended_block, pre_norm),
    (check_mended_block, pre_norm_on_one_line),
    (check_mended_block, every(lambda x, norm, sublayer: sublayer(norm(x)) + x)),
    (check_number_of_parameters, 600),
    (check_number_of_parameters, 600.0),
    (check_number_of_parameters, np.int64(600)),
    (check_dropped, lambda x, kept, p: x * kept / (1 - p)),
    (check_dropped, lambda x, kept, p: np.where(kept, x / (1 - p), 0)),
    (check_dropped, lambda x, kept, p: torch.tensor(x).masked_fill(~torch.tensor(kept), 0) / (1 - p)),
    (check_row_spread, 0.25),
    (check_row_spread, 0.2503),
    (check_row_spread, torch.tensor(0.25).item()),
    (check_norm_gradient, norm_gradient),
    (check_norm_gradient, norm_gradient_by_autograd),
    (check_norm_gradient, norm_gradient_by_jacobian),
]
NUMBERS = (check_gradient_factor, check_number_of_parameters, check_row_spread)


@pytest.mark.parametrize(("check", "attempt"), RIGHT)
def test_a_right_answer_passes_however_it_is_written(check, attempt, capsys):
    check(attempt)
    assert "right" in capsys.readouterr().out


@pytest.mark.parametrize("check", dict.fromkeys(check for check, _ in RIGHT))
def test_an_attempt_not_begun_is_greeted(check, capsys):
    check(... if check in NUMBERS else lambda *inputs: ...)
    assert "nothing to check yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("check", "attempt", "message"),
    [
        (check_layer_norm, lambda x, a, b: normed(x, a, b, over=x.shape[-1] - 1), "^divided by d − 1"),
        (check_layer_norm, lambda x, a, b: normed(x, a, b, inside=0, outside=1e-5), "^ε stands beside"),
        (
            check_layer_norm,
            lambda x, a, b: normed(x, a, b, over=x.shape[-1] - 1, inside=0, outside=1e-5),
            "two slips at once",
        ),
        (check_layer_norm, lambda x, a, b: normed(x, a, b, inside=0), "NaN"),
        (
            check_layer_norm,
            lambda x, a, b: a * (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) + b,
            "the root is missing",
        ),
        (check_layer_norm, lambda x, a, b: normed(x, a, b, axis=0), "down the columns"),
        (check_layer_norm, lambda x, a, b: normed(x, a, b, axis=None), "for all words"),
        (check_layer_norm, lambda x, a, b: normed(x, 1, 0), "play no part"),
        (check_layer_norm, lambda x, a, b: normed(a * x + b, 1, 0), "before it is normalised"),
        (check_layer_norm, lambda x, a, b: normed(x, -a, b), "wrong for"),
        (check_gradient_factor, 0.05**24, "without residual connections"),
        (check_gradient_factor, 1.05**12, "two sublayers"),
        (check_gradient_factor, 2.2, "at most one sublayer"),
        (check_gradient_factor, 1.1**12, "their product counts"),
        (check_gradient_factor, 0.95**24, "not taken from it"),
        (check_gradient_factor, 2 * 1.05**12, "not twice the product"),
        (check_gradient_factor, 7, "not 7"),
        (check_gradient_factor, "much", "wanted one number, got str"),
        (check_mended_block, every(lambda x, norm, f: norm(x) + f(norm(x))), "straight path carries"),
        (check_mended_block, every(lambda x, norm, f: norm(x + f(x))), "that is post-norm"),
        (check_mended_block, every(lambda x, norm, f: f(norm(x))), "nothing is added"),
        (check_mended_block, every(lambda x, norm, f: x + f(x)), "no norm is left"),
        (check_mended_block, every(lambda x, norm, f: x + norm(f(x))), "it belongs in front"),
        (
            check_mended_block,
            lambda x, norm, look, work: (y := norm(x + look(norm(x)))) + work(y),
            "still wrong",
        ),
        (
            check_mended_block,
            lambda x, norm, look, work: x + look(norm(x)) + work(norm(x)),
            "read the same words",
        ),
        (check_mended_block, every(lambda x, norm, f: x - f(norm(x))), "wrong for"),
        (check_number_of_parameters, 544, "the biases are missing"),
        (check_number_of_parameters, 568, "32 are missing"),
        (check_number_of_parameters, 576, "biases of the feed-forward"),
        (check_number_of_parameters, 584, "half of that is missing"),
        (check_number_of_parameters, 512, "biases and norms are missing"),
        (check_number_of_parameters, 528, "one projection"),
        (check_number_of_parameters, 288, "attention alone"),
        (check_number_of_parameters, 280, "feed-forward network alone"),
        (check_number_of_parameters, 904, "decoder layer"),
        (check_number_of_parameters, 1, "not 1: count"),
        (check_dropped, lambda x, kept, p: x * kept, "not scaled up"),
        (check_dropped, lambda x, kept, p: x * kept / p, "divided by p"),
        (check_dropped, lambda x, kept, p: x * kept * (1 - p), "made smaller"),
        (check_dropped, lambda x, kept, p: x * ~kept / (1 - p), "the dropped are kept"),
        (check_dropped, lambda x, kept, p: x * kept / kept.mean(), "happened to be kept"),
        (check_dropped, lambda x, kept, p: x / (1 - p), "nothing is dropped"),
        (check_dropped, lambda x, kept, p: -x * kept / (1 - p), "wrong for"),
        (check_row_spread, 0.0625, "that is the variance"),
        (check_row_spread, math.sqrt(0.05), "not p"),
        (check_row_spread, 0.05, "squared weights times p"),
        (check_row_spread, 0.5, "alone: the weights play a part"),
        (check_row_spread, 1, "that is the mean"),
        (check_row_spread, 0.125, "how one weight varies"),
        (check_row_spread, 0.2, "do not make up"),
        (check_row_spread, 9, "not 9"),
        (check_norm_gradient, lambda g, x: g / both_parts(g, x)[2], "taken as constants"),
        (
            check_norm_gradient,
            lambda g, x: (g - both_parts(g, x)[0]) / both_parts(g, x)[2],
            "the variance is taken",
        ),
        (
            check_norm_gradient,
            lambda g, x: (g - both_parts(g, x)[1]) / both_parts(g, x)[2],
            "the mean is taken",
        ),
        (
            check_norm_gradient,
            lambda g, x: norm_gradient(g, x) * both_parts(g, x)[2],
            "not divided by the root",
        ),
        (
            check_norm_gradient,
            lambda g, x: norm_gradient(g, x) * both_parts(g, x)[2] ** 2,
            "multiplied by the root",
        ),
        (
            check_norm_gradient,
            lambda g, x: norm_gradient(g, x) - 3 * both_parts(g, x)[1] / both_parts(g, x)[2],
            "summed, not averaged",
        ),
        (
            check_norm_gradient,
            lambda g, x: 2 * g / both_parts(g, x)[2] - norm_gradient(g, x),
            "the sign of a part",
        ),
        (check_norm_gradient, lambda g, x: 2 * norm_gradient(g, x), "wrong for"),
    ],
)
def test_a_usual_slip_is_met_with_its_own_message(check, attempt, message):
    with pytest.raises(Slip, match=message), np.errstate(all="ignore"):
        check(attempt)

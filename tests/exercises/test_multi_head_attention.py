import itertools
import math

import numpy as np
import pytest
import torch

from glassformer.data.questions import QuestionTask, all_right_rate
from glassformer.exercises.checking import Slip
from glassformer.exercises.multi_head_attention import (
    check_best_guess,
    check_contributions,
    check_mended_heads,
    check_merge,
    check_parameters,
    check_sharpness,
)
from glassformer.modules.attention import MultiHeadAttention
from glassformer.reference.heads import multi_head_attention


def merge(x):
    return np.concatenate(list(x), axis=-1)


def contributions(attended, output_weight):
    width = attended.shape[-1]
    return np.stack([head @ output_weight[i * width : (i + 1) * width] for i, head in enumerate(attended)])


def contributions_by_einsum(attended, output_weight):
    heads, _, width = attended.shape
    return np.einsum("htd,hdm->htm", attended, output_weight.reshape(heads, width, -1))


def contributions_by_zeros(attended, output_weight):
    parts = np.zeros((len(attended), *attended.shape))
    for i, head in enumerate(attended):
        parts[i, i] = head
    return np.stack([merge(part) @ output_weight for part in parts])


def softmax(x):
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def attend_in_a_loop(query, key, value, num_heads, divisor=None, cut=None, glue=merge):
    cut = cut or (lambda x: np.split(x, num_heads, axis=-1))
    divisor = math.sqrt(query.shape[-1] / num_heads) if divisor is None else divisor
    heads = [softmax(q @ k.T / divisor) @ v for q, k, v in zip(*map(cut, (query, key, value)), strict=True)]
    return glue(np.stack(heads))


def attend_in_torch(query, key, value, num_heads):
    pieces = (torch.tensor(x).unflatten(-1, (num_heads, -1)).transpose(0, 1) for x in (query, key, value))
    return torch.nn.functional.scaled_dot_product_attention(*pieces).transpose(0, 1).flatten(1)


def attend_wrong(divisor=None, cut=False, glue=False):
    """Attend with some of the slips."""

    def run(query, key, value, num_heads):
        return attend_in_a_loop(
            query,
            key,
            value,
            num_heads,
            divisor=divisor and divisor(query.shape[-1]),
            cut=(lambda x: x.reshape(num_heads, len(x), -1)) if cut else None,
            glue=(lambda x: x.reshape(x.shape[1], -1)) if glue else merge,
        )

    return run


RIGHT = [
    (check_merge, merge),
    (check_merge, lambda x: x.transpose(1, 0, 2).reshape(x.shape[1], -1)),
    (check_merge, lambda x: torch.tensor(x).transpose(0, 1).flatten(1)),
    (check_contributions, contributions),
    (check_contributions, contributions_by_einsum),
    (check_contributions, contributions_by_zeros),
    (check_mended_heads, attend_in_a_loop),
    (check_mended_heads, attend_in_torch),
    (check_parameters, 1_050_624),
    (check_parameters, 4 * (512 * 512 + 512)),
    (check_best_guess, 20 / 64),
    (check_best_guess, 0.3125),
    (check_best_guess, np.float64(0.31)),
    (check_sharpness, 4),
    (check_sharpness, 4.0),
    (check_sharpness, np.int64(4)),
]

WRONG = [
    (check_merge, lambda x: x.reshape(x.shape[1], -1), "without turning the axes"),
    (check_merge, lambda x: np.moveaxis(x, 0, -1).reshape(x.shape[1], -1), "alternate"),
    (check_merge, lambda x: sum(x), "added up"),
    (check_merge, lambda x: x.mean(0), "averaged"),
    (check_merge, lambda x: np.swapaxes(x, 0, 1), "two of them still have to become one"),
    (check_merge, lambda x: np.concatenate(list(x)), "one below the other"),
    (check_merge, lambda x: np.concatenate(list(x)[::-1], axis=-1), "reverse order"),
    (check_merge, lambda x: 2 * merge(x), r"wrong for \[\[\[1.0, 2.0\]\]\]: wanted \[\[1.0, 2.0\]\]"),
    (check_contributions, lambda a, w: merge(a) @ w, "their sum"),
    (check_contributions, lambda a, w: contributions(a, w) / len(a), "the mean"),
    (check_contributions, lambda a, w: contributions(a, w.T), "across its columns"),
    (
        check_contributions,
        lambda a, w: np.stack(np.split(merge(a) @ w, len(a), axis=-1)),
        "finished output is cut",
    ),
    (
        check_contributions,
        lambda a, w: np.stack([head @ w[i :: len(a)] for i, head in enumerate(a)]),
        "by turns",
    ),
    (check_contributions, lambda a, w: a @ w[: a.shape[-1]], "rows of its own"),
    (check_mended_heads, attend_wrong(math.sqrt, cut=True, glue=True), "both bugs"),
    (check_mended_heads, attend_wrong(cut=True, glue=True), "still cut with a reshape alone"),
    (check_mended_heads, attend_wrong(glue=True), "cut rightly, but glued"),
    (check_mended_heads, attend_wrong(cut=True), "glued rightly, but cut"),
    (check_mended_heads, attend_wrong(math.sqrt), "root of d_model"),
    (check_mended_heads, attend_wrong(lambda width: 1), "no longer divided"),
    (check_mended_heads, attend_wrong(math.sqrt, glue=True), "glued with a reshape alone, divided by"),
    (check_mended_heads, lambda q, k, v, num_heads: attend_in_a_loop(q, k, v, 1), "plays no part"),
    (check_parameters, 1_048_576, "biases are missing"),
    (check_parameters, 8 * 1_050_624, "once for each head"),
    (check_parameters, 8 * 1_048_576, "once for each head"),
    (check_parameters, 786_432, "W_O comes after"),
    (check_parameters, 787_968, "W_O comes after"),
    (check_parameters, 131_328, "one head's share"),
    (check_parameters, 7, "do not have 7"),
    (check_parameters, "many", "wanted one number, got str"),
    (check_best_guess, 1 / 64, "blind guessing"),
    (check_best_guess, 1 / 6, "too many where two"),
    (check_best_guess, 0.625, "for two questions"),
    (check_best_guess, 1 / 20, "how many ordered answers"),
    (check_best_guess, 0.0625, "in any mixture"),
    (check_best_guess, 0.375, "all three values differ"),
    (check_best_guess, 0.125, "lists with two equal values are missing"),
    (check_best_guess, 0.5, "not 0.5: count the mixtures"),
    (check_best_guess, 20, "between 0 and 1, got 20"),
    (check_sharpness, 2, r"divided by √d_k, and here d_k is 8"),
    (check_sharpness, 6, "root of d_model"),
    (check_sharpness, 5, "itself not among them"),
    (check_sharpness, 12, "exp, not a product"),
    (check_sharpness, 3, "outweigh"),
    (check_sharpness, math.sqrt(8) * math.log(4), "next whole number"),
    (check_sharpness, 30, r"by 4.04e\+04 to 1"),
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


def test_the_wanted_number_of_parameters_is_what_the_module_has():
    check_parameters(sum(weight.numel() for weight in MultiHeadAttention(512, 8).parameters()))


def test_the_wanted_share_is_what_the_best_guess_for_each_mixture_reaches():
    answers = list(itertools.product(range(4), repeat=3))
    mixtures = {tuple(sorted(answer)) for answer in answers}
    check_best_guess(len(mixtures) / len(answers))


@pytest.mark.parametrize(("sharpness", "never_wrong"), [(3, False), (4, True)])
def test_the_wanted_sharpness_is_the_smallest_that_is_never_wrong(sharpness, never_wrong):
    task = QuestionTask(num_pairs=5, num_symbols=8, num_values=8)
    batch = task.sample(1000, np.random.default_rng(0))
    batch.value_ids[:] = 0
    for row, place in enumerate((batch.key_ids == batch.asked_ids[:, :1]).argmax(axis=-1)):
        batch.value_ids[row, place] = 1  # all rivals share one value: nothing is harder
    wanted_ids = np.stack([np.ones(1000), np.zeros(1000)], axis=-1).astype(int)
    question, pairs = (cards.astype(float) for cards in task.cards(batch))
    both, none = np.eye(8), np.zeros((8, 8))
    output, _ = multi_head_attention(
        question,
        pairs,
        pairs,
        num_heads=2,
        query_weight=sharpness * np.eye(16),
        key_weight=np.block([[both, both], [none, none]]),
        value_weight=np.block([[none, none], [both, both]]),
        output_weight=np.eye(16),
    )
    predicted_ids = output.reshape(-1, 2, 8).argmax(axis=-1)
    assert (all_right_rate(predicted_ids, batch._replace(wanted_ids=wanted_ids)) == 1) == never_wrong

import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.looking_inside import (
    check_agreement,
    check_log_odds_without_the_word,
    check_looked_at,
    check_mended_saliency,
    check_occlude,
    check_saliency,
    check_without_head,
)


def looked_at_in_a_loop(weights):
    return np.array([np.argmax(sum(head[row] for head in weights)) for row in range(weights.shape[1])])


def without_head(attended, output_weight, head):
    kept = attended.copy()
    kept[head] = 0
    return np.concatenate(list(kept), axis=-1) @ output_weight


def without_head_by_rows(attended, output_weight, head):
    width = attended.shape[-1]
    blocks = [output_weight[i * width : (i + 1) * width] for i in range(len(attended))]
    return sum(a @ block for i, (a, block) in enumerate(zip(attended, blocks, strict=True)) if i != head)


def all_heads(attended, output_weight):
    return np.concatenate(list(attended), axis=-1) @ output_weight


def without_position(attended, output_weight, position):
    kept = attended.copy()
    kept[:, position] = 0
    return all_heads(kept, output_weight)


def with_mean_head(attended, output_weight, head):
    kept = attended.copy()
    kept[head] = attended.mean(0)
    return all_heads(kept, output_weight)


def occlude(score, ids, blank, cover=None):
    falls = []
    for place in range(len(ids)):
        covered = ids.copy()
        covered[cover(place) if cover else place] = blank
        falls.append(score(ids) - score(covered))
    return np.array(falls)


def occlude_for_good(score, ids, blank):
    covered, falls = ids.copy(), []
    for place in range(len(ids)):
        covered[place] = blank
        falls.append(score(ids) - score(covered))
    return falls


def occlude_in_place(score, ids, blank):
    falls = []
    for place in range(len(ids)):
        before = score(ids)
        ids[place] = blank
        falls.append(before - score(ids))
    return falls


def occlude_the_rest(score, ids, blank):
    kept = [np.where(np.arange(len(ids)) == place, ids, blank) for place in range(len(ids))]
    return [score(ids) - score(each) for each in kept]


def mended(model, vectors, may_look, mode=False, mask=True, hand_back=True):
    was_training = model.training
    model.train(mode)
    start = vectors.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(start, may_look if mask else None), start)
    if hand_back:
        model.train(was_training)
    return (gradient * vectors).sum(-1)


def mended_by_backward(model, vectors, may_look):
    model.eval()
    start = vectors.detach().clone().requires_grad_(True)
    model(start, may_look).backward()
    model.train()
    return torch.einsum("td,td->t", start.grad, vectors)


def agreement(first, second, is_word):
    same = [
        np.argmax(one[words]) == np.argmax(other[words])
        for one, other, words in zip(first, second, is_word, strict=True)
    ]
    return np.mean(same)


def masked_agreement(first, second, is_word):
    places = [np.ma.array(numbers, mask=~is_word).argmax(axis=-1) for numbers in (first, second)]
    return float((places[0] == places[1]).mean())


RIGHT = [
    (check_looked_at, lambda weights: weights.mean(0).argmax(-1)),
    (check_looked_at, looked_at_in_a_loop),
    (check_looked_at, lambda weights: torch.tensor(weights).sum(0).argmax(-1)),
    (check_without_head, without_head),
    (check_without_head, without_head_by_rows),
    (check_occlude, occlude),
    (check_occlude, lambda score, ids, blank: list(occlude(score, ids, blank))),
    (check_saliency, lambda vectors, gradients: (vectors * gradients).sum(-1)),
    (check_saliency, lambda vectors, gradients: np.einsum("td,td->t", vectors, gradients)),
    (check_saliency, lambda vectors, gradients: np.diag(vectors @ gradients.T)),
    (check_log_odds_without_the_word, -3 / 7),
    (check_log_odds_without_the_word, -0.43),
    (check_mended_saliency, mended),
    (check_mended_saliency, mended_by_backward),
    (check_agreement, agreement),
    (check_agreement, masked_agreement),
]

WRONG = [
    (check_looked_at, lambda weights: weights.mean(0).argmax(0), "down the columns"),
    (check_looked_at, lambda weights: weights.argmax(-1), "each head for itself"),
    (check_looked_at, lambda weights: weights.max(0).argmax(-1), "of any head"),
    (check_looked_at, lambda weights: weights[0].argmax(-1), "only the first head"),
    (
        check_looked_at,
        lambda weights: [np.bincount(choice).argmax() for choice in weights.argmax(-1).T],
        "heads voted",
    ),
    (check_looked_at, lambda weights: weights.mean(0).max(-1), "these are the weights"),
    (check_looked_at, lambda weights: weights.mean(0).argmin(-1), "wrong for"),
    (check_without_head, lambda a, w, head: all_heads(a, w), "nothing is switched off"),
    (check_without_head, lambda a, w, head: all_heads(a, w) - without_head(a, w, head), "only this head"),
    (check_without_head, without_position, "a position is switched off"),
    (check_without_head, with_mean_head, "the mean of all heads"),
    (
        check_without_head,
        lambda a, w, head: without_head(a, w, head) * len(a) / (len(a) - 1),
        "make up for it",
    ),
    (check_occlude, lambda score, ids, blank: -occlude(score, ids, blank), "sign is turned"),
    (check_occlude, occlude_for_good, "the blanks add up"),
    (check_occlude, occlude_in_place, "changed its input"),
    (check_occlude, occlude_the_rest, "all others are covered"),
    (
        check_occlude,
        lambda score, ids, blank: [score(ids) - score(np.delete(ids, i)) for i in range(len(ids))],
        "taken out",
    ),
    (
        check_occlude,
        lambda score, ids, blank: score(ids) - occlude(score, ids, blank),
        "the score that is left",
    ),
    (check_occlude, lambda score, ids, blank: 2 * occlude(score, ids, blank), "wrong for"),
    (check_saliency, lambda vectors, gradients: gradients.sum(-1), "the gradients alone"),
    (check_saliency, lambda vectors, gradients: np.sqrt((gradients**2).sum(-1)), "length of the gradient"),
    (check_saliency, lambda vectors, gradients: abs(vectors * gradients).sum(-1), "before the sum"),
    (check_saliency, lambda vectors, gradients: abs((vectors * gradients).sum(-1)), "at the end"),
    (check_saliency, lambda vectors, gradients: (vectors * gradients).mean(-1), "the mean"),
    (check_saliency, lambda vectors, gradients: (vectors * gradients).sum(0), "over the tokens"),
    (check_saliency, lambda vectors, gradients: vectors * gradients, "not summed yet"),
    (check_log_odds_without_the_word, -0.3, "sum to one again"),
    (check_log_odds_without_the_word, 0.3, "with the word"),
    (check_log_odds_without_the_word, 0.6, "what the word itself said"),
    (check_log_odds_without_the_word, 0.3 / 0.7, "vote for"),
    (check_log_odds_without_the_word, -0.75, "even weights"),
    (check_log_odds_without_the_word, 7, "not 7: divide"),
    (check_mended_saliency, lambda m, v, a: mended(m, v, a, mode=True, mask=False), "both bugs"),
    (check_mended_saliency, lambda m, v, a: mended(m, v, a, mask=False), "mask is forgotten"),
    (check_mended_saliency, lambda m, v, a: mended(m, v, a, mode=True), "still in training mode"),
    (check_mended_saliency, lambda m, v, a: mended(m, v, a, hand_back=False), "hand it back"),
    (check_mended_saliency, lambda m, v, a: mended(m, v, a).abs(), "wrong: wanted"),
    (check_mended_saliency, lambda m, v, a: mended(m, v, a).sum(), r"each of 6 tokens, got shape \(\)"),
    (check_mended_saliency, lambda m, v, a: 3, "each of 6 tokens, got int"),
    (check_agreement, lambda a, b, w: np.mean(a.argmax(-1) == b.argmax(-1)), "padding takes part"),
    (check_agreement, lambda a, b, w: agreement(a * w, b * w, np.ones_like(w)), "set to zero"),
    (check_agreement, lambda a, b, w: agreement(a, b, w) * len(a), "a count"),
    (check_agreement, lambda a, b, w: 1 - agreement(a, b, w), "how often they differ"),
    (check_agreement, lambda a, b, w: np.corrcoef(a[w], b[w])[0, 1], "a correlation"),
    (check_agreement, lambda a, b, w: agreement(-a, -b, w), "the smallest numbers"),
]


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_a_right_answer_passes(check, answer, capsys):
    check(answer)
    assert "✔" in capsys.readouterr().out


@pytest.mark.parametrize(("check", "answer", "message"), WRONG)
def test_a_wrong_answer_is_told_its_slip(check, answer, message):
    with pytest.raises(Slip, match=message):
        check(answer)


@pytest.mark.parametrize(
    "check", dict.fromkeys(check for check, _ in RIGHT), ids=lambda check: check.__name__
)
def test_what_is_not_begun_is_greeted(check, capsys):
    check(...)
    assert "◦" in capsys.readouterr().out


def test_every_slip_has_a_message_of_its_own():
    told = []
    for check, answer, _ in WRONG:
        with pytest.raises(Slip) as caught:
            check(answer)
        told.append(str(caught.value))
    assert len(set(told)) == len(told)

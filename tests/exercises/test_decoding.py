from collections import Counter

import numpy as np
import pytest
import torch

from glassformer.exercises import decoding as exercises
from glassformer.exercises.checking import Slip

END = 2


def greedy_step(logits, ended):
    return np.where(ended, 0, logits.argmax(axis=-1))


def softmax(x):
    exponentials = np.exp(x - x.max())
    return exponentials / exponentials.sum()


def next_probabilities(logits, temperature, top_p):
    probabilities = softmax(logits / temperature)
    kept, together = np.zeros(len(logits)), 0.0
    for id in np.argsort(-probabilities):
        if together >= top_p:
            break
        kept[id] = probabilities[id]
        together += probabilities[id]
    return kept / kept.sum()


def drawn_from(kept, heat=lambda x, t: softmax(x / t), share=True):
    """Make a wrong answer: which of the sorted words are kept, given their probabilities and sums."""

    def attempt(logits, temperature, top_p):
        probabilities = heat(logits, temperature)
        order = np.argsort(-probabilities)
        chosen = order[kept(probabilities[order], probabilities[order].cumsum(), top_p)]
        left = np.zeros(len(logits))
        left[chosen] = probabilities[chosen]
        return left / left.sum() if share else left

    return attempt


def reaching(each, together, top_p):
    return together - each < top_p


def cold_set(logits, temperature, top_p):
    kept = next_probabilities(logits, 1, top_p) > 0
    left = np.where(kept, softmax(logits / temperature), 0)
    return left / left.sum()


def scores(log_probabilities, lengths, alpha):
    return log_probabilities / ((5 + lengths) / 6) ** alpha


def beam_step(ids, totals, log_probs, beam_size, num_ended):
    grown = [
        (totals[beam] + log_probs[beam, token], [*ids[beam], token])
        for beam in range(len(ids))
        for token in range(log_probs.shape[1])
    ]
    grown.sort(key=lambda one: -one[0])
    kept = grown[: beam_size - num_ended]
    return np.array([words for _, words in kept]), np.array([total for total, _ in kept])


def beam_step_in_torch(ids, totals, log_probs, beam_size, num_ended):
    ids, totals, log_probs = map(torch.as_tensor, (ids, totals, log_probs))
    best = (totals[:, None] + log_probs).flatten().topk(beam_size - num_ended)
    size = log_probs.shape[1]
    return torch.cat([ids[best.indices // size], (best.indices % size)[:, None]], dim=1), best.values


def one_of_each_beam(ids, totals, log_probs, beam_size, num_ended):
    best = log_probs.argmax(axis=1)
    total = totals + log_probs[np.arange(len(ids)), best]
    order = np.argsort(-total)[: beam_size - num_ended]
    return np.column_stack([ids, best])[order], total[order]


def lowest(ids, totals, log_probs, beam_size, num_ended):
    kept, total = beam_step(ids, -totals, -log_probs, beam_size, num_ended)
    return kept, -total


def without_end(ids, totals, log_probs, beam_size, num_ended):
    log_probs = log_probs.copy()
    log_probs[:, END] = -np.inf
    return beam_step(ids, totals, log_probs, beam_size, num_ended)


def grams(words, n):
    return list(zip(*(words[start:] for start in range(n)), strict=False))


def clipped_precision(translation, reference, n):
    mine, theirs = grams(translation, n), grams(reference, n)
    return sum(min(mine.count(gram), theirs.count(gram)) for gram in set(mine)) / len(mine)


def as_counters(translation, reference, n):
    mine, theirs = Counter(grams(translation, n)), Counter(grams(reference, n))
    return (mine & theirs).total() / mine.total()


def same_place(translation, reference, n):
    mine = grams(translation, n)
    return sum(a == b for a, b in zip(mine, grams(reference, n), strict=False)) / len(mine)


SOLUTIONS = [
    (exercises.check_greedy_step, greedy_step),
    (exercises.check_next_probabilities, next_probabilities),
    (exercises.check_scores, scores),
    (exercises.check_cache_savings, 6 * 2 * (30 * 31 // 2 - 30)),
    (exercises.check_clipped_precision, clipped_precision),
    (exercises.check_beam_step, beam_step),
]
VARIANTS = [
    (exercises.check_greedy_step, lambda x, ended: x.argmax(-1) * ~ended),
    (
        exercises.check_greedy_step,
        lambda x, ended: [0 if e else int(row.argmax()) for row, e in zip(x, ended, strict=True)],
    ),
    (exercises.check_next_probabilities, drawn_from(reaching)),
    (exercises.check_next_probabilities, lambda x, t, p: torch.tensor(next_probabilities(x, t, p))),
    (exercises.check_scores, lambda p, n, a: torch.tensor(p) * (6 / (5 + torch.tensor(n))) ** a),
    (exercises.check_scores, lambda p, n, a: [scores(*pair, a) for pair in zip(p, n, strict=True)]),
    (exercises.check_cache_savings, np.float64(5220)),
    (exercises.check_clipped_precision, as_counters),
    (exercises.check_beam_step, beam_step_in_torch),
    (exercises.check_beam_step, lambda *given: tuple(part.tolist() for part in beam_step(*given))),
]
SLIPS = [
    (exercises.check_greedy_step, lambda x, ended: x.argmax(-1), "goes on"),
    (exercises.check_greedy_step, lambda x, ended: x.argmax(-1) * ended, "other way round"),
    (exercises.check_greedy_step, lambda x, ended: np.where(ended, END, x.argmax(-1)), "its end once more"),
    (exercises.check_greedy_step, lambda x, ended: x.max(-1) * ~ended, "the logits themselves"),
    (exercises.check_greedy_step, lambda x, ended: x.argmin(-1) * ~ended, "least likely"),
    (exercises.check_greedy_step, lambda x, ended: x.argmax(0), "a sentence for each word"),
    (
        exercises.check_next_probabilities,
        drawn_from(lambda each, together, p: together <= p),
        "takes the sum across top_p is left out",
    ),
    (
        exercises.check_next_probabilities,
        drawn_from(lambda each, together, p: each >= p),
        "not what each has",
    ),
    (exercises.check_next_probabilities, drawn_from(reaching, share=False), "divide by its sum"),
    (exercises.check_next_probabilities, cold_set, "heat first"),
    (
        exercises.check_next_probabilities,
        drawn_from(reaching, lambda x, t: softmax(x * t)),
        "are divided by it",
    ),
    (
        exercises.check_next_probabilities,
        drawn_from(reaching, lambda x, t: softmax(x)),
        "temperature has no say",
    ),
    (exercises.check_next_probabilities, lambda x, t, p: softmax(x / t), "top_p has no say"),
    (
        exercises.check_next_probabilities,
        drawn_from(reaching, lambda x, t: softmax(x) / t),
        "before the softmax",
    ),
    (exercises.check_scores, lambda p, n, a: p, "length has no say"),
    (exercises.check_scores, lambda p, n, a: p / n, "mean log-probability"),
    (exercises.check_scores, lambda p, n, a: p / n**a, "of n alone"),
    (exercises.check_scores, lambda p, n, a: p / ((5 + n) ** a / 6), "of the 5 [+] n alone"),
    (exercises.check_scores, lambda p, n, a: p / (a * (5 + n) / 6), "an exponent, not a factor"),
    (exercises.check_scores, lambda p, n, a: p / ((5 + n) / 6), "alpha has no say"),
    (exercises.check_scores, lambda p, n, a: p * ((5 + n) / 6) ** a, "multiplied"),
    (exercises.check_scores, lambda p, n, a: np.log(-p) / ((5 + n) / 6) ** a, "logarithms already"),
    (exercises.check_cache_savings, 5580, "are no waste"),
    (exercises.check_cache_savings, 360, "with a cache"),
    (exercises.check_cache_savings, 2610, "two vectors"),
    (exercises.check_cache_savings, 870, "there are six"),
    (exercises.check_cache_savings, 435, "one layer's keys"),
    (exercises.check_cache_savings, 10440, "not 30: the mean"),
    (exercises.check_cache_savings, 10800, "computes 360 of them"),
    (exercises.check_cache_savings, 4860, "count from 1 to 30"),
    (exercises.check_cache_savings, 7, "not what we counted"),
    (
        exercises.check_clipped_precision,
        lambda t, r, n: np.mean([g in grams(r, n) for g in grams(t, n)]),
        "not clipped",
    ),
    (
        exercises.check_clipped_precision,
        lambda t, r, n: len({*grams(t, n)} & {*grams(r, n)}) / len({*grams(t, n)}),
        "counts once",
    ),
    (exercises.check_clipped_precision, lambda t, r, n: clipped_precision(r, t, n), "recall"),
    (exercises.check_clipped_precision, same_place, "anywhere in the reference"),
    (exercises.check_clipped_precision, lambda t, r, n: clipped_precision(t, r, 1), "side by side"),
    (
        exercises.check_clipped_precision,
        lambda t, r, n: clipped_precision(t, r, n) * len(grams(t, n)) / len(t),
        "the number of words",
    ),
    (
        exercises.check_clipped_precision,
        lambda t, r, n: round(clipped_precision(t, r, n) * len(grams(t, n))),
        "that is a count",
    ),
    (exercises.check_beam_step, lambda i, t, p, size, ended: beam_step(i, t, p, size, 0), "are forgotten"),
    (
        exercises.check_beam_step,
        lambda i, t, p, size, ended: beam_step(i, 0 * t, t[:, None] * p, size, ended),
        "are multiplied",
    ),
    (exercises.check_beam_step, one_of_each_beam, "let all continuations compete"),
    (
        exercises.check_beam_step,
        lambda i, t, p, size, ended: beam_step(i, 0 * t, p, size, ended),
        "only the last token counts",
    ),
    (exercises.check_beam_step, without_end, "the end is thrown away"),
    (exercises.check_beam_step, lowest, "these are the worst"),
    (
        exercises.check_beam_step,
        lambda i, t, p, size, ended: beam_step(i, np.exp(t), np.exp(p), size, ended),
        "probabilities are added",
    ),
]


@pytest.mark.parametrize(("check", "attempt"), SOLUTIONS + VARIANTS)
def test_a_right_answer_passes_however_it_is_written(check, attempt, capsys):
    check(attempt)
    assert "✔" in capsys.readouterr().out


@pytest.mark.parametrize(("check", "attempt", "message"), SLIPS)
def test_a_slip_is_met_with_its_own_message(check, attempt, message):
    with pytest.raises(Slip, match=message):
        check(attempt)


@pytest.mark.parametrize("check", [check for check, _ in SOLUTIONS])
def test_what_is_not_begun_is_greeted(check, capsys):
    check(...)
    assert "◦" in capsys.readouterr().out


@pytest.mark.parametrize("check", [check for check, answer in SOLUTIONS if callable(answer)])
def test_an_answer_of_another_kind_is_shown_beside_the_wanted_one(check):
    with pytest.raises(Slip, match="wanted"):
        check(lambda *_: np.array([99.0]))

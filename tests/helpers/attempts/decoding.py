"""Answers to the exercises on decoding."""

from collections import Counter

import numpy as np
import torch

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


def nucleus(each, together, top_p):
    return together - each < top_p


def nucleus_without_last(each, together, top_p):
    return together <= top_p


def sampling_with(kept=nucleus, scale=lambda x, t: softmax(x / t), share=True):
    """Return an answer that keeps the words chosen by ``kept(probabilities, cumulative sums, top_p)``."""

    def attempt(logits, temperature, top_p):
        probabilities = scale(logits, temperature)
        order = np.argsort(-probabilities)
        chosen = order[kept(probabilities[order], probabilities[order].cumsum(), top_p)]
        left = np.zeros(len(logits))
        left[chosen] = probabilities[chosen]
        return left / left.sum() if share else left

    return attempt


def next_probabilities_in_torch(logits, temperature, top_p):
    probabilities, order = (logits / temperature).softmax(-1).sort(descending=True)
    probabilities[probabilities.cumsum(-1) - probabilities >= top_p] = 0
    return torch.zeros_like(logits).scatter(0, order, probabilities / probabilities.sum())


def temperature_after_softmax(x, temperature):
    return softmax(x) / temperature


def cut_before_temperature(logits, temperature, top_p):
    kept = next_probabilities(logits, 1, top_p) > 0
    left = np.where(kept, softmax(logits / temperature), 0)
    return left / left.sum()


def least_likely(logits, temperature, top_p):
    probabilities = softmax(logits / temperature)
    order = np.argsort(probabilities)
    together = probabilities[order].cumsum() - probabilities[order]
    left = np.zeros_like(probabilities)
    left[order] = np.where(together < top_p, probabilities[order], 0)
    return left / left.sum()


def sampling_in_order(probabilities, top_p):
    left = np.where(probabilities.cumsum() - probabilities < top_p, probabilities, 0)
    return left / left.sum()


def sampling_by_sorted_mask(probabilities, top_p):
    falling = -np.sort(-probabilities)
    left = np.where(falling.cumsum() - falling < top_p, probabilities, 0)
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
    best = (totals[:, None] + log_probs).flatten().topk(beam_size - num_ended)
    size = log_probs.shape[1]
    return torch.cat([ids[best.indices // size], (best.indices % size)[:, None]], dim=1), best.values


def one_per_hypothesis(ids, totals, log_probs, beam_size, num_ended):
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


def wrong_parents(ids, *rest):
    longer, totals = beam_step(ids, *rest)
    return [[*ids[row % len(ids)], words[-1]] for row, words in enumerate(longer)], totals


def grams(words, n):
    return list(zip(*(words[start:] for start in range(n)), strict=False))


def clipped_precision(translation, reference, n):
    mine, theirs = grams(translation, n), grams(reference, n)
    return sum(min(mine.count(gram), theirs.count(gram)) for gram in set(mine)) / len(mine)


def as_counters(translation, reference, n):
    mine, theirs = Counter(grams(translation, n)), Counter(grams(reference, n))
    return (mine & theirs).total() / mine.total()


def crossed_out(translation, reference, n):
    left, found = grams(reference, n), 0
    for gram in grams(translation, n):
        if gram in left:
            left.remove(gram)
            found += 1
    return torch.tensor(found / len(grams(translation, n)))


def without_overlap(translation, reference, n):
    cut = [[tuple(w[i : i + n]) for i in range(0, len(w), n)] for w in (translation, reference)]
    return (Counter(cut[0]) & Counter(cut[1])).total() / len(cut[0])


def same_place(translation, reference, n):
    mine = grams(translation, n)
    return sum(a == b for a, b in zip(mine, grams(reference, n), strict=False)) / len(mine)


RIGHT = {
    "greedy_step": [
        greedy_step,
        lambda x, ended: x.argmax(-1) * ~ended,
        lambda x, ended: [0 if e else int(row.argmax()) for row, e in zip(x, ended, strict=True)],
        lambda x, ended: x.argmax(-1).masked_fill(ended, 0),
        lambda x, ended: (x.argmax(-1) * ~ended).astype(np.float32),
    ],
    "cache_savings": [6 * 2 * (30 * 31 // 2 - 30), np.float64(5220), torch.tensor(5220)],
    "scores": [
        scores,
        lambda p, n, a: torch.tensor(p) * (6 / (5 + torch.tensor(n))) ** a,
        lambda p, n, a: [scores(*pair, a) for pair in zip(p, n, strict=True)],
        lambda p, n, a: np.exp(np.log(-p) - a * np.log((5 + n) / 6)) * -1,
    ],
    "next_probabilities": [
        next_probabilities,
        sampling_with(),
        next_probabilities_in_torch,
        lambda x, t, p: torch.tensor(next_probabilities(x, t, p)).bfloat16(),
        lambda x, t, p: next_probabilities(x.astype(np.float32), t, p),
    ],
    "clipped_precision": [clipped_precision, as_counters, crossed_out],
    "beam_step": [
        beam_step,
        beam_step_in_torch,
        lambda *given: [part.tolist() for part in beam_step(*given)],
    ],
}

WRONG = {
    "greedy_step": {
        "your finished sentences go on": lambda x, ended: x.argmax(-1),
        "yours is inverted": lambda x, ended: x.argmax(-1) * ended,
        "your finished sentences get the end id again": lambda x, ended: np.where(ended, END, x.argmax(-1)),
        "you return the highest logits": lambda x, ended: x.max(-1) * ~ended,
        "you choose the least probable word": lambda x, ended: x.argmin(-1) * ~ended,
        "each sentence has its own": lambda x, ended: np.where(ended, 0, x.argmax() % x.shape[1]),
        "you return a row for each sentence": lambda x, ended: np.where(ended[:, None], 0, x),
        "a sentence for each word": lambda x, ended: x.argmax(0),
        "wrong for this input": lambda x, ended: x.argmax(-1) * ~ended + 1,
    },
    "cache_savings": {
        "that is the number without a cache": 5580,
        "with a cache": 360,
        "you counted one vector for each token and layer": 2610,
        "there are six": 870,
        "those are the keys of one layer": 435,
        "you counted 30 tokens at each step; step t has t tokens": 10440,
        "step t has t tokens, not 30; then subtract": 10800,
        "count from 1 to 30": 4860,
        "yours is 7: step t projects t tokens without a cache, and one with it": 7,
    },
    "scores": {
        "yours ignores the length": lambda p, n, a: p,
        "mean log-probability": lambda p, n, a: p / n,
        "of n alone": lambda p, n, a: p / n**a,
        "you take the power of 5 + n alone": lambda p, n, a: p / ((5 + n) ** a / 6),
        "you add 5 to the length": lambda p, n, a: p / (5 + n) ** a,
        "your penalty lacks the 5": lambda p, n, a: p / (n / 6) ** a,
        "you multiply by alpha": lambda p, n, a: p / (a * (5 + n) / 6),
        "yours ignores alpha": lambda p, n, a: p / ((5 + n) / 6),
        "you multiply; log-probabilities are negative": lambda p, n, a: p * ((5 + n) / 6) ** a,
        "you take the logarithm of log-probabilities": lambda p, n, a: np.log(-p) / ((5 + n) / 6) ** a,
        "wrong for this input": lambda p, n, a: p / ((5 + n) // 6) ** a,
    },
    "next_probabilities": {
        "you divide the probabilities by the temperature": sampling_with(scale=temperature_after_softmax),
        "you leave out the word that takes the sum across top_p": sampling_with(nucleus_without_last),
        "your probabilities do not sum to one": sampling_with(share=False),
        "divide the logits, before the softmax. Also, you leave out the word "
        "that takes the sum across top_p": sampling_with(nucleus_without_last, temperature_after_softmax),
        "divide the logits, before the softmax. Also, your probabilities do not sum to one": sampling_with(
            scale=temperature_after_softmax, share=False
        ),
        "it belongs to the set. Also, your probabilities do not sum to one": sampling_with(
            nucleus_without_last, share=False
        ),
        ". Also, you leave out the word that takes the sum across top_p; it "
        "belongs to the set. Also, your probabilities do not sum to one": (
            sampling_with(nucleus_without_last, temperature_after_softmax, share=False)
        ),
        "you compare each probability with top_p": sampling_with(lambda each, together, p: each >= p),
        "you cut before applying the temperature": cut_before_temperature,
        "you multiply by the temperature": sampling_with(scale=lambda x, t: softmax(x * t)),
        "yours ignores the temperature": sampling_with(scale=lambda x, t: softmax(x)),
        "yours ignores top_p": lambda x, t, p: softmax(x / t),
        "you return sorted probabilities": lambda *given: np.sort(next_probabilities(*given))[::-1],
        "you add up in the order of the vocabulary": lambda x, t, p: sampling_in_order(softmax(x / t), p),
        "in sorted order": lambda x, t, p: sampling_by_sorted_mask(softmax(x / t), p),
        "you keep the least probable words": least_likely,
        "wrong for this input": lambda x, t, p: next_probabilities(x, t, p**2),
    },
    "clipped_precision": {
        "you do not clip": lambda t, r, n: np.mean([g in grams(r, n) for g in grams(t, n)]),
        "you count the reference alone": lambda t, r, n: np.mean(
            [grams(r, n).count(gram) / grams(t, n).count(gram) for gram in grams(t, n)]
        ),
        "you count each n-gram once": lambda t, r, n: (
            len({*grams(t, n)} & {*grams(r, n)}) / len({*grams(t, n)})
        ),
        "recall": lambda t, r, n: clipped_precision(r, t, n),
        "anywhere in the reference": same_place,
        "the last n-gram of each": lambda t, r, n: clipped_precision(t[:-1], r[:-1], n),
        "your n-grams do not overlap": without_overlap,
        "yours ignores n": lambda t, r, n: clipped_precision(t, r, 1),
        "the number of words": lambda t, r, n: clipped_precision(t, r, n) * len(grams(t, n)) / len(t),
        "you return a count": lambda t, r, n: round(clipped_precision(t, r, n) * len(grams(t, n))),
        "wrong for this input": lambda t, r, n: 1 - clipped_precision(t, r, n),
    },
    "beam_step": {
        "you forget the finished hypotheses": lambda i, t, p, size, ended: beam_step(i, t, p, size, 0),
        "you multiply log-probabilities": lambda i, t, p, size, ended: beam_step(
            i, 0 * t, t[:, None] * p, size, ended
        ),
        "you keep the best of each hypothesis": one_per_hypothesis,
        "you rank by the last token alone": lambda i, t, p, size, ended: beam_step(i, 0 * t, p, size, ended),
        "your results are in reverse order": lambda *given: [part[::-1] for part in beam_step(*given)],
        "your tokens are right": wrong_parents,
        "you discard the end token": without_end,
        "you keep the worst candidates": lowest,
        "you add probabilities": lambda i, t, p, size, ended: beam_step(i, np.exp(t), np.exp(p), size, ended),
        "expected 2 results, yours returns 1 result": lambda *given: beam_step(*given)[0],
        "wrong for this input": lambda *given: (beam_step(*given)[0], np.exp(beam_step(*given)[1])),
    },
}

"""Answers to the exercises on maps, ablations and attributions."""

import numpy as np
import torch


def attended_key(weights):
    return weights.mean(0).argmax(-1)


def attended_key_in_a_loop(weights):
    return np.array([np.argmax(sum(head[row] for head in weights)) for row in range(weights.shape[1])])


def all_heads(attended, output_weight):
    return np.concatenate(list(attended), axis=-1) @ output_weight


def without_head(attended, output_weight, head):
    kept = attended.copy()
    kept[head] = 0
    return all_heads(kept, output_weight)


def without_head_by_rows(attended, output_weight, head):
    width = attended.shape[-1]
    blocks = [output_weight[i * width : (i + 1) * width] for i in range(len(attended))]
    parts = [a @ block for i, (a, block) in enumerate(zip(attended, blocks, strict=True)) if i != head]
    return sum(parts, np.zeros((attended.shape[1], output_weight.shape[1])))


def without_head_by_einsum(attended, output_weight, head):
    heads, _, width = attended.shape
    blocks = output_weight.reshape(heads, width, -1)
    return np.einsum("htk,hkd,h->td", attended, blocks, np.arange(heads) != head)


def without_head_left_out(attended, output_weight, head):
    width = attended.shape[-1]
    others = [each for number, each in enumerate(attended) if number != head]
    rows = np.delete(output_weight, np.arange(head * width, (head + 1) * width), axis=0)
    return np.concatenate(others, axis=-1) @ rows


def without_head_in_torch(attended, output_weight, head):
    kept = attended.clone()
    kept[head] = 0
    return kept.transpose(0, 1).flatten(1) @ output_weight


def without_position(attended, output_weight, position):
    kept = attended.copy()
    kept[:, position % attended.shape[1]] = 0
    return all_heads(kept, output_weight)


def with_mean_head(attended, output_weight, head):
    kept = attended.copy()
    kept[head] = attended.mean(0)
    return all_heads(kept, output_weight)


def joined_in_another_order(attended, output_weight, head):
    kept = attended.copy()
    kept[head] = 0
    return kept.reshape(attended.shape[1], -1) @ output_weight


def occlude(score, ids, blank):
    falls = []
    for place in range(len(ids)):
        covered = ids.copy()
        covered[place] = blank
        falls.append(score(ids) - score(covered))
    return np.array(falls)


def occlude_at_once(score, ids, blank):
    covered = np.where(np.eye(len(ids), dtype=bool), blank, ids)
    return score(ids) - np.array([score(row) for row in covered])


def occlude_cumulatively(score, ids, blank):
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


def patch_effects(score, own, donor):
    patched_scores = []
    for position in range(len(own)):
        patched = own.copy()
        patched[position] = donor[position]
        patched_scores.append(score(patched))
    return (np.array(patched_scores) - score(own)) / (score(donor) - score(own))


def patch_effects_at_once(score, own, donor):
    patched = np.where(np.eye(len(own), dtype=bool)[..., None], donor, own)
    changes = [score(vectors) - score(own) for vectors in patched]
    return [change / (score(donor) - score(own)) for change in changes]


def patch_cumulatively(score, own, donor):
    patched, effects = own.copy(), []
    for position in range(len(own)):
        patched[position] = donor[position]
        effects.append((score(patched) - score(own)) / (score(donor) - score(own)))
    return effects


def patch_the_rest(score, own, donor):
    effects = []
    for position in range(len(own)):
        patched = donor.copy()
        patched[position] = own[position]
        effects.append((score(patched) - score(own)) / (score(donor) - score(own)))
    return effects


def patch_in_place(score, own, donor):
    for position in range(len(own)):
        own[position] = donor[position]
    return patch_effects(score, own, donor)


def fixed(model, vectors, attn_mask, mode=False, mask=True, restore_mode=True):
    was_training = model.training
    model.train(mode)
    start = vectors.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(start, attn_mask if mask else None), start)
    if restore_mode:
        model.train(was_training)
    return (gradient * vectors).sum(-1)


def fixed_by_backward(model, vectors, attn_mask):
    modes = model.training, model.eval()
    start = vectors.detach().clone().requires_grad_(True)
    model(start, attn_mask).backward()
    model.train(modes[0])
    return torch.einsum("td,td->t", start.grad, vectors)


def agreement_rate(first, second, is_word):
    same = [
        np.argmax(one[words]) == np.argmax(other[words])
        for one, other, words in zip(first, second, is_word, strict=True)
    ]
    return np.mean(same)


def without_other_rows(attended, output_weight, head):
    heads, time, width = attended.shape
    joined = np.delete(attended, head, axis=0).transpose(1, 0, 2).reshape(time, (heads - 1) * width)
    return joined @ np.delete(output_weight, range(head, head + width), axis=0)


def share_by_masked_arrays(first, second, is_word):
    places = [np.ma.array(numbers, mask=~is_word).argmax(axis=-1) for numbers in (first, second)]
    return float((places[0] == places[1]).mean())


def share_in_torch(first, second, is_word):
    one, other = (numbers.masked_fill(~is_word, -torch.inf).argmax(-1) for numbers in (first, second))
    return (one == other).float().mean()


def correlation(first, second, is_word):
    return np.corrcoef(first[is_word], second[is_word])[0, 1]


RIGHT = {
    "attended_key": [
        attended_key,
        attended_key_in_a_loop,
        lambda weights: torch.tensor(weights).sum(0).argmax(-1),
        lambda weights: np.einsum("hqk->qk", weights.astype(np.float32)).argmax(1).tolist(),
    ],
    "without_head": [
        without_head,
        without_head_by_rows,
        without_head_by_einsum,
        without_head_left_out,
        without_head_in_torch,
    ],
    "log_odds_without": [-3 / 7, -0.43, np.float32(-3 / 7)],
    "occlude": [
        occlude,
        occlude_at_once,
        lambda score, ids, blank: list(occlude(score, ids, blank)),
        lambda score, ids, blank: torch.tensor(occlude(score, ids, blank)),
    ],
    "patch_effects": [
        patch_effects,
        patch_effects_at_once,
        lambda *given: torch.tensor(patch_effects(*given)),
    ],
    "saliency": [
        lambda vectors, gradients: (vectors * gradients).sum(-1),
        lambda vectors, gradients: np.einsum("td,td->t", vectors, gradients),
        lambda vectors, gradients: np.diag(vectors @ gradients.T),
        lambda vectors, gradients: torch.linalg.vecdot(vectors, gradients),
        lambda vectors, gradients: [sum(v * g) for v, g in zip(vectors, gradients, strict=True)],
    ],
    "fixed_saliency": [fixed, fixed_by_backward, lambda *given: fixed(*given).numpy()],
    "agreement_rate": [agreement_rate, share_by_masked_arrays, share_in_torch],
}

WRONG = {
    "attended_key": {
        "down the columns": lambda weights: weights.mean(0).argmax(0),
        "you return a key for each head": lambda weights: weights.argmax(-1),
        "you average over the queries": lambda weights: weights.mean(1).argmax(-1),
        "of any head": lambda weights: weights.max(0).argmax(-1),
        "only the first head": lambda weights: weights[0].argmax(-1),
        "you let the heads vote": lambda weights: [
            np.bincount(choice).argmax() for choice in weights.argmax(-1).T
        ],
        "you return the weights": lambda weights: weights.mean(0).max(-1),
        "you count from 1; the first key has the index 0": lambda weights: attended_key(weights) + 1,
        "you take the smallest weight": lambda weights: weights.mean(0).argmin(-1),
        "wrong for this input": lambda weights: 0 * attended_key(weights),
    },
    "without_head": {
        "you switch no head off": lambda a, w, head: all_heads(a, w),
        "only this head": lambda a, w, head: all_heads(a, w) - without_head(a, w, head),
        "you switch off a position": without_position,
        "the mean of all heads": with_mean_head,
        "you scale the other heads up to compensate": lambda a, w, head: (
            without_head(a, w, head) * len(a) / max(len(a) - 1, 1)
        ),
        "you count heads from 1": lambda a, w, head: without_head(a, w, head - 1),
        "you join the heads in the wrong order": joined_in_another_order,
        "you subtract rows of W_O of other heads": lambda a, w, head: (
            all_heads(a, w) - a[head] @ w[head :: len(a)][: a.shape[-1]]
        ),
        "start at head": without_other_rows,
        "expected shape (1, 1), yours has shape (1, 1, 1)": lambda a, w, head: without_head(a, w, head)[None],
    },
    "log_odds_without": {
        "your remaining weights do not sum to one": -0.3,
        "with the word": 0.3,
        "that is the contribution of the word itself": 0.6,
        "vote for": 0.3 / 0.7,
        "you averaged with equal weights": -0.75,
        "you subtracted the whole vote": -1.7,
        "yours is 7: rescale the two remaining weights to sum to one, then average": 7,
    },
    "occlude": {
        "your sign is wrong": lambda *given: -occlude(*given),
        "your blanks add up": occlude_cumulatively,
        "changes its input": occlude_in_place,
        "you hide all other tokens": occlude_the_rest,
        "you delete the token": lambda score, ids, blank: [
            score(ids) - score(np.delete(ids, i)) for i in range(len(ids))
        ],
        "the score after": lambda score, ids, blank: score(ids) - occlude(score, ids, blank),
        "you divide by the score before": lambda score, ids, blank: occlude(score, ids, blank) / score(ids),
        "you return the sum": lambda *given: occlude(*given).sum(),
        "wrong for this input": lambda *given: 2 * occlude(*given),
    },
    "patch_effects": {
        "your sign is wrong": lambda *given: -patch_effects(*given),
        "you return the change itself": lambda score, own, donor: (
            patch_effects(score, own, donor) * (score(donor) - score(own))
        ),
        "you divide by the donor's score": lambda score, own, donor: (
            patch_effects(score, own, donor) * (score(donor) - score(own)) / score(donor)
        ),
        "your patches add up": patch_cumulatively,
        "you patch all other positions": patch_the_rest,
        "you copy from own into donor": lambda score, own, donor: patch_effects(score, donor, own),
        "you return the scores after patching": lambda score, own, donor: (
            patch_effects(score, own, donor) * (score(donor) - score(own)) + score(own)
        ),
        "changes its input": patch_in_place,
        "wrong for this input": lambda *given: 2 * patch_effects(*given),
    },
    "saliency": {
        "the gradients alone": lambda vectors, gradients: gradients.sum(-1),
        "the gradient's length": lambda vectors, gradients: np.sqrt((gradients**2).sum(-1)),
        "before the sum": lambda vectors, gradients: abs(vectors * gradients).sum(-1),
        "at the end": lambda vectors, gradients: abs((vectors * gradients).sum(-1)),
        "you average": lambda vectors, gradients: (vectors * gradients).mean(-1),
        "over the tokens": lambda vectors, gradients: (vectors * gradients).sum(0),
        "you do not sum": lambda vectors, gradients: vectors * gradients,
        "you divide each gradient by its length": lambda vectors, gradients: (
            (vectors * gradients).sum(-1) / np.linalg.norm(gradients, axis=-1)
        ),
        "every token with every other": lambda vectors, gradients: vectors @ gradients.T,
        "wrong for this input": lambda vectors, gradients: (vectors + gradients).sum(-1),
    },
    "fixed_saliency": {
        "both bugs": lambda *given: fixed(*given, mode=True, mask=False),
        "you do not pass the mask on": lambda *given: fixed(*given, mask=False),
        "still in training mode": lambda *given: fixed(*given, mode=True),
        "you remove padding afterwards, when the model has already attended to it": lambda *given: (
            fixed(*given, mask=False) * given[2]
        ),
        "you lose the sign": lambda *given: fixed(*given).abs(),
        "you rescale the numbers to sum to one": lambda *given: fixed(*given) / fixed(*given).sum(),
        "your numbers are right, but the model came in training mode": lambda *given: fixed(
            *given, restore_mode=False
        ),
        "your numbers are right, but the model came in evaluation mode": lambda model, *given: (
            fixed(model, *given),
            model.train(),
        )[0],
        "wrong for this input": lambda *given: 2 * fixed(*given),
        "expected shape (1,), yours is a single number": lambda *given: fixed(*given).sum(),
        "does not require grad": lambda model, vectors, attn_mask: model(vectors, attn_mask).backward(),
    },
    "agreement_rate": {
        "you include padding": lambda a, b, w: np.mean(a.argmax(-1) == b.argmax(-1)),
        "you set padding to zero": lambda a, b, w: agreement_rate(a * w, b * w, np.ones_like(w)),
        "a count": lambda a, b, w: agreement_rate(a, b, w) * len(a),
        "how often they differ": lambda a, b, w: 1 - agreement_rate(a, b, w),
        "you compare every position": lambda a, b, w: np.mean(a[w] == b[w]),
        "a correlation": correlation,
        "you compare the smallest numbers": lambda a, b, w: agreement_rate(
            abs(a * w), abs(b * w), np.ones_like(w)
        ),
        "expected a single number, yours has shape (1,)": lambda a, b, w: a.argmax(-1) * 1.0,
        "wrong for this input": lambda a, b, w: agreement_rate(a, b, w) / 2,
    },
}

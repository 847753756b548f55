"""Answers to the exercises on who may look where."""

import numpy as np
import torch


def decoder_mask(ids, pad_id):
    return np.tri(ids.shape[1], dtype=bool) & (ids != pad_id)[:, None]


def decoder_mask_in_loops(ids, pad_id):
    sentences, length = ids.shape
    return np.array(
        [
            [[key <= query and ids[s, key] != pad_id for key in range(length)] for query in range(length)]
            for s in range(sentences)
        ]
    )


def decoder_mask_in_torch(ids, pad_id):
    ids = torch.from_numpy(ids)
    square = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool)
    return square.tril() & (ids != pad_id).unsqueeze(1)


def newest_mask(num_new, num_all):
    return np.tri(num_all, dtype=bool)[num_all - num_new :]


def newest_mask_by_places(num_new, num_all):
    return np.arange(num_all) <= np.arange(num_all - num_new, num_all)[:, None]


def tri(num_new, num_all, diagonal):
    return np.tri(num_new, num_all, num_all - num_new + diagonal, dtype=bool)


def module_masks(ids, pad_id):
    return ~np.tri(ids.shape[1], dtype=bool), ids == pad_id


def module_masks_in_torch(ids, pad_id):
    length = ids.shape[1]
    return torch.ones(length, length).triu(1).bool(), torch.from_numpy(ids) == pad_id


def influence(layer, x):
    result = np.zeros((len(x), len(x)), dtype=bool)
    for position in range(len(x)):
        edited = x.copy()
        edited[position] = np.random.default_rng(0).standard_normal(x.shape[1])
        result[:, position] = (layer(edited) != layer(x)).any(axis=1)
    return result


def influence_by_doubling(layer, x):
    edits = [np.where(np.arange(len(x))[:, None] == position, 2 * x, x) for position in range(len(x))]
    return np.transpose(
        [[not np.array_equal(*pair) for pair in zip(layer(e), layer(x), strict=True)] for e in edits]
    )


def influence_in_torch(layer, x):
    columns = []
    for position in range(len(x)):
        edited = x.clone()
        edited[position] = -x[position]
        columns.append((layer(edited) != layer(x)).any(-1))
    return torch.stack(columns, dim=-1)


def influence_rounded(layer, x):
    columns = []
    for position in range(len(x)):
        edited = x.copy()
        edited[position] -= 3
        columns.append((np.abs(layer(edited) - layer(x)) > 1e-6).any(axis=1))
    return np.transpose(columns)


def influence_piled_up(layer, x):
    edited, columns = x.copy(), []
    for position in range(len(x)):
        edited[position] *= 3
        columns.append((layer(edited) != layer(x)).any(axis=1))
    return np.transpose(columns)


def influence_in_all_numbers(layer, x):
    edits = [np.where(np.arange(len(x))[:, None] == position, 2 * x, x) for position in range(len(x))]
    return np.transpose([(layer(edited) != layer(x)).all(axis=1) for edited in edits])


def influence_at_once(layer, x):
    moved = (layer(2 * x) != layer(x)).any(axis=1)
    return np.stack([moved] * len(x), axis=1)


def backward(grad_attended, query, key, value, weights):
    attended = weights @ value
    spread = value[None] - attended[:, None]
    delta = weights * (grad_attended[:, None] * spread).sum(-1) / np.sqrt(query.shape[1])
    return delta @ key, delta.T @ query, weights.T @ grad_attended


def backward_by_autograd(grad_attended, query, key, value, weights):
    leaves = [torch.tensor(each, requires_grad=True) for each in (query, key, value)]
    scores = leaves[0] @ leaves[1].T / query.shape[1] ** 0.5
    attended = scores.softmax(-1) @ leaves[2]
    return torch.autograd.grad(attended, leaves, torch.from_numpy(grad_attended))


def backward_by_einsum(grad_attended, query, key, value, weights):
    grad_weights = torch.einsum("qd,kd->qk", grad_attended, value)
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdim=True))
    grad_scores = grad_scores / query.shape[-1] ** 0.5
    return (
        torch.einsum("qk,kd->qd", grad_scores, key),
        torch.einsum("qk,qd->kd", grad_scores, query),
        torch.einsum("qk,qd->kd", weights, grad_attended),
    )


def backward_with(delta_of):
    def run(grad_attended, query, key, value, weights):
        delta = delta_of(grad_attended @ value.T, weights) / np.sqrt(query.shape[1])
        return delta @ key, delta.T @ query, weights.T @ grad_attended

    return run


def unscaled(grad_attended, query, key, value, weights):
    grad_query, grad_key, grad_value = backward(grad_attended, query, key, value, weights)
    return np.sqrt(query.shape[1]) * grad_query, np.sqrt(query.shape[1]) * grad_key, grad_value


def unweighted_value(grad_attended, query, key, value, weights):
    grad_query, grad_key, _ = backward(grad_attended, query, key, value, weights)
    return grad_query, grad_key, np.ones_like(weights).T @ grad_attended


RIGHT = {
    "allowed_pairs": [
        4230,
        int((np.tri(100) * (np.arange(100) < 60)).sum()),
    ],
    "longest_sentence": [
        5792,
        float(np.floor(np.sqrt(16 * 2**30 / 512))),
    ],
    "decoder_mask": [
        decoder_mask,
        decoder_mask_in_loops,
        decoder_mask_in_torch,
        lambda ids, pad_id: decoder_mask_in_loops(ids, pad_id).tolist(),
        lambda ids, pad_id: torch.ones(ids.shape[1], ids.shape[1]).tril().bool() & ids.ne(pad_id)[:, None],
    ],
    "newest_mask": [
        newest_mask,
        newest_mask_by_places,
        lambda new, every: torch.ones(new, every).tril(every - new).bool(),
        lambda new, every: [[key <= every - new + query for key in range(every)] for query in range(new)],
    ],
    "module_masks": [
        module_masks,
        module_masks_in_torch,
        lambda ids, pad_id: [*module_masks(ids, pad_id)],
    ],
    "influence": [
        influence,
        influence_by_doubling,
        influence_in_torch,
    ],
    "backward": [
        backward,
        backward_by_autograd,
        lambda *given: [each.astype(np.float32) for each in backward(*given)],
        lambda *given: [torch.tensor(each).bfloat16() for each in backward(*given)],
        backward_by_einsum,
    ],
}

WRONG = {
    "allowed_pairs": {
        "causal mask alone": 5050,
        "padding mask alone": 6000,
        "rows of padding look at words": 1830,
        "all pairs of words": 3600,
        "diagonal is allowed": 4170,
        "and the rows of padding": 1770,
        "with padding in it": 4950,
        "that either mask allows": 6820,
        "forbid some of them": 10_000,
        "2500 is not it: count row by row": 2500,
        "expected one number, yours is of type str": "4230",
    },
    "longest_sentence": {
        "words come whole": 5792.6,
        "float16, not 4": 4096,
        "float16, not 1": 8192,
        "of the 8 heads has": 16_384,
        "of the 32 sentences has weights of its own": 32_768,
        "for each of its 8 heads": 92_681,
        "number of pairs": 2**25,
        "1024³": 5590,
        "1024 words make 0.5 GiB": 1024,
    },
    "decoder_mask": {
        "turned round": lambda ids, pad_id: ~decoder_mask(ids, pad_id),
        "joined with |": lambda ids, pad_id: np.tri(ids.shape[1], dtype=bool) | (ids != pad_id)[:, None],
        "lies the wrong way": lambda ids, pad_id: (
            np.tri(ids.shape[1], dtype=bool).T & (ids != pad_id)[:, None]
        ),
        "diagonal belongs": lambda ids, pad_id: (
            np.tri(ids.shape[1], k=-1, dtype=bool) & (ids != pad_id)[:, None]
        ),
        "sees one ahead": lambda ids, pad_id: (
            np.tri(ids.shape[1], k=1, dtype=bool) & (ids != pad_id)[:, None]
        ),
        "hidden in the rows": lambda ids, pad_id: (
            np.tri(ids.shape[1], dtype=bool) & (ids != pad_id)[..., None]
        ),
        "rows with nothing to look at": lambda ids, pad_id: (
            decoder_mask(ids, pad_id) & (ids != pad_id)[..., None]
        ),
        "stand at the end": lambda ids, pad_id: (
            np.tri(ids.shape[1], dtype=bool)
            & (np.arange(ids.shape[1]) < (ids != pad_id).sum(1)[:, None])[:, None]
        ),
        "id 0 is taken for padding": lambda ids, pad_id: decoder_mask(ids, 0),
        "only padding may be looked at": lambda ids, pad_id: (
            np.tri(ids.shape[1], dtype=bool) & (ids == pad_id)[:, None]
        ),
        "padding may be looked at": lambda ids, pad_id: np.tile(
            np.tri(ids.shape[1], dtype=bool), (len(ids), 1, 1)
        ),
        "see what comes after": lambda ids, pad_id: np.repeat((ids != pad_id)[:, None], ids.shape[1], axis=1),
        "yours holds float64": lambda ids, pad_id: decoder_mask(ids, pad_id).astype(float),
        "expected shape (1, 1, 1), yours has shape (1, 1, 1, 1)": lambda ids, pad_id: decoder_mask(
            ids, pad_id
        )[:, None],
    },
    "newest_mask": {
        "top left": lambda new, every: np.tri(new, every, dtype=bool),
        "turned round": lambda new, every: ~tri(new, every, 0),
        "one ahead": lambda new, every: tri(new, every, 1),
        "sees itself": lambda new, every: tri(new, every, -1),
        "transposed": lambda new, every: tri(new, every, 0).T,
        "everything is allowed": lambda new, every: np.ones((new, every), dtype=bool),
        "do not see each other": lambda new, every: np.tile(np.arange(every) < every - new, (new, 1)),
        "mask of all words": lambda new, every: np.tri(every, dtype=bool),
        "yours holds float64": lambda new, every: np.tri(every)[-new:],
    },
    "module_masks": {
        "as broken as it was": lambda ids, pad_id: (
            ~np.tri(ids.shape[1], k=1, dtype=bool),
            ids != pad_id,
        ),
        "may not look; and key_padding_mask is turned": (
            lambda ids, pad_id: (np.tri(ids.shape[1], dtype=bool), ids != pad_id)
        ),
        "attn_mask comes first": lambda ids, pad_id: module_masks(ids, pad_id)[::-1],
        "expected 2 results, yours returns 1 result": lambda ids, pad_id: module_masks(ids, pad_id)[0],
        "for the function": lambda ids, pad_id: (~module_masks(ids, pad_id)[0], ids == pad_id),
        "hides the past": lambda ids, pad_id: (module_masks(ids, pad_id)[0].T, ids == pad_id),
        "each word from itself": lambda ids, pad_id: (~np.tri(ids.shape[1], k=-1, dtype=bool), ids == pad_id),
        "one ahead": lambda ids, pad_id: (~np.tri(ids.shape[1], k=1, dtype=bool), ids == pad_id),
        "key_padding_mask is turned round": lambda ids, pad_id: (module_masks(ids, pad_id)[0], ids != pad_id),
        "one axis too many": lambda ids, pad_id: (module_masks(ids, pad_id)[0], (ids == pad_id)[:, None]),
    },
    "influence": {
        "transposed": lambda layer, x: influence(layer, x).T,
        "turned round": lambda layer, x: ~influence(layer, x),
        "compare every digit": influence_rounded,
        "all numbers of each output": influence_in_all_numbers,
        "start from x": influence_piled_up,
        "True everywhere": influence_at_once,
        "a mask of True and False, yours holds int64": lambda layer, x: influence(layer, x).astype(int),
        "that is the causal mask": lambda layer, x: np.tri(len(x), dtype=bool),
        "diagonal is measured": lambda layer, x: influence(layer, x) & ~np.eye(len(x), dtype=bool),
        "wrong for this input": lambda layer, x: np.eye(len(x), dtype=bool),
    },
    "backward": {
        "not divided by √d_k": unscaled,
        "weighted mean of the row": backward_with(lambda grad, weights: weights * grad),
        "factor of the weights": backward_with(
            lambda grad, weights: grad - (weights * grad).sum(-1, keepdims=True)
        ),
        "weigh it by who looked": unweighted_value,
        "expected 3 results, yours returns 1 result": lambda *given: backward(*given)[0],
        "order wanted": lambda *given: backward(*given)[::-1],
        "only the gradient of the query": lambda *given: (
            backward(*given)[0],
            *unscaled(*given)[1:],
        ),
        "exchanged": lambda *given: (*backward(*given)[1::-1], backward(*given)[2]),
        "softmax is passed by": backward_with(lambda grad, weights: grad),
        "that of a column": backward_with(
            lambda grad, weights: weights * (grad - (weights * grad).sum(0, keepdims=True))
        ),
        "plain mean of the row": backward_with(
            lambda grad, weights: weights * (grad - grad.mean(-1, keepdims=True))
        ),
        "wrong for this input": lambda *given: tuple(-each for each in backward(*given)),
    },
}

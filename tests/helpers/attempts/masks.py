"""Answers to the exercises on masks."""

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


def newest_mask_by_positions(num_new, num_all):
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


def influence_cumulative(layer, x):
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
        newest_mask_by_positions,
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
        "those are the rows of the 60 words": 1830,
        "all pairs of words": 3600,
        "you left out the diagonal; a word may attend to itself": 4170,
        "and the rows of padding": 1770,
        "you left out the diagonal and counted padding among the keys": 4950,
        "you joined the masks with |": 6820,
        "forbid some of them": 10_000,
        "yours is 2500: count row by row": 2500,
        "expected one number, yours is of type str": "4230",
    },
    "longest_sentence": {
        "the weights of 5793 words take slightly more than 16 GiB": 5792.6,
        "you counted 4 bytes for each number": 4096,
        "you counted 1 byte for each number": 8192,
        "you left out the 8 heads, each with its own weights": 16_384,
        "you left out the 32 sentences, each with its own weights": 32_768,
        "you left out the 32 sentences and the 8 heads, each with its own weights": 92_681,
        "number of pairs": 2**25,
        "1024³": 5590,
        "1024 words make 0.5 GiB": 1024,
    },
    "decoder_mask": {
        "your mask is inverted": lambda ids, pad_id: ~decoder_mask(ids, pad_id),
        "you joined the masks with |": lambda ids, pad_id: (
            np.tri(ids.shape[1], dtype=bool) | (ids != pad_id)[:, None]
        ),
        "your triangle is transposed": lambda ids, pad_id: (
            np.tri(ids.shape[1], dtype=bool).T & (ids != pad_id)[:, None]
        ),
        "your triangle lacks its diagonal": lambda ids, pad_id: (
            np.tri(ids.shape[1], k=-1, dtype=bool) & (ids != pad_id)[:, None]
        ),
        "your triangle reaches one column too far": lambda ids, pad_id: (
            np.tri(ids.shape[1], k=1, dtype=bool) & (ids != pad_id)[:, None]
        ),
        "you hide padding in the rows": lambda ids, pad_id: (
            np.tri(ids.shape[1], dtype=bool) & (ids != pad_id)[..., None]
        ),
        "you also empty the rows of padding": lambda ids, pad_id: (
            decoder_mask(ids, pad_id) & (ids != pad_id)[..., None]
        ),
        "you assume that padding comes last": lambda ids, pad_id: (
            np.tri(ids.shape[1], dtype=bool)
            & (np.arange(ids.shape[1]) < (ids != pad_id).sum(1)[:, None])[:, None]
        ),
        "you take the id 0 for padding": lambda ids, pad_id: decoder_mask(ids, 0),
        "your padding mask is inverted": lambda ids, pad_id: (
            np.tri(ids.shape[1], dtype=bool) & (ids == pad_id)[:, None]
        ),
        "your queries may attend to padding": lambda ids, pad_id: np.tile(
            np.tri(ids.shape[1], dtype=bool), (len(ids), 1, 1)
        ),
        "your words see the words after them": lambda ids, pad_id: np.repeat(
            (ids != pad_id)[:, None], ids.shape[1], axis=1
        ),
        "yours holds float64": lambda ids, pad_id: decoder_mask(ids, pad_id).astype(float),
        "expected shape (1, 1, 1), yours has shape (1, 1, 1, 1)": lambda ids, pad_id: decoder_mask(
            ids, pad_id
        )[:, None],
    },
    "newest_mask": {
        "top left": lambda new, every: np.tri(new, every, dtype=bool),
        "your mask is inverted": lambda new, every: ~tri(new, every, 0),
        "your words each see one position ahead": lambda new, every: tri(new, every, 1),
        "your words do not see themselves": lambda new, every: tri(new, every, -1),
        "transposed": lambda new, every: tri(new, every, 0).T,
        "you allow everything": lambda new, every: np.ones((new, every), dtype=bool),
        "do not see each other": lambda new, every: np.tile(np.arange(every) < every - new, (new, 1)),
        "mask of all words": lambda new, every: np.tri(every, dtype=bool),
        "yours holds float64": lambda new, every: np.tri(every)[-new:],
    },
    "module_masks": {
        "both masks are still wrong": lambda ids, pad_id: (
            ~np.tri(ids.shape[1], k=1, dtype=bool),
            ids != pad_id,
        ),
        "your attn_mask suits the function; in the module True means that a "
        "query may not attend; and your key_padding_mask is inverted": (
            lambda ids, pad_id: (np.tri(ids.shape[1], dtype=bool), ids != pad_id)
        ),
        "your results are swapped": lambda ids, pad_id: module_masks(ids, pad_id)[::-1],
        "expected 2 results, yours returns 1 result": lambda ids, pad_id: module_masks(ids, pad_id)[0],
        "your attn_mask suits the function": lambda ids, pad_id: (
            ~module_masks(ids, pad_id)[0],
            ids == pad_id,
        ),
        "hides the past": lambda ids, pad_id: (module_masks(ids, pad_id)[0].T, ids == pad_id),
        "each word from itself": lambda ids, pad_id: (~np.tri(ids.shape[1], k=-1, dtype=bool), ids == pad_id),
        "your attn_mask lets each word see the next one": lambda ids, pad_id: (
            ~np.tri(ids.shape[1], k=1, dtype=bool),
            ids == pad_id,
        ),
        "your key_padding_mask is inverted": lambda ids, pad_id: (
            module_masks(ids, pad_id)[0],
            ids != pad_id,
        ),
        "one axis too many": lambda ids, pad_id: (module_masks(ids, pad_id)[0], (ids == pad_id)[:, None]),
    },
    "influence": {
        "transposed": lambda layer, x: influence(layer, x).T,
        "your result is inverted": lambda layer, x: ~influence(layer, x),
        "compare every digit": influence_rounded,
        "all numbers of each output": influence_in_all_numbers,
        "start from x": influence_cumulative,
        "True everywhere": influence_at_once,
        "a mask of True and False, yours holds int64": lambda layer, x: influence(layer, x).astype(int),
        "you return the causal mask": lambda layer, x: np.tri(len(x), dtype=bool),
        "you leave out the diagonal": lambda layer, x: influence(layer, x) & ~np.eye(len(x), dtype=bool),
        "wrong for this input": lambda layer, x: np.eye(len(x), dtype=bool),
    },
    "backward": {
        "you do not divide the gradient of the scores by √d_k": unscaled,
        "weighted mean of the row": backward_with(lambda grad, weights: weights * grad),
        "in the softmax step you do not multiply by the weights": backward_with(
            lambda grad, weights: grad - (weights * grad).sum(-1, keepdims=True)
        ),
        "your gradient of the value is the same for all keys": unweighted_value,
        "expected 3 results, yours returns 1 result": lambda *given: backward(*given)[0],
        "your results are reversed; expected query, key, value": lambda *given: backward(*given)[::-1],
        "only the gradient of the query": lambda *given: (
            backward(*given)[0],
            *unscaled(*given)[1:],
        ),
        "your gradients of query and key are swapped": lambda *given: (
            *backward(*given)[1::-1],
            backward(*given)[2],
        ),
        "you skip the softmax": backward_with(lambda grad, weights: grad),
        "in the softmax step you average over a column": backward_with(
            lambda grad, weights: weights * (grad - (weights * grad).sum(0, keepdims=True))
        ),
        "plain mean of the row": backward_with(
            lambda grad, weights: weights * (grad - grad.mean(-1, keepdims=True))
        ),
        "wrong for this input": lambda *given: tuple(-each for each in backward(*given)),
    },
}

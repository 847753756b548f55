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


def packed_mask(text_of):
    return np.tri(len(text_of), dtype=bool) & (text_of[:, None] == text_of)


def packed_mask_in_loops(text_of):
    positions = range(len(text_of))
    return [[key <= query and text_of[key] == text_of[query] for key in positions] for query in positions]


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


RIGHT = {
    "allowed_pairs": [
        4230,
        int((np.tri(100) * (np.arange(100) < 60)).sum()),
    ],
    "decoder_mask": [
        decoder_mask,
        decoder_mask_in_loops,
        decoder_mask_in_torch,
        lambda ids, pad_id: decoder_mask_in_loops(ids, pad_id).tolist(),
        lambda ids, pad_id: torch.ones(ids.shape[1], ids.shape[1]).tril().bool() & ids.ne(pad_id)[:, None],
    ],
    "packed_mask": [
        packed_mask,
        packed_mask_in_loops,
        lambda text_of: (np.tri(len(text_of)) * np.equal.outer(text_of, text_of)).astype(bool),
        lambda text_of: torch.from_numpy(text_of)[:, None].eq(torch.from_numpy(text_of)).tril(),
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
}

WRONG = {
    "allowed_pairs": {
        "causal mask alone": 5050,
        "padding mask alone": 6000,
        "you counted the rows of the 60 words only": 1830,
        "all pairs of words": 3600,
        "you left out the diagonal; a word may attend to itself": 4170,
        "and the rows of padding": 1770,
        "you left out the diagonal and counted padding among the keys": 4950,
        "you combined the masks with |": 6820,
        "forbid some of them": 10_000,
        "yours is 2500: count row by row": 2500,
        "expected one number, yours is of type str": "4230",
    },
    "decoder_mask": {
        "your mask is inverted": lambda ids, pad_id: ~decoder_mask(ids, pad_id),
        "you combined the masks with |": lambda ids, pad_id: (
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
    "packed_mask": {
        "your mask is inverted": lambda text_of: ~packed_mask(text_of),
        "you leave out the causal mask": lambda text_of: np.equal.outer(text_of, text_of),
        "you return the causal mask of the whole row": lambda text_of: np.tri(len(text_of), dtype=bool),
        "you combined the masks with |": lambda text_of: (
            np.tri(len(text_of), dtype=bool) | np.equal.outer(text_of, text_of)
        ),
        "your triangle is transposed": lambda text_of: packed_mask(text_of).T,
        "your triangle lacks its diagonal": lambda text_of: (
            packed_mask(text_of) & ~np.eye(len(text_of), dtype=bool)
        ),
        "you allow all pairs of different texts": lambda text_of: (
            np.tri(len(text_of), dtype=bool) & np.not_equal.outer(text_of, text_of)
        ),
        "yours holds float64": lambda text_of: packed_mask(text_of).astype(float),
        "wrong for this input": lambda text_of: np.eye(len(text_of), dtype=bool),
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
        "each of your rows is constant": influence_at_once,
        "a mask of True and False, yours holds int64": lambda layer, x: influence(layer, x).astype(int),
        "you return the causal mask": lambda layer, x: np.tri(len(x), dtype=bool),
        "you leave out the diagonal": lambda layer, x: influence(layer, x) & ~np.eye(len(x), dtype=bool),
        "wrong for this input": lambda layer, x: np.eye(len(x), dtype=bool),
    },
}

import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.masks import (
    check_allowed_pairs,
    check_attention_backward,
    check_decoder_mask,
    check_influence,
    check_longest_sentence,
    check_module_masks,
    check_newest_mask,
)


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


RIGHT = [
    (check_allowed_pairs, 4230),
    (check_allowed_pairs, int((np.tri(100) * (np.arange(100) < 60)).sum())),
    (check_longest_sentence, 5792),
    (check_longest_sentence, float(np.floor(np.sqrt(16 * 2**30 / 512)))),
    (check_decoder_mask, decoder_mask),
    (check_decoder_mask, decoder_mask_in_loops),
    (check_decoder_mask, decoder_mask_in_torch),
    (check_newest_mask, newest_mask),
    (check_newest_mask, newest_mask_by_places),
    (check_module_masks, module_masks),
    (check_module_masks, module_masks_in_torch),
    (check_module_masks, lambda ids, pad_id: [*module_masks(ids, pad_id)]),
    (check_influence, influence),
    (check_influence, influence_by_doubling),
    (check_attention_backward, backward),
    (check_attention_backward, backward_by_autograd),
]

WRONG = [
    (check_allowed_pairs, 5050, "causal mask alone"),
    (check_allowed_pairs, 6000, "padding mask alone"),
    (check_allowed_pairs, 1830, "rows of padding look at words"),
    (check_allowed_pairs, 3600, "all pairs of words"),
    (check_allowed_pairs, 4170, "diagonal is allowed"),
    (check_allowed_pairs, 1770, "and the rows of padding"),
    (check_allowed_pairs, 4950, "with padding in it"),
    (check_allowed_pairs, 6820, "that either mask allows"),
    (check_allowed_pairs, 10_000, "forbid some of them"),
    (check_allowed_pairs, 2500, "2500 is not it: count row by row"),
    (check_allowed_pairs, "4230", "wanted one number, got str"),
    (check_longest_sentence, 5792.6, "words come whole"),
    (check_longest_sentence, 4096, "float16, not 4"),
    (check_longest_sentence, 8192, "float16, not 1"),
    (check_longest_sentence, 16_384, "of the 8 heads has"),
    (check_longest_sentence, 32_768, "of the 32 sentences has weights of its own"),
    (check_longest_sentence, 92_681, "for each of its 8 heads"),
    (check_longest_sentence, 2**25, "number of pairs"),
    (check_longest_sentence, 5590, "1024³"),
    (check_longest_sentence, 1024, "1024 words make 0.5 GiB"),
    (check_decoder_mask, lambda ids, pad_id: ~decoder_mask(ids, pad_id), "turned round"),
    (
        check_decoder_mask,
        lambda ids, pad_id: np.tri(ids.shape[1], dtype=bool) | (ids != pad_id)[:, None],
        r"joined with \|",
    ),
    (
        check_decoder_mask,
        lambda ids, pad_id: np.tri(ids.shape[1], dtype=bool).T & (ids != pad_id)[:, None],
        "lies the wrong way",
    ),
    (
        check_decoder_mask,
        lambda ids, pad_id: np.tri(ids.shape[1], k=-1, dtype=bool) & (ids != pad_id)[:, None],
        "diagonal belongs",
    ),
    (
        check_decoder_mask,
        lambda ids, pad_id: np.tri(ids.shape[1], k=1, dtype=bool) & (ids != pad_id)[:, None],
        "sees one ahead",
    ),
    (
        check_decoder_mask,
        lambda ids, pad_id: np.tri(ids.shape[1], dtype=bool) & (ids != pad_id)[..., None],
        "hidden in the rows",
    ),
    (
        check_decoder_mask,
        lambda ids, pad_id: decoder_mask(ids, pad_id) & (ids != pad_id)[..., None],
        "rows with nothing to look at",
    ),
    (
        check_decoder_mask,
        lambda ids, pad_id: np.tile(np.tri(ids.shape[1], dtype=bool), (len(ids), 1, 1)),
        "padding may be looked at",
    ),
    (
        check_decoder_mask,
        lambda ids, pad_id: np.repeat((ids != pad_id)[:, None], ids.shape[1], axis=1),
        "see what comes after",
    ),
    (check_decoder_mask, lambda ids, pad_id: decoder_mask(ids, pad_id).astype(float), "got float64"),
    (check_decoder_mask, lambda ids, pad_id: decoder_mask(ids, pad_id)[:, None], r"wrong for \[\[5\]\], 0"),
    (check_newest_mask, lambda new, every: np.tri(new, every, dtype=bool), "top left"),
    (check_newest_mask, lambda new, every: ~tri(new, every, 0), "turned round"),
    (check_newest_mask, lambda new, every: tri(new, every, 1), "one ahead"),
    (check_newest_mask, lambda new, every: tri(new, every, -1), "sees itself"),
    (check_newest_mask, lambda new, every: tri(new, every, 0).T, "transposed"),
    (check_newest_mask, lambda new, every: np.ones((new, every), dtype=bool), "everything is allowed"),
    (check_newest_mask, lambda new, every: np.tri(every, dtype=bool), "mask of all words"),
    (check_newest_mask, lambda new, every: np.tri(every)[-new:], "got float64"),
    (check_module_masks, lambda ids, pad_id: np.tri(2, dtype=bool), "wanted two masks"),
    (
        check_module_masks,
        lambda ids, pad_id: (~module_masks(ids, pad_id)[0], ids == pad_id),
        "for the function",
    ),
    (
        check_module_masks,
        lambda ids, pad_id: (module_masks(ids, pad_id)[0].T, ids == pad_id),
        "hides the past",
    ),
    (
        check_module_masks,
        lambda ids, pad_id: (~np.tri(ids.shape[1], k=-1, dtype=bool), ids == pad_id),
        "each word from itself",
    ),
    (
        check_module_masks,
        lambda ids, pad_id: (~np.tri(ids.shape[1], k=1, dtype=bool), ids == pad_id),
        "one ahead",
    ),
    (
        check_module_masks,
        lambda ids, pad_id: (module_masks(ids, pad_id)[0], ids != pad_id),
        "key_padding_mask is turned round",
    ),
    (
        check_module_masks,
        lambda ids, pad_id: (module_masks(ids, pad_id)[0], (ids == pad_id)[:, None]),
        "one axis too many",
    ),
    (check_influence, lambda layer, x: influence(layer, x).T, "transposed"),
    (check_influence, lambda layer, x: ~influence(layer, x), "turned round"),
    (check_influence, influence_rounded, "compare exactly"),
    (check_influence, influence_piled_up, "start from x"),
    (check_influence, influence_at_once, "all words are edited at once"),
    (check_influence, lambda layer, x: influence(layer, x).astype(int), "got int64"),
    (check_influence, lambda layer, x: np.tri(len(x), dtype=bool), "a layer with the mask"),
    (check_attention_backward, unscaled, "not divided by √d_k"),
    (check_attention_backward, backward_with(lambda grad, weights: weights * grad), "mean of the row"),
    (
        check_attention_backward,
        backward_with(lambda grad, weights: grad - (weights * grad).sum(-1, keepdims=True)),
        "factor of the weights",
    ),
    (check_attention_backward, unweighted_value, "weigh it by who looked"),
    (check_attention_backward, lambda *given: backward(*given)[0], "wrong for "),
    (
        check_attention_backward,
        lambda *given: (*backward(*given)[1::-1], backward(*given)[2]),
        "exchanged",
    ),
    (check_attention_backward, lambda *given: tuple(-each for each in backward(*given)), "wrong for "),
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

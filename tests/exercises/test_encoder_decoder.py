import numpy as np
import pytest
import torch

from glassformer.exercises import encoder_decoder as exercises
from glassformer.exercises.checking import Slip
from glassformer.modules.layers import DecoderLayer

END = 2


def cut(ids):
    return ids[:, :-1], ids[:, 1:]


def decoder_layer_size(d_model, d_ff):
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    return 2 * attention + feed_forward + 3 * 2 * d_model


def mean_surprise(log_probs, wanted_ids, pad_id):
    total, count = 0.0, 0
    for row, ids in zip(log_probs, wanted_ids, strict=True):
        for told, id in zip(row, ids, strict=True):
            if id != pad_id:
                total, count = total - told[id], count + 1
    return total / count


def write(next_logits, max_length):
    ids = [1]
    while len(ids) <= max_length and ids[-1] != END:
        ids.append(int(np.argmax(next_logits(ids))))
    return ids[1:]


def written_by(stop=END, keep_start=False, keep_end=True, best=np.argmax, extra=0):
    def attempt(next_logits, max_length):
        ids = [1]
        while len(ids) <= max_length + extra and ids[-1] != stop:
            ids.append(int(best(next_logits(ids))))
        ids = ids if keep_start else ids[1:]
        return ids if keep_end else [id for id in ids if id != END]

    return attempt


def picked(log_probs, wanted_ids):
    return -np.take_along_axis(log_probs, wanted_ids[..., None], axis=-1)[..., 0]


def size_of(attentions, norms, biases=True):
    def count(d, f):
        maps = attentions * 4 * d * d + 2 * d * f
        return maps + (attentions * 4 * d + f + d if biases else 0) + 2 * norms * d

    return count


SOLUTIONS = [
    (exercises.check_cut, cut),
    (exercises.check_decoder_layer_size, decoder_layer_size),
    (exercises.check_mean_surprise, mean_surprise),
    (exercises.check_write, write),
    (exercises.check_shortcut_score, 0.75),
    (
        exercises.check_best_by_luck,
        np.random.default_rng(3).binomial(400, 0.5, (2000, 16)).max(1).mean() / 400,
    ),
]
VARIANTS = [
    (exercises.check_cut, lambda ids: (np.delete(ids, -1, axis=1), ids.T[1:].T)),
    (exercises.check_cut, lambda ids: (torch.tensor(ids)[:, :-1], torch.tensor(ids)[:, 1:])),
    (
        exercises.check_decoder_layer_size,
        lambda d, f: sum(p.numel() for p in DecoderLayer(d, 1, f).parameters()),
    ),
    (exercises.check_decoder_layer_size, lambda d, f: 8 * d * d + 2 * d * f + 15 * d + f),
    (exercises.check_mean_surprise, lambda lp, w, pad: picked(lp, w)[w != pad].mean()),
    (
        exercises.check_mean_surprise,
        lambda lp, w, pad: torch.nn.functional.nll_loss(
            torch.tensor(lp).flatten(0, 1), torch.tensor(w).flatten(), ignore_index=pad
        ),
    ),
    (exercises.check_write, lambda next_logits, most: np.array(write(next_logits, most))),
    (exercises.check_write, lambda next_logits, most: torch.tensor(write(next_logits, most))),
    (exercises.check_shortcut_score, 3 / 4),
    (exercises.check_best_by_luck, np.float64(0.544)),
]
SLIPS = [
    (exercises.check_cut, lambda ids: (ids, ids), "the whole sentence"),
    (exercises.check_cut, lambda ids: (ids[:, :-1], ids[:, :-1]), "given the very word that is wanted"),
    (exercises.check_cut, lambda ids: (ids[:, 1:], ids[:, 1:]), "the start is dropped from both"),
    (exercises.check_cut, lambda ids: (ids[:, 1:], ids[:, :-1]), "the other way round"),
    (exercises.check_cut, lambda ids: (ids[:, :-2], ids[:, 2:]), "shifted by two"),
    (exercises.check_cut, lambda ids: (ids[:, :-2], ids[:, 1:-1]), "would not learn to stop"),
    (exercises.check_cut, lambda ids: (ids[:-1], ids[1:]), "time is the last axis"),
    (exercises.check_decoder_layer_size, size_of(1, 2), "encoder layer"),
    (exercises.check_decoder_layer_size, size_of(1, 3), "one attention is missing"),
    (exercises.check_decoder_layer_size, size_of(2, 2), "one norm is missing"),
    (exercises.check_decoder_layer_size, size_of(2, 0), "the norms are missing"),
    (exercises.check_decoder_layer_size, size_of(2, 3, biases=False), "biases are missing"),
    (
        exercises.check_decoder_layer_size,
        lambda d, f: decoder_layer_size(d, f) - 2 * (d * d + d),
        "output projections",
    ),
    (exercises.check_decoder_layer_size, lambda d, f: decoder_layer_size(d, f) - 3 * d, "scale and shift"),
    (exercises.check_decoder_layer_size, lambda d, f: decoder_layer_size(d, f) - d * f - d, "two maps"),
    (exercises.check_mean_surprise, lambda lp, w, pad: -mean_surprise(lp, w, pad), "sign is turned"),
    (exercises.check_mean_surprise, lambda lp, w, pad: picked(lp, w).mean(), "padding counts"),
    (
        exercises.check_mean_surprise,
        lambda lp, w, pad: (picked(lp, w) * (w != pad)).mean(),
        "still counted in the mean",
    ),
    (exercises.check_mean_surprise, lambda lp, w, pad: picked(lp, w)[w != pad].sum(), "this is the sum"),
    (
        exercises.check_mean_surprise,
        lambda lp, w, pad: np.mean([mean_surprise(lp[i : i + 1], w[i : i + 1], pad) for i in range(len(w))]),
        "mean of the sentences' means",
    ),
    (
        exercises.check_mean_surprise,
        lambda lp, w, pad: -np.exp(-picked(lp, w))[w != pad].mean(),
        "their logarithms are given",
    ),
    (exercises.check_write, written_by(stop=None), "goes on after the end"),
    (exercises.check_write, written_by(keep_start=True), "the start is returned"),
    (exercises.check_write, written_by(keep_end=False), "the end is cut off"),
    (exercises.check_write, written_by(best=np.argmin), "least likely"),
    (exercises.check_write, written_by(extra=1), "one word too many"),
    (exercises.check_write, written_by(extra=-1), "without the start"),
    (exercises.check_shortcut_score, 1.0, "always differ in gender"),
    (exercises.check_shortcut_score, 0.5, '"it" is the animal'),
    (exercises.check_shortcut_score, 75, "in per cent"),
    (exercises.check_shortcut_score, 0.6, "go through every animal"),
    (exercises.check_best_by_luck, 0.5, "one coin's score"),
    (exercises.check_best_by_luck, 0.456, "worst"),
    (exercises.check_best_by_luck, 54.41, "in per cent"),
    (exercises.check_best_by_luck, 0.6, "keep the best, often"),
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


@pytest.mark.parametrize(
    "check",
    [
        exercises.check_cut,
        exercises.check_decoder_layer_size,
        exercises.check_mean_surprise,
        exercises.check_write,
    ],
)
def test_an_answer_of_another_kind_is_shown_beside_the_wanted_one(check):
    with pytest.raises(Slip, match="wanted"):
        check(lambda *_: np.array([99.0]))

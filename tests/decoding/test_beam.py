import itertools
import math

import pytest
import torch

from glassformer.decoding.beam import Hypothesis, beam_search
from glassformer.decoding.generate import greedy_decode
from glassformer.modules.transformer import Transformer

from .conftest import END, PAD, START, TARGET_SIZE, make_model, make_sources

SPECIAL_IDS = {"start_id": START, "end_id": END}
PENALTIES = [("none", None), ("average", None), ("average", 0.3), ("gnmt", None), ("gnmt", 2)]
every_penalty = pytest.mark.parametrize(("length_penalty", "alpha"), PENALTIES)


def penalty(kind, alpha, length):
    """Compute the length penalty as documented."""
    if kind == "none":
        return 1
    if kind == "average":
        return length ** (1 if alpha is None else alpha)
    return ((5 + length) / 6) ** (0.6 if alpha is None else alpha)


@torch.no_grad()
def log_probabilities(model, source_ids, translations):
    """Return the log-probabilities of several translations of one sentence, each in one forward pass."""
    width = max(map(len, translations))
    given = [[START, *ids[:-1], *[PAD] * (width - len(ids))] for ids in translations]
    log_probs = model(source_ids.expand(len(given), -1), torch.tensor(given)).log_softmax(-1).tolist()
    return [
        sum(log_probs[row][place][id] for place, id in enumerate(ids)) for row, ids in enumerate(translations)
    ]


def exhaustive(model, source_ids, max_length, kind, alpha):
    """Return all translations, best first, ended ones before truncated ones."""
    letters = [id for id in range(model.config.target_vocabulary_size) if id not in (PAD, END)]
    whole = [
        (*ids, END) if length < max_length else ids
        for length in range(max_length + 1)
        for ids in itertools.product(letters, repeat=length)
    ]
    found = [
        Hypothesis(ids, log_prob, log_prob / penalty(kind, alpha, len(ids)), ids[-1] == END)
        for ids, log_prob in zip(whole, log_probabilities(model, source_ids, whole), strict=True)
    ]
    return sorted(found, key=lambda one: (-one.ended, -one.score))


@torch.no_grad()
def patient_search(model, source_ids, max_length, beam_size, kind, alpha):
    """Search for one sentence without batch, cache or early stopping."""
    beams, found = [((), 0.0)], []
    for length in range(1, max_length + 1):
        room = beam_size - len(found)
        if not beams:
            break
        generated = torch.tensor([[START, *ids] for ids, _ in beams])
        steps = model(source_ids.expand(len(beams), -1), generated)[:, -1].log_softmax(-1).tolist()
        candidates = [
            ((*ids, id), log_prob + step)
            for (ids, log_prob), row in zip(beams, steps, strict=True)
            for id, step in enumerate(row)
            if id != PAD
        ]
        beams = []
        for ids, log_prob in sorted(candidates, key=lambda one: -one[1])[:room]:
            if ids[-1] == END or length == max_length:
                score = log_prob / penalty(kind, alpha, length)
                found.append(Hypothesis(ids, log_prob, score, ids[-1] == END))
            else:
                beams.append((ids, log_prob))
    return sorted(found, key=lambda one: (-one.ended, -one.score))


def assert_same_hypotheses(found, expected):
    assert [one.ids for one in found] == [one.ids for one in expected]
    assert [one.ended for one in found] == [one.ended for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)
        assert one.score == pytest.approx(other.score, abs=1e-4)


@every_penalty
@pytest.mark.parametrize("seed", range(2))
def test_a_wide_enough_beam_finds_the_best_of_all_sentences(length_penalty, alpha, seed):
    model, source_ids = make_model(seed=seed, target_size=5, wild=2.0), make_sources(1, seed=seed)
    expected = exhaustive(model, source_ids, 4, length_penalty, alpha)
    found = beam_search(
        model,
        source_ids,
        **SPECIAL_IDS,
        max_length=4,
        beam_size=len(expected),
        n_best=11,
        length_penalty=length_penalty,
        alpha=alpha,
    )
    assert_same_hypotheses(found[0], expected[:11])


@every_penalty
@pytest.mark.parametrize(("beam_size", "n_best"), [(1, 1), (2, 1), (3, 2), (5, 5)])
def test_stopping_early_loses_nothing(length_penalty, alpha, beam_size, n_best):
    model, source_ids = make_model(seed=beam_size), make_sources(5, seed=beam_size)
    options = {"length_penalty": length_penalty, "alpha": alpha, "beam_size": beam_size, "max_length": 8}
    found = beam_search(model, source_ids, **SPECIAL_IDS, **options, n_best=n_best)
    for row, hypotheses in zip(source_ids, found, strict=True):
        source = row[row != PAD][None]
        expected = patient_search(model, source, 8, beam_size, length_penalty, alpha)
        assert_same_hypotheses(hypotheses, expected[:n_best])


class Scripted(Transformer):
    """Ends at once with probability 0.4; else it generates a 3, then most likely 4, 5 and the end."""

    def decode(self, target_ids, memory, memory_mask=None):
        likely = torch.full((4, TARGET_SIZE), 1e-4)
        likely[0, [END, 3]] = torch.tensor([0.4, 0.35])
        likely[[1, 2, 3], [4, 5, END]] = 0.99
        return likely[: target_ids.shape[1]].log().expand(len(target_ids), -1, -1)


@pytest.mark.parametrize(
    ("length_penalty", "alpha", "best"),
    [("none", None, (END,)), ("average", None, (3, 4, 5, END)), ("gnmt", 2, (3, 4, 5, END))],
)
def test_a_hypothesis_that_starts_behind_may_win(length_penalty, alpha, best):
    model = Scripted(make_model().config).eval()
    options = {"beam_size": 2, "max_length": 4, "length_penalty": length_penalty, "alpha": alpha}
    [[found]] = beam_search(model, make_sources(1), **SPECIAL_IDS, **options)
    assert found.ids == best


def test_the_search_stops_when_no_beam_can_still_win():
    model, source_ids = make_model(wild=6.0), make_sources(1)
    steps = []
    model.output_proj.register_forward_hook(lambda *_: steps.append(1))
    for length_penalty in ("none", "average"):
        steps.clear()
        hypotheses = beam_search(
            model, source_ids, **SPECIAL_IDS, max_length=500, beam_size=5, length_penalty=length_penalty
        )
        assert hypotheses[0][0].ended
        assert len(steps) < 500


@pytest.mark.parametrize("length_penalty", ["none", "average", "gnmt"])
def test_one_beam_is_greedy_decoding(any_model, length_penalty):
    source_ids = make_sources(13)
    generated = greedy_decode(any_model, source_ids, **SPECIAL_IDS).tolist()
    found = beam_search(any_model, source_ids, **SPECIAL_IDS, beam_size=1, length_penalty=length_penalty)
    for row, [hypothesis] in zip(generated, found, strict=True):
        assert hypothesis.ids == tuple(id for id in row if id != PAD)


def test_beam_search_finds_the_same_with_and_without_a_cache(any_model, device):
    source_ids = make_sources(5).to(device)
    options = {"beam_size": 3, "n_best": 3, "max_length": 7}
    cached, uncached = (
        beam_search(any_model.to(device), source_ids, **SPECIAL_IDS, **options, use_cache=cached)
        for cached in (True, False)
    )
    for found, expected in zip(cached, uncached, strict=True):
        assert_same_hypotheses(found, expected)


def test_results_do_not_depend_on_the_rest_of_the_batch(any_model):
    source_ids = make_sources(17, seed=2)
    together = beam_search(any_model, source_ids, **SPECIAL_IDS, beam_size=3, n_best=3)
    for row, found in zip(source_ids, together, strict=True):
        [alone] = beam_search(any_model, row[row != PAD][None], **SPECIAL_IDS, beam_size=3, n_best=3)
        assert_same_hypotheses(found, alone)
    assert len({len(found[0].ids) for found in together}) > 1


def test_hypotheses_have_the_log_probability_that_the_model_assigns():
    model, source_ids = make_model(), make_sources(1)
    [found] = beam_search(model, source_ids, **SPECIAL_IDS, beam_size=4, n_best=4)
    assert len({one.ids for one in found}) == 4
    expected = log_probabilities(model, source_ids, [one.ids for one in found])
    assert [one.log_probability for one in found] == pytest.approx(expected, abs=1e-4)
    for one in found:
        assert one.score == pytest.approx(one.log_probability / penalty("gnmt", None, len(one.ids)))


def test_several_beams_find_more_probable_translations_than_one():
    model, source_ids = make_model(wild=2.0, seed=1), make_sources(29)
    narrow, wide = (
        beam_search(model, source_ids, **SPECIAL_IDS, max_length=20, beam_size=size, length_penalty="none")
        for size in (1, 6)
    )
    gains = [
        best.log_probability - greedy.log_probability
        for [best], [greedy] in zip(wide, narrow, strict=True)
        if best.ended and greedy.ended
    ]
    assert len(gains) > 3
    assert sum(gains) > 0.1


def test_each_sentence_has_its_own_maximum_length():
    source_ids = make_sources(3)
    max_length = torch.tensor([2, 5, 3])
    found = beam_search(make_model(), source_ids, start_id=START, end_id=-1, max_length=max_length)
    assert [len(one.ids) for [one] in found] == [2, 5, 3]
    assert not any(one.ended for [one] in found)


def test_forbidden_tokens_and_padding_are_never_generated():
    options = {"beam_size": 40, "n_best": 40, "max_length": 4, "forbidden_ids": (START, 5)}
    [found] = beam_search(make_model(wild=0.1), make_sources(1), **SPECIAL_IDS, **options)
    assert {id for one in found for id in one.ids} == {END, 3, 4, 6}


def test_a_small_vocabulary_gives_as_many_hypotheses_as_exist():
    options = {"beam_size": 9, "n_best": 9, "max_length": 2, "forbidden_ids": (START,)}
    [found] = beam_search(make_model(target_size=4), make_sources(1), **SPECIAL_IDS, **options)
    assert {one.ids for one in found} == {(END,), (3, END), (3, 3)}


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, "beam_size must be a positive integer, got 0"),
        ({"n_best": 5}, r"n_best must be at most beam_size \(4\), got 5"),
        ({"length_penalty": "some"}, "length_penalty must be one of 'none', 'average', 'gnmt', got 'some'"),
        ({"alpha": -1}, "alpha must be at least 0 and finite, got -1"),
        ({"alpha": math.inf}, "alpha must be at least 0 and finite, got inf"),
        ({"forbidden_ids": (7,)}, r"forbidden_ids must be at least 0 and below 7, got \[0, 7\]"),
        ({"max_length": 0}, "max_length must be a positive integer, got 0"),
    ],
)
def test_invalid_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        beam_search(make_model(), make_sources(2), **(SPECIAL_IDS | options))


def test_a_model_in_training_mode_is_refused():
    with pytest.raises(ValueError, match="model must be in evaluation mode"):
        beam_search(make_model().train(), make_sources(2), **SPECIAL_IDS)


def test_logits_that_are_not_finite_are_refused():
    model = make_model()
    model.decoder.layers[0].feed_forward.outer.weight.data[3] = math.nan
    with pytest.raises(ValueError, match="logits of the model must be finite, got NaN or infinity"):
        beam_search(model, make_sources(2), **SPECIAL_IDS)

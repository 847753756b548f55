"""Attributing a score to tokens."""

import pytest
import torch
from torch import nn

from glassformer.inspection import gradient_times_input, input_gradients, occlusion

from .conftest import D_MODEL, WORDS, count_hooks


@pytest.fixture
def bag(device):
    """Return a score that is a sum over tokens, whose contributions are known."""
    torch.manual_seed(4)
    embedding, readout = nn.Embedding(WORDS, D_MODEL).to(device).eval(), nn.Linear(D_MODEL, 1).to(device)
    return embedding, readout.weight[0], lambda ids: readout(embedding(ids)).sum((1, 2))


@pytest.fixture
def log_probability(model, ids):
    """Return the log-probability of one token after the first three of a target."""
    target_ids = ids[1][:1, :3]

    def score(source_ids):
        return model(source_ids, target_ids.expand(len(source_ids), -1))[:, -1].log_softmax(-1)[:, 5]

    return score


def test_gradient_times_input_of_a_sum_gives_its_summands(bag, ids):
    embedding, weight, score = bag
    torch.testing.assert_close(gradient_times_input(score, ids[0], embedding), embedding(ids[0]) @ weight)


def test_occlusion_of_a_sum_gives_the_summand_minus_that_of_the_replacement(bag, ids):
    embedding, weight, score = bag
    falls = occlusion(score, ids[0], replacement_id=7)
    torch.testing.assert_close(falls, embedding(ids[0]) @ weight - embedding.weight[7] @ weight)


def test_gradients_predict_the_effect_of_a_small_step(model, ids, log_probability):
    model.double()
    embedding, source_ids = model.source_embedding.token, ids[0][1:]
    vectors, gradients = input_gradients(log_probability, source_ids, embedding)
    torch.testing.assert_close(vectors, embedding(source_ids).detach())
    direction = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(5)).to(vectors)
    after, before = (
        log_probability_at(embedding, vectors + sign * 1e-6 * direction, log_probability, source_ids)
        for sign in (1, -1)
    )
    torch.testing.assert_close(
        (after - before) / 2e-6, (gradients * direction).sum().expand(1), rtol=1e-5, atol=1e-8
    )


def log_probability_at(embedding, vectors, score, ids):
    handle = embedding.register_forward_hook(lambda *_: vectors)
    try:
        return score(ids).detach()
    finally:
        handle.remove()


def test_padding_contributes_nothing_to_a_score(model, ids, log_probability):
    source_ids, _ = ids
    assert (source_ids[0, 4:] == 0).all()
    saliency = gradient_times_input(log_probability, source_ids, model.source_embedding.token)
    assert (saliency[0, 4:] == 0).all()
    assert (saliency[0, :4] != 0).all()


def test_a_sentence_is_explained_independently_of_its_batch(model, ids, log_probability):
    source_ids, _ = ids
    embedding = model.source_embedding.token
    for explain in (
        lambda ids: gradient_times_input(log_probability, ids, embedding),
        lambda ids: occlusion(log_probability, ids, replacement_id=7, ignored_ids=[0]),
    ):
        alone = explain(source_ids[:1, :4])
        torch.testing.assert_close(explain(source_ids)[:1, :4], alone, rtol=1e-4, atol=1e-6)


def test_ignored_ids_are_not_occluded(bag, ids):
    _, _, score = bag
    source_ids, _ = ids
    free, spared = (occlusion(score, source_ids, replacement_id=7, ignored_ids=kept) for kept in ([], [0, 3]))
    kept = (source_ids == 0) | (source_ids == 3)
    assert kept.any()
    assert (spared[kept] == 0).all()
    torch.testing.assert_close(spared[~kept], free[~kept])
    assert (free[kept] != 0).all()


def test_explaining_changes_neither_ids_nor_model(model, ids, log_probability):
    source_ids = ids[0].clone()
    with torch.no_grad():
        gradient_times_input(log_probability, source_ids, model.source_embedding.token)
    occlusion(log_probability, source_ids, replacement_id=7)
    assert torch.equal(source_ids, ids[0])
    assert count_hooks(model) == 0
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_model_in_training_mode_is_rejected(model, ids, log_probability):
    model.train()
    with pytest.raises(ValueError, match="in evaluation mode"):
        input_gradients(log_probability, ids[0], model.source_embedding.token)


@pytest.mark.usefixtures("as_a_user")
def test_a_score_must_be_one_number_per_sentence(bag, ids):
    embedding, _, _ = bag
    source_ids, _ = ids
    for explain in (
        lambda score: input_gradients(score, source_ids, embedding),
        lambda score: occlusion(score, source_ids, replacement_id=7),
    ):
        with pytest.raises(ValueError, match=r"score must have shape \(2,\), got \(2, 7, 12\)"):
            explain(embedding)


@pytest.mark.parametrize(
    ("change", "shapes"),
    [
        (lambda score: lambda ids: ids.sum(1), r"\[\]"),
        (lambda score: lambda ids: score(ids[:, 1:]), r"\[\(2, 6\)\]"),
        (lambda score: lambda ids: score(ids) + score(ids), r"\[\(2, 7\), \(2, 7\)\]"),
    ],
)
def test_a_score_must_embed_the_ids_once(bag, ids, change, shapes):
    embedding, _, score = bag
    with pytest.raises(ValueError, match=rf"must embed ids of shape \(2, 7\) once, got {shapes}"):
        input_gradients(change(score), ids[0], embedding)
    assert count_hooks(embedding) == 0

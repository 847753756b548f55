import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.decoding.logits import forbid_tokens, require_finite, topk


def make_scores(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@given(size=st.integers(1, 2000), count=st.integers(1, 9), seed=st.integers(0, 99))
def test_topk_equals_pytorchs(size, count, seed):
    count = min(count, size)
    scores = make_scores(3, size, seed=seed)
    values, ids = topk(scores, count)
    expected = scores.topk(count)
    assert torch.equal(values, expected.values)
    assert torch.equal(ids, expected.indices)


@pytest.mark.parametrize("place", [0, 127, 128, 1279, 1280, 1290])
def test_topk_finds_the_highest_score_at_any_place(place, device):
    scores = make_scores(2, 3, 1291).to(device)
    scores[1, 2, place] = 10
    values, ids = topk(scores, 4)
    assert (values[1, 2, 0].item(), ids[1, 2, 0].item()) == (10, place)
    assert ids.max() < 1291


@pytest.mark.parametrize("size", [512, 513, 600])
def test_topk_returns_distinct_ids_of_the_vocabulary_if_most_scores_are_forbidden(size):
    scores = torch.full((size,), -torch.inf)
    scores[-1] = 0
    _, ids = topk(scores, 2)
    assert ids[0] == size - 1
    assert 0 <= ids[1] < size - 1


@pytest.mark.parametrize("size", [5, 1291])
def test_topk_does_not_miss_nan(size):
    scores = make_scores(2, size)
    scores[1, size - 2] = math.nan
    values, _ = topk(scores, 2)
    require_finite(values[:1])
    with pytest.raises(ValueError, match="logits of the model must be finite, got NaN or infinity"):
        require_finite(values)


def test_forbidden_tokens_have_a_score_of_minus_infinity():
    scores = make_scores(2, 7)
    before = scores.clone()
    assert (forbid_tokens(scores, {5, 1}) == -math.inf).nonzero()[:, 1].tolist() == [1, 5, 1, 5]
    kept = [0, 2, 3, 4, 6]
    assert torch.equal(scores[:, kept], before[:, kept])


def test_a_forbidden_token_outside_the_vocabulary_is_named():
    with pytest.raises(ValueError, match=r"forbidden_ids must be at least 0 and below 7, got \[1, 7\]"):
        forbid_tokens(make_scores(2, 7), (7, 1))

import numpy as np
import pytest

from glassformer.data.vocabulary import SPECIAL_TOKENS
from glassformer.tasks.planted import CapitalTask

BATCH, LENGTH, LETTERS, CAPITALS = 2000, 7, 5, 2


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def task():
    return CapitalTask(LENGTH, LETTERS, CAPITALS)


def test_capitals_occur_only_at_the_cause_positions_and_give_the_answer(task, rng):
    for ids, wanted, causes in zip(*task.sample(BATCH, rng), strict=True):
        letters = task.decode(ids).split()
        assert [place for place, letter in enumerate(letters) if letter.isupper()] == causes.tolist()
        assert {letters[place].lower() for place in causes} == {task.words[wanted]}


def test_lower_case_letters_say_nothing_about_the_answer(rng):
    task = CapitalTask(LENGTH, LETTERS)
    ids, wanted, causes = task.sample(20_000, rng)
    others = np.arange(LENGTH) != causes
    for answer in np.unique(wanted):
        seen = ids[wanted == answer][others[wanted == answer]]
        shares = np.bincount(seen)[CapitalTask.BLANK_ID :] / len(seen)
        np.testing.assert_allclose(shares, 1 / (LETTERS + 1), atol=0.01)


def test_answers_and_positions_are_uniform(rng):
    _, wanted, causes = CapitalTask(LENGTH, LETTERS).sample(20_000, rng)
    np.testing.assert_allclose(np.unique(wanted, return_counts=True)[1] / 20_000, 1 / LETTERS, atol=0.02)
    np.testing.assert_allclose(np.bincount(causes[:, 0]) / 20_000, 1 / LENGTH, atol=0.02)


def test_several_capitals_have_distinct_positions(task, rng):
    causes = task.sample(BATCH, rng).cause_positions
    assert causes.shape == (BATCH, CAPITALS)
    assert (np.diff(causes) > 0).all()


def test_every_id_after_the_special_tokens_has_a_name(task, rng):
    assert task.words[: len(SPECIAL_TOKENS)] == SPECIAL_TOKENS
    assert task.words[CapitalTask.BLANK_ID :] == tuple("_abcdeABCDE")
    ids = task.sample(BATCH, rng).source_ids
    assert np.unique(ids).tolist() == list(range(CapitalTask.BLANK_ID, len(task.words)))


def test_the_same_state_draws_the_same_rows(task):
    first, second = (task.sample(BATCH, np.random.default_rng(3)) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 5), "length must be a positive integer, got 0"),
        ((3, 5, 4), r"num_capitals \(4\) must be at most the length \(3\)"),
        ((3, 1), "num_letters must be from 2 to 26, got 1"),
        ((3, 27), "num_letters must be from 2 to 26, got 27"),
    ],
)
def test_an_impossible_sample_is_rejected(sizes, message):
    with pytest.raises(ValueError, match=message):
        CapitalTask(*sizes)


def test_an_empty_corpus_is_rejected(task, rng):
    with pytest.raises(ValueError, match="batch_size must be a positive integer, got 0"):
        task.sample(0, rng)

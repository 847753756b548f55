import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.order import OrderTask

BATCH, LENGTH, SYMBOLS = 3, 11, 7
QUESTIONS = ["before", "first", "later"]


@given(
    question=st.sampled_from(QUESTIONS),
    num_symbols=st.integers(1, 13),
    longer=st.integers(0, 9),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_answer_is_the_word_that_the_question_asks_for(question, num_symbols, longer, seed):
    task = OrderTask(question, num_symbols)
    length = task.shortest + longer
    ids, wanted_ids = task.sample(BATCH, length, np.random.default_rng(seed))
    assert ids.shape == (BATCH, length)
    assert ids.max() < task.vocabulary_size
    for row, wanted in zip(ids.tolist(), wanted_ids.tolist(), strict=True):
        match question:
            case "before":
                assert wanted == row[-2]
            case "first":
                assert wanted == row[0]
            case "later":
                assert row.count(0) == row.count(1) == 1
                assert row.index(wanted) == max(row.index(0), row.index(1))
        assert row[-1] >= 2


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_answer_is_as_likely_as_another(question):
    task = OrderTask(question, SYMBOLS)
    _, wanted_ids = task.sample(7000, LENGTH, np.random.default_rng(0))
    counts = np.unique(wanted_ids, return_counts=True)[1]
    assert len(counts) == (2 if question == "later" else SYMBOLS)
    np.testing.assert_allclose(counts / 7000, 1 / len(counts), atol=0.02)


def test_the_two_words_stand_anywhere_but_last():
    ids, _ = OrderTask("later", SYMBOLS).sample(7000, LENGTH, np.random.default_rng(0))
    share = (ids == 0).mean(axis=0)
    np.testing.assert_allclose(share[:-1], 1 / (LENGTH - 1), atol=0.02)
    assert share[-1] == 0


def test_the_same_generator_state_draws_the_same_batch():
    draws = [OrderTask("later", SYMBOLS).sample(BATCH, LENGTH, np.random.default_rng(s)) for s in (5, 5, 6)]
    np.testing.assert_array_equal(draws[0].ids, draws[1].ids)
    assert (draws[0].ids != draws[2].ids).any()


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: OrderTask("last", 2), r"question must be .*'later'.*, got 'last'"),
        (lambda: OrderTask("first", 0), "num_symbols must be a whole number of at least 1, got 0"),
        (
            lambda: OrderTask("later", 2).sample(1, 2, np.random.default_rng(0)),
            r"length \(2\) must be at least 3 to ask 'later'",
        ),
        (
            lambda: OrderTask("first", 2).sample(0, 2, np.random.default_rng(0)),
            "batch_size must be a whole number of at least 1, got 0",
        ),
    ],
)
def test_a_wrong_argument_is_named_with_both_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()

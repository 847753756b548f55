import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.tasks.questions import (
    QuestionTask,
    accuracy_per_question,
    exact_match_rate,
    weight_per_question,
)

BATCH, PAIRS, SYMBOLS, VALUES, QUESTIONS = 3, 5, 7, 11, 2
TASK = QuestionTask(PAIRS, SYMBOLS, VALUES, QUESTIONS)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@given(
    num_questions=st.integers(1, 4),
    more_pairs=st.integers(0, 5),
    more_symbols=st.integers(0, 5),
    num_values=st.integers(1, 17),
    batch_size=st.integers(1, 5),
)
def test_labels_are_the_values_of_distinct_queried_symbols(
    num_questions, more_pairs, more_symbols, num_values, batch_size
):
    num_pairs = num_questions + more_pairs
    task = QuestionTask(num_pairs, num_pairs + more_symbols, num_values, num_questions)
    batch = task.sample(batch_size, np.random.default_rng(0))
    assert batch.query_ids.shape == batch.labels.shape == (batch_size, num_questions)
    beside = batch.query_ids[:, :, None] == batch.key_ids[:, None, :]
    np.testing.assert_array_equal(beside.sum(axis=-1), np.ones((batch_size, num_questions)))
    assert beside.sum(axis=1).max() == 1
    np.testing.assert_array_equal((beside * batch.value_ids[:, None, :]).sum(axis=-1), batch.labels)


def test_every_symbol_value_and_position_occurs_in_every_question(rng):
    batch = TASK.sample(1999, rng)
    places = (batch.query_ids[:, :, None] == batch.key_ids[:, None, :]).argmax(axis=-1)
    for ids, count in ((batch.query_ids, SYMBOLS), (batch.labels, VALUES), (places, PAIRS)):
        for question in range(QUESTIONS):
            np.testing.assert_array_equal(np.unique(ids[:, question]), np.arange(count))


def test_answers_are_independent_of_symbols_and_of_each_other(rng):
    batch = TASK.sample(19_997, rng)
    for hint, count in ((batch.query_ids[:, 0], SYMBOLS), (batch.labels[:, 1], VALUES)):
        table = np.zeros((count, VALUES))
        np.add.at(table, (hint, batch.labels[:, 0]), 1)
        np.testing.assert_allclose(table / table.sum(axis=-1, keepdims=True), 1 / VALUES, atol=0.04)


def test_encoded_vectors_can_be_decoded(rng):
    batch = TASK.sample(BATCH, rng)
    question, pairs = TASK.encode(batch, width=29)
    assert question.shape == (BATCH, 1, 29)
    assert pairs.shape == (BATCH, PAIRS, 29)
    fields = question[:, 0, : QUESTIONS * SYMBOLS].reshape(BATCH, QUESTIONS, SYMBOLS)
    np.testing.assert_array_equal(fields.argmax(axis=-1), batch.query_ids)
    np.testing.assert_array_equal(pairs[..., :SYMBOLS].argmax(axis=-1), batch.key_ids)
    np.testing.assert_array_equal(pairs[..., SYMBOLS : SYMBOLS + VALUES].argmax(axis=-1), batch.value_ids)
    for cards in (question, pairs):
        np.testing.assert_array_equal(cards.sum(axis=-1), np.full(cards.shape[:-1], 2))
        assert set(np.unique(cards)) == {0, 1}


@pytest.mark.parametrize(
    ("sizes", "width"), [((5, 7, 3, 2), 14), ((5, 7, 11, 1), 18), ((5, 7, 11, 2), 22), ((5, 5, 5, 2), 10)]
)
def test_the_default_width_is_the_minimum(sizes, width, rng):
    task = QuestionTask(*sizes)
    assert task.min_width == width
    assert all(cards.shape[-1] == width for cards in task.encode(task.sample(BATCH, rng)))


def test_the_chance_of_guessing_is_one_over_the_number_of_answers():
    assert QuestionTask(5, 8, 8).chance == pytest.approx(1 / 64)


def test_accuracies_are_computed_per_question_and_per_list(rng):
    batch = TASK.sample(4, rng)
    predicted = batch.labels.copy()
    assert exact_match_rate(predicted, batch) == 1
    predicted[0] += 1
    predicted[1, 1] += 1
    np.testing.assert_allclose(accuracy_per_question(predicted, batch), [3 / 4, 2 / 4])
    assert exact_match_rate(predicted, batch) == pytest.approx(2 / 4)


def test_the_weight_of_a_question_is_that_of_the_pair_it_asks_for(rng):
    batch, heads = TASK.sample(BATCH, rng), 4
    weights = rng.random((BATCH, heads, PAIRS))
    expected = np.zeros((heads, QUESTIONS))
    for row in range(BATCH):
        for question, symbol in enumerate(batch.query_ids[row]):
            expected[:, question] += weights[row, :, list(batch.key_ids[row]).index(symbol)] / BATCH
    np.testing.assert_allclose(weight_per_question(weights, batch), expected)


def test_the_same_rng_state_draws_the_same_lists():
    first, again, other = (TASK.sample(BATCH, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(one, two) for one, two in zip(first, again, strict=True))
    assert not np.array_equal(first.key_ids, other.key_ids)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: QuestionTask(0, 7, 11), "num_pairs must be a positive integer, got 0"),
        (lambda: QuestionTask(7, 5, 11), "num_pairs (7) must be at most num_symbols (5)"),
        (lambda: QuestionTask(5, 7, 11, 6), "num_questions (6) must be at most num_pairs (5)"),
        (lambda: TASK.sample(0, np.random.default_rng(0)), "batch_size must be a positive integer"),
        (
            lambda: TASK.encode(TASK.sample(3, np.random.default_rng(0)), width=21),
            "width (21) must be at least 22",
        ),
        (
            lambda: accuracy_per_question(np.zeros((3, 4), int), TASK.sample(3, np.random.default_rng(0))),
            "predicted_ids must have shape (3, 2), got (3, 4)",
        ),
        (
            lambda: exact_match_rate(np.zeros((2, 2), int), TASK.sample(3, np.random.default_rng(0))),
            "predicted_ids must have shape (3, 2), got (2, 2)",
        ),
        (
            lambda: weight_per_question(np.ones((3, 4, 7)), TASK.sample(3, np.random.default_rng(0))),
            "weights must have shape (3, 4, 5), got (3, 4, 7)",
        ),
    ],
)
def test_an_invalid_argument_is_named_with_both_numbers(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()

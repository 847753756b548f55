import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.tasks.recall import RecallTask, recall_accuracy

BATCH, LENGTH, SYMBOLS = 3, 5, 7
TASK = RecallTask(length=LENGTH, num_symbols=SYMBOLS)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@given(length=st.integers(1, 13), num_symbols=st.integers(2, 17), batch_size=st.integers(1, 5))
def test_labels_are_the_source_and_decoder_inputs_lag_by_one(length, num_symbols, batch_size):
    task = RecallTask(length, num_symbols)
    batch = task.sample(batch_size, np.random.default_rng(0))
    assert batch.source_ids.shape == (batch_size, length)
    np.testing.assert_array_equal(batch.labels, batch.source_ids)
    np.testing.assert_array_equal(batch.decoder_input_ids[:, 0], np.full(batch_size, RecallTask.START_ID))
    np.testing.assert_array_equal(batch.decoder_input_ids[:, 1:], batch.source_ids[:, :-1])


@given(num_symbols=st.integers(2, 17))
def test_symbols_are_within_the_vocabulary_and_never_special_tokens(num_symbols):
    task = RecallTask(length=19, num_symbols=num_symbols)
    symbols = task.sample(23, np.random.default_rng(0)).source_ids
    assert symbols.min() > max(RecallTask.PAD_ID, RecallTask.START_ID)
    assert symbols.max() < task.vocabulary_size


def test_every_symbol_is_drawn_about_equally_often(rng):
    symbols = TASK.sample(7000, rng).source_ids
    shares = np.bincount(symbols.ravel(), minlength=TASK.vocabulary_size)[2:] / symbols.size
    np.testing.assert_allclose(shares, 1 / SYMBOLS, atol=0.01)


def test_adjacent_symbols_are_independent(rng):
    symbols = TASK.sample(7000, rng).source_ids
    same = (symbols[:, 1:] == symbols[:, :-1]).mean()
    assert same == pytest.approx(1 / SYMBOLS, abs=0.01)


def test_the_same_generator_state_draws_the_same_batch():
    first, again = (TASK.sample(BATCH, np.random.default_rng(13)) for _ in range(2))
    other = TASK.sample(BATCH, np.random.default_rng(17))
    np.testing.assert_array_equal(first.source_ids, again.source_ids)
    assert (first.source_ids != other.source_ids).any()


def test_eight_symbols_are_three_bits_each():
    assert RecallTask(length=5, num_symbols=8).bits == pytest.approx(15)


def test_the_recall_accuracy_counts_symbols_at_their_own_position(rng):
    batch = TASK.sample(BATCH, rng)
    predicted = batch.labels.copy()
    assert recall_accuracy(predicted, batch) == 1
    predicted[0, :2] = RecallTask.PAD_ID
    assert recall_accuracy(predicted, batch) == pytest.approx(1 - 2 / (BATCH * LENGTH))


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RecallTask(length=0, num_symbols=SYMBOLS), r"length must be a positive integer, got 0"),
        (lambda: RecallTask(length=2.5, num_symbols=SYMBOLS), r"length must be a positive integer, got 2.5"),
        (lambda: RecallTask(length=LENGTH, num_symbols=1), r"num_symbols must be at least 2, got 1"),
        (lambda: TASK.sample(0, np.random.default_rng(0)), r"batch_size must be a positive integer, got 0"),
        (
            lambda: recall_accuracy(np.zeros((BATCH, 4), int), TASK.sample(BATCH, np.random.default_rng(0))),
            r"predicted_ids must have shape \(3, 5\), got \(3, 4\)",
        ),
    ],
)
def test_a_wrong_argument_is_named_with_both_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()

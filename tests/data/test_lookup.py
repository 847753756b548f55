import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.lookup import LookupTask

BATCH, PAIRS, SYMBOLS, VALUES = 3, 5, 7, 11


@given(
    num_pairs=st.integers(1, 13),
    spare=st.integers(0, 5),
    num_values=st.integers(1, 17),
    batch_size=st.integers(1, 5),
)
def test_the_answer_stands_beside_the_symbol_asked_for_and_beside_no_other(
    num_pairs, spare, num_values, batch_size
):
    task = LookupTask(num_pairs, num_pairs + spare, num_values)
    batch = task.sample(batch_size, np.random.default_rng(0))
    assert batch.key_ids.shape == batch.value_ids.shape == (batch_size, num_pairs)
    beside = batch.key_ids == batch.query_ids[:, None]
    np.testing.assert_array_equal(beside.sum(axis=-1), np.ones(batch_size))
    np.testing.assert_array_equal(batch.value_ids[beside], batch.wanted_ids)


def test_every_symbol_value_and_place_comes_up_and_none_from_outside():
    batch = LookupTask(PAIRS, SYMBOLS, VALUES).sample(997, np.random.default_rng(1))
    places = (batch.key_ids == batch.query_ids[:, None]).argmax(axis=-1)
    for ids, count in ((batch.key_ids, SYMBOLS), (batch.value_ids, VALUES), (places, PAIRS)):
        np.testing.assert_array_equal(np.unique(ids), np.arange(count))


def test_a_symbol_says_nothing_about_its_value():
    batch = LookupTask(PAIRS, SYMBOLS, VALUES).sample(9973, np.random.default_rng(2))
    table = np.zeros((SYMBOLS, VALUES))
    np.add.at(table, (batch.query_ids, batch.wanted_ids), 1)
    np.testing.assert_allclose(table / table.sum(axis=-1, keepdims=True), 1 / VALUES, atol=0.04)


def test_the_same_rng_state_draws_the_same_lists():
    task = LookupTask(PAIRS, SYMBOLS, VALUES)
    first, again, other = (task.sample(BATCH, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(one, two) for one, two in zip(first, again, strict=True))
    assert not np.array_equal(first.key_ids, other.key_ids)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 7, 11), "num_pairs must be a whole number of at least 1, got 0"),
        ((5, 7, 1.5), "num_values must be a whole number of at least 1, got 1.5"),
        ((7, 5, 11), "num_pairs (7) must be at most num_symbols (5)"),
    ],
)
def test_a_task_that_cannot_be_is_refused(sizes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        LookupTask(*sizes)

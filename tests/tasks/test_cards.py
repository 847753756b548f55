import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.tasks.cards import CardTask

BATCH, PLAYERS = 3, 5
TASK = CardTask(PLAYERS)


def read(task, cards):
    """Return the three fields of every card as integers."""
    return [cards[..., task.columns(field)].argmax(axis=-1) for field in ("looks for", "name", "item")]


@given(num_players=st.integers(1, 11), batch_size=st.integers(1, 7))
def test_the_label_is_the_item_of_the_player_that_is_looked_for(num_players, batch_size):
    task = CardTask(num_players)
    batch = task.sample(batch_size, np.random.default_rng(0))
    looked_for, names, items = read(task, batch.cards)
    found = looked_for[:, :, None] == names[:, None, :]
    np.testing.assert_array_equal(found.sum(axis=-1), np.ones((batch_size, num_players)))
    np.testing.assert_array_equal((found * items[:, None, :]).sum(axis=-1), batch.labels)


@given(num_players=st.integers(1, 11))
def test_every_player_looks_for_the_next_one_in_the_ring(num_players):
    task = CardTask(num_players)
    looked_for, names, _ = read(task, task.sample(BATCH, np.random.default_rng(1)).cards)
    np.testing.assert_array_equal(looked_for, np.roll(names, -1, axis=1))
    np.testing.assert_array_equal(np.sort(names, axis=1), np.tile(np.arange(num_players), (BATCH, 1)))


def test_a_card_is_three_one_hot_fields():
    cards = TASK.sample(BATCH, np.random.default_rng(2)).cards
    assert cards.shape == (BATCH, PLAYERS, TASK.card_width)
    assert cards.dtype == np.float32
    np.testing.assert_array_equal(cards.reshape(BATCH, PLAYERS, 3, PLAYERS).sum(axis=-1), 1)
    assert set(np.unique(cards)) == {0, 1}


def test_names_and_items_are_independent():
    _, names, items = read(TASK, TASK.sample(9973, np.random.default_rng(3)).cards)
    table = np.zeros((PLAYERS, PLAYERS))
    np.add.at(table, (names, items), 1)
    np.testing.assert_allclose(table / table.sum(axis=-1, keepdims=True), 1 / PLAYERS, atol=0.02)


def test_the_same_rng_state_deals_the_same_hands():
    first, again, other = (TASK.sample(BATCH, np.random.default_rng(seed)).cards for seed in (5, 5, 7))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CardTask(0), "num_players must be a positive integer, got 0"),
        (
            lambda: TASK.sample(1.5, np.random.default_rng(0)),
            "batch_size must be a positive integer, got 1.5",
        ),
        (lambda: TASK.columns("suit"), "field must be"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()

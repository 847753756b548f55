"""A card game for one attention layer: find your neighbour by name and read what it carries."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float32, Int
from numpy import ndarray as Array

from glassformer.validation import require_choice, require_positive_int

Field = Literal["looks for", "name", "item"]


class CardBatch(NamedTuple):
    """Hands of cards, with the item that each player should name.

    Attributes:
        cards: cards of the players, around the table.
        labels: item of the neighbour that each player looks for.
    """

    cards: Float32[Array, "batch players fields"]
    labels: Int[Array, "batch players"]


@dataclass(frozen=True)
class CardTask:
    """Deal cards to players in a ring, each of whom looks for the next one and wants to know its item.

    A card is three one-hot fields side by side: the name of the player it looks for, its own name, and its
    item. Names are permuted and items drawn independently in every hand, so a name says nothing about an
    item, and a random guess is right with probability 1 / ``num_players``.

    Attributes:
        num_players: number of players, of distinct names, and of distinct items.

    Raises:
        ValueError: ``num_players`` is not a positive integer.
    """

    num_players: int

    def __post_init__(self) -> None:
        require_positive_int(num_players=self.num_players)

    @property
    def card_width(self) -> int:
        """Length of the vector of a card: three fields of ``num_players`` numbers."""
        return 3 * self.num_players

    def columns(self, field: Field) -> slice:
        """Return the columns of a card that hold a field; the same rows of a projection read it.

        Raises:
            ValueError: the field is unknown.
        """
        require_choice(get_args(Field), field=field)
        first = get_args(Field).index(field) * self.num_players
        return slice(first, first + self.num_players)

    def sample(self, batch_size: int, rng: np.random.Generator) -> CardBatch:
        """Deal a batch of hands; the same ``rng`` state gives the same batch.

        Raises:
            ValueError: ``batch_size`` is not a positive integer.
        """
        require_positive_int(batch_size=batch_size)
        names = rng.permuted(np.tile(np.arange(self.num_players), (batch_size, 1)), axis=1)
        items = rng.integers(self.num_players, size=names.shape)
        one_hot = np.eye(self.num_players, dtype=np.float32)
        cards = np.concatenate([one_hot[np.roll(names, -1, axis=1)], one_hot[names], one_hot[items]], axis=-1)
        return CardBatch(cards, np.roll(items, -1, axis=1))

"""Vocabularies of whole words: one id per word, and three special tokens."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from glassformer.validation import require_ids

PAD_ID, START_ID, END_ID = 0, 1, 2
SPECIAL_TOKENS = ("<pad>", "<start>", "<end>")


@dataclass(frozen=True)
class Vocabulary:
    """A bijection between words and ids.

    Ids 0, 1 and 2 are the special tokens `PAD_ID`, `START_ID` and `END_ID`; the ids of the words follow.

    Attributes:
        words: distinct words in the order of their ids.

    Raises:
        ValueError: a word is repeated or is the name of a special token.
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        counts = Counter((*SPECIAL_TOKENS, *self.words))
        if repeated := [word for word, count in counts.items() if count > 1]:
            special = ", ".join(SPECIAL_TOKENS)
            raise ValueError(f"words must differ from each other and from {special}, got {repeated} twice")

    @classmethod
    def from_sentences(cls, sentences: Iterable[Iterable[str]]) -> "Vocabulary":
        """Build the vocabulary of sentences, in alphabetical order."""
        return cls(tuple(sorted({word for sentence in sentences for word in sentence})))

    def __len__(self) -> int:
        """Number of ids: the words and the three special tokens."""
        return len(SPECIAL_TOKENS) + len(self.words)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {word: id for id, word in enumerate(self.words, start=len(SPECIAL_TOKENS))}

    def encode(self, words: Iterable[str]) -> list[int]:
        """Return the id of each word, in order.

        Raises:
            ValueError: a word is not in the vocabulary.
        """
        words = tuple(words)
        if unknown := [word for word in words if word not in self._id_of]:
            raise ValueError(f"words must be among the {len(self.words)} of the vocabulary, got {unknown}")
        return [self._id_of[word] for word in words]

    def decode(self, ids: Iterable[int] | Int[Array, " time"]) -> tuple[str, ...]:
        """Return the words of ids up to the first `END_ID`, without special tokens.

        Raises:
            ValueError: an id is outside the vocabulary.
        """
        array = np.asarray(list(ids))
        if not array.size:
            return ()
        require_ids("ids", array, len(self))
        kept = array[: np.argmax(array == END_ID)] if END_ID in array else array
        return tuple(
            self.words[id - len(SPECIAL_TOKENS)] for id in kept.tolist() if id >= len(SPECIAL_TOKENS)
        )

    def batch(
        self, sentences: Sequence[Iterable[str]], *, add_special_tokens: bool = False
    ) -> Int[Array, "batch time"]:
        """Stack sentences into one array of ids, padded with `PAD_ID`.

        Args:
            sentences: sentences, each a sequence of words.
            add_special_tokens: True to add `START_ID` before and `END_ID` after each sentence, as in targets.

        Raises:
            ValueError: there is no sentence, a sentence is empty, or a word is not in the vocabulary.
        """
        rows = [self.encode(sentence) for sentence in sentences]
        if not rows or not all(rows):
            raise ValueError(f"sentences must not be empty, got lengths {[len(row) for row in rows]}")
        if add_special_tokens:
            rows = [[START_ID, *row, END_ID] for row in rows]
        ids = np.full((len(rows), max(map(len, rows))), PAD_ID, dtype=np.int64)
        for padded, row in zip(ids, rows, strict=True):
            padded[: len(row)] = row
        return ids

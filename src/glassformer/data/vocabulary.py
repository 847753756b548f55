"""From words to ids and back: one id a word, and three that are no words."""

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
    """The words a model knows, each with an id.

    Ids 0, 1 and 2 are `PAD_ID`, which fills short sentences up, `START_ID` and `END_ID`; the words follow.

    Attributes:
        words: the words, none twice, in the order of their ids.

    Raises:
        ValueError: a word stands there twice, or is the name of a mark.
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        counts = Counter((*SPECIAL_TOKENS, *self.words))
        if repeated := [word for word, count in counts.items() if count > 1]:
            special = ", ".join(SPECIAL_TOKENS)
            raise ValueError(f"words must differ from each other and from {special}, got {repeated} twice")

    @classmethod
    def from_sentences(cls, sentences: Iterable[Iterable[str]]) -> "Vocabulary":
        """Collect the words of sentences, in alphabetical order."""
        return cls(tuple(sorted({word for sentence in sentences for word in sentence})))

    def __len__(self) -> int:
        """Count the ids: the words and the three marks."""
        return len(SPECIAL_TOKENS) + len(self.words)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {word: id for id, word in enumerate(self.words, start=len(SPECIAL_TOKENS))}

    def encode(self, words: Iterable[str]) -> list[int]:
        """Return the id of each word, so that positions in the sentence stay what they are.

        Raises:
            ValueError: a word is not in the vocabulary.
        """
        words = tuple(words)
        if unknown := [word for word in words if word not in self._id_of]:
            raise ValueError(f"words must be among the {len(self.words)} of the vocabulary, got {unknown}")
        return [self._id_of[word] for word in words]

    def decode(self, ids: Iterable[int] | Int[Array, " time"]) -> tuple[str, ...]:
        """Return the words of ids up to the first end, without marks.

        Raises:
            ValueError: an id is negative or not below the size of the vocabulary.
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
        """Stack sentences into one array of ids, the short ones filled up with `PAD_ID`.

        Args:
            sentences: the words of each sentence.
            add_special_tokens: put `START_ID` before and `END_ID` after each, as a decoder needs its targets.

        Raises:
            ValueError: there is no sentence, one is empty, or a word is not in the vocabulary.
        """
        rows = [self.encode(sentence) for sentence in sentences]
        if not rows or not all(rows):
            raise ValueError(f"sentences must hold words, got lengths {[len(row) for row in rows]}")
        if add_special_tokens:
            rows = [[START_ID, *row, END_ID] for row in rows]
        ids = np.full((len(rows), max(map(len, rows))), PAD_ID, dtype=np.int64)
        for padded, row in zip(ids, rows, strict=True):
            padded[: len(row)] = row
        return ids

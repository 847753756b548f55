"""From sentences to ids and back by pieces of words: byte pair encoding, one vocabulary for all languages."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import tokenizers
from jaxtyping import Int
from numpy import ndarray as Array
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers

from glassformer.data.vocabulary import END_ID, SPECIAL_TOKENS
from glassformer.files import atomic_write
from glassformer.validation import require_ids, require_whole

# The library's threads do not survive the fork of a data loader, and it warns of that unless it is told.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

_NUM_BYTES = 256
_MIN_VOCABULARY_SIZE = len(SPECIAL_TOKENS) + _NUM_BYTES

# An English ending stays with its apostrophe: "it|'s", "didn|'t". Any other apostrophe between letters ends a
# word, and the next begins with a space as if it stood alone, so that "l'animal" and "animal" share a piece.
_ENDING = r"'(?:[stmd]|re|ve|ll)(?!\p{L})"
_ELISION = rf"(?<=[\p{{L}}\p{{M}}])(?!{_ENDING})'(?=\p{{L}})"

_WORD = r"[ -]?[\p{L}\p{M}]+(?:'(?= \p{L}))?"
_DIGIT = r" ?\p{N}"
_SYMBOL = r" ?[^\s\p{L}\p{M}\p{N}]"


def _byte_characters() -> list[str]:
    """List the characters that stand for the bytes 0 to 255 in the file (those of GPT-2)."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(_NUM_BYTES) if byte not in printable]
    return [chr(byte if byte in printable else _NUM_BYTES + others.index(byte)) for byte in range(_NUM_BYTES)]


_CHARACTERS = _byte_characters()
_BYTE_OF = {character: byte for byte, character in enumerate(_CHARACTERS)}


class Tokenizer:
    """Cuts sentences into pieces of words by byte pair encoding (Sennrich et al., 2016, section 3.2).

    A sentence is made plain first: Unicode's composed form (NFC), one space for each run of white space and
    none around, ' for ’. Then it is cut into words, each with the space before it, into digits and into
    symbols. Each of these starts as its bytes in UTF-8, and the merges join neighbours, the merge learnt
    first before all others. Since every byte has an id, no string is unknown, and `decode` gives back every
    plain sentence as it was.

    Ids 0, 1 and 2 are the marks of `data.vocabulary`, ids 3 to 258 the bytes 0 to 255, and the pieces follow
    in the order in which they were learnt. No text is ever encoded as a mark, "<pad>" neither.

    Args:
        merges: the pairs of pieces that are joined, the most urgent first, each byte written as one
            character.
    """

    def __init__(self, merges: Sequence[tuple[str, str]]) -> None:
        pieces = dict.fromkeys([*SPECIAL_TOKENS, *_CHARACTERS, *(left + right for left, right in merges)])
        self._backend = _make_backend({piece: id for id, piece in enumerate(pieces)}, merges)
        self._bytes_of = [
            b"" if piece in SPECIAL_TOKENS else bytes(_BYTE_OF[character] for character in piece)
            for piece in pieces
        ]

    @classmethod
    def train(cls, sentences: Iterable[str], *, vocabulary_size: int) -> "Tokenizer":
        """Learn the merges from sentences, of all languages together; the same sentences give the same ones.

        Args:
            sentences: what to learn from. Few may offer fewer pieces than asked for.
            vocabulary_size: how many ids there may be at most, the 3 marks and 256 bytes among them.

        Raises:
            ValueError: ``vocabulary_size`` is below 259, or ``sentences`` is one string.
        """
        require_whole(vocabulary_size=vocabulary_size)
        if vocabulary_size < _MIN_VOCABULARY_SIZE:
            raise ValueError(
                f"vocabulary_size must be at least {_MIN_VOCABULARY_SIZE} "
                f"({len(SPECIAL_TOKENS)} special tokens and {_NUM_BYTES} bytes), got {vocabulary_size}"
            )
        learner = _make_backend({}, [])
        learner.train_from_iterator(
            _require_texts(sentences),
            trainers.BpeTrainer(
                vocab_size=vocabulary_size - len(SPECIAL_TOKENS),
                initial_alphabet=_CHARACTERS,
                show_progress=False,
            ),
        )
        return cls(_merges_of(learner))

    @classmethod
    def load(cls, path: Path | str) -> "Tokenizer":
        """Read a tokenizer that `save` wrote.

        Raises:
            OSError: there is no such file, or it cannot be read.
            ValueError: the file is damaged, or another kind of tokenizer.
        """
        content = Path(path).read_bytes()
        try:
            backend = tokenizers.Tokenizer.from_str(content.decode("utf-8"))
            tokenizer = cls(_merges_of(backend))
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(f"{path} must hold a tokenizer, but is damaged: {error}") from error
        if tokenizer._backend.to_str() != backend.to_str():
            raise ValueError(
                f"{path} must hold a tokenizer that `Tokenizer.save` wrote, got one of another kind"
            )
        return tokenizer

    def save(self, path: Path | str) -> None:
        """Write the tokenizer as JSON of the `tokenizers` library, whole or not at all.

        Raises:
            OSError: it cannot be written. What stood there before still does.
        """
        with atomic_write(path) as part:
            part.write_text(self._backend.to_str(), encoding="utf-8")

    @property
    def vocabulary_size(self) -> int:
        """How many ids there are: the marks, the bytes and the pieces."""
        return len(self._bytes_of)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the ids of each sentence, without marks; an empty or blank sentence has none.

        Raises:
            ValueError: ``sentences`` is one string, or one of them is no text.
        """
        texts = list(_require_texts(sentences))
        return [encoding.ids for encoding in self._backend.encode_batch_fast(texts)]

    def decode(self, ids: Iterable[Iterable[int]] | Int[Array, "batch time"]) -> list[str]:
        """Return the sentence of each row of ids, without marks, and nothing after the first `END_ID`.

        Bytes that are not UTF-8, which a model may well write, become "�".

        Raises:
            ValueError: an id is negative or not below the size of the vocabulary.
        """
        return [self._decode([int(id) for id in row]) for row in ids]

    def _decode(self, ids: list[int]) -> str:
        if ids:
            require_ids("ids", np.asarray(ids), self.vocabulary_size)
        kept = ids[: ids.index(END_ID)] if END_ID in ids else ids
        text = b"".join(self._bytes_of[id] for id in kept).decode(errors="replace")
        return text.removeprefix(" ").replace("' ", "'")

    def pieces(self, sentence: str) -> list[str]:
        r"""Write out the piece behind each id of a sentence: "▁" for a space, "\xf0" for half a character.

        Raises:
            ValueError: the sentence is no text.
        """
        return [self.piece(id) for id in self.encode([sentence])[0]]

    def piece(self, id: int) -> str:
        """Write out the piece behind an id as `pieces` does; a mark has its name, "<end>".

        Raises:
            ValueError: the id is negative or not below the size of the vocabulary.
        """
        require_ids("id", np.asarray([id]), self.vocabulary_size)
        if id < len(SPECIAL_TOKENS):
            return SPECIAL_TOKENS[id]
        return self._bytes_of[id].decode(errors="backslashreplace").replace(" ", "▁")


def _make_backend(vocabulary: dict[str, int], merges: Sequence[tuple[str, str]]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges)))
    backend.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Strip(),
            normalizers.Replace("’", "'"),
            # A space that the text has after an apostrophe is doubled, to differ from one that is put there.
            normalizers.Replace("' ", "'  "),
            normalizers.Replace(Regex(_ELISION), "' "),
            normalizers.Prepend(" "),
        ]
    )
    words = Regex("|".join([_ENDING, _WORD, _DIGIT, _SYMBOL]))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(words, behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return backend


def _merges_of(backend: tokenizers.Tokenizer) -> list[tuple[str, str]]:
    return [(left, right) for left, right in json.loads(backend.to_str())["model"].get("merges", [])]


def _require_texts(sentences: Iterable[str]) -> Iterable[str]:
    """Pass sentences on, each of which must be text that UTF-8 can write."""
    if isinstance(sentences, str):
        raise ValueError(f"sentences must be several, in a list, got the one string {sentences!r:.80}")
    for number, sentence in enumerate(sentences):
        try:
            sentence.encode()
        except (AttributeError, UnicodeEncodeError) as error:
            raise ValueError(
                f"sentences must be text that UTF-8 can write, got sentences[{number}] = {sentence!r:.80}"
            ) from error
        yield sentence

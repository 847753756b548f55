"""Subword tokenizer: byte pair encoding with one vocabulary for all languages."""

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
from glassformer.validation import require_ids, require_positive_int

# Avoids the library's warning that its threads do not survive when a data loader forks.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

_NUM_BYTES = 256
_MIN_VOCABULARY_SIZE = len(SPECIAL_TOKENS) + _NUM_BYTES

# An English ending keeps its apostrophe: "it|'s", "didn|'t". Any other apostrophe between letters ends a
# word, and the next begins with a space as if it were separate, so "l'animal" and "animal" share a token.
_ENDING = r"'(?:[stmd]|re|ve|ll)(?!\p{L})"
_ELISION = rf"(?<=[\p{{L}}\p{{M}}])(?!{_ENDING})'(?=\p{{L}})"

_WORD = r"[ -]?[\p{L}\p{M}]+(?:'(?= \p{L}))?"
_DIGIT = r" ?\p{N}"
_SYMBOL = r" ?[^\s\p{L}\p{M}\p{N}]"


def _byte_characters() -> list[str]:
    """List the characters that represent the bytes 0 to 255 in the file, as in GPT-2."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(_NUM_BYTES) if byte not in printable]
    return [chr(byte if byte in printable else _NUM_BYTES + others.index(byte)) for byte in range(_NUM_BYTES)]


_CHARACTERS = _byte_characters()
_BYTE_OF = {character: byte for byte, character in enumerate(_CHARACTERS)}


class Tokenizer:
    """Split sentences into subword tokens by byte pair encoding (Sennrich et al., 2016, section 3.2).

    A sentence is normalised first: Unicode's composed form (NFC), single spaces, none at either end, and '
    instead of ’. It is then split into words, digits and symbols, each with the space before it. Each of
    these starts as its UTF-8 bytes, and the merges join neighbouring tokens in the order in which they were
    learned. Since every byte has an id, no string is unknown, and `decode` restores normalised sentences.

    Ids 0, 1 and 2 are the special tokens of `data.vocabulary`, ids 3 to 258 are the bytes 0 to 255, and the
    merged tokens follow in the order in which they were learned. No text is encoded as a special token, not
    even "<pad>".

    Args:
        merges: pairs of tokens to join, in order of priority, with each byte written as one character.
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
        """Learn the merges from sentences of all languages together.

        Args:
            sentences: training sentences; a small corpus may yield fewer tokens than requested.
            vocabulary_size: maximum number of ids, including the 3 special tokens and 256 bytes.

        Raises:
            ValueError: ``vocabulary_size`` is below 259, or ``sentences`` is a single string.
        """
        require_positive_int(vocabulary_size=vocabulary_size)
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
        """Load a tokenizer that `save` wrote.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file is damaged or holds another kind of tokenizer.
        """
        content = Path(path).read_bytes()
        try:
            backend = tokenizers.Tokenizer.from_str(content.decode("utf-8"))
            tokenizer = cls(_merges_of(backend))
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(f"{path} must contain a tokenizer, but is damaged: {error}") from error
        if tokenizer._backend.to_str() != backend.to_str():
            raise ValueError(
                f"{path} must contain a tokenizer that `Tokenizer.save` wrote, got one of another kind"
            )
        return tokenizer

    def save(self, path: Path | str) -> None:
        """Save the tokenizer atomically, in the JSON format of the `tokenizers` library.

        Raises:
            OSError: the file cannot be written; an existing file keeps its content.
        """
        with atomic_write(path) as part:
            part.write_text(self._backend.to_str(), encoding="utf-8")

    @property
    def vocabulary_size(self) -> int:
        """Number of ids: special tokens, bytes and merged tokens."""
        return len(self._bytes_of)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each sentence, without special tokens; a blank sentence has none.

        Raises:
            ValueError: ``sentences`` is a single string, or a sentence is not text.
        """
        texts = list(_require_texts(sentences))
        return [encoding.ids for encoding in self._backend.encode_batch_fast(texts)]

    def decode(self, ids: Iterable[Iterable[int]] | Int[Array, "batch time"]) -> list[str]:
        """Return the sentence of each row of ids up to the first `END_ID`, without special tokens.

        Bytes that are not valid UTF-8, which a model may generate, become "�".

        Raises:
            ValueError: an id is outside the vocabulary.
        """
        return [self._decode([int(id) for id in row]) for row in ids]

    def _decode(self, ids: list[int]) -> str:
        if ids:
            require_ids("ids", np.asarray(ids), self.vocabulary_size)
        kept = ids[: ids.index(END_ID)] if END_ID in ids else ids
        text = b"".join(self._bytes_of[id] for id in kept).decode(errors="replace")
        return text.removeprefix(" ").replace("' ", "'")

    def pieces(self, sentence: str) -> list[str]:
        r"""Return the text of each token of a sentence: "▁" for a space, "\xf0" for a partial character.

        Raises:
            ValueError: the sentence is not text.
        """
        return [self.piece(id) for id in self.encode([sentence])[0]]

    def piece(self, id: int) -> str:
        """Return the text of a token as in `pieces`; for a special token, its name, such as "<end>".

        Raises:
            ValueError: the id is outside the vocabulary.
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
            # A space after an apostrophe in the text is doubled, to tell it from an inserted one.
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
    """Yield the sentences, each of which must be text that UTF-8 can encode."""
    if isinstance(sentences, str):
        raise ValueError(f"sentences must be a list of strings, got the string {sentences!r:.80}")
    for number, sentence in enumerate(sentences):
        try:
            sentence.encode()
        except (AttributeError, UnicodeEncodeError) as error:
            raise ValueError(
                f"sentences must be text that UTF-8 can encode, got sentences[{number}] = {sentence!r:.80}"
            ) from error
        yield sentence

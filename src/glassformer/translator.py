"""Translate sentences with a model and its tokenizer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID
from glassformer.decoding.beam import LengthPenalty, beam_search
from glassformer.decoding.generate import greedy_decode, sample
from glassformer.files import atomic_update
from glassformer.modules.storage import MODEL_FILE, AnyTranslator, load_model, save_model
from glassformer.validation import require_positive_int

TOKENIZER_FILE = "tokenizer.json"
MAX_TOKENS = 1024

_PRETRAINED = Path(__file__).parent / "pretrained"
_SPECIAL_TOKENS: dict[str, Any] = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": (START_ID,)}


class ScoredTranslation(NamedTuple):
    """A translation with its score.

    Attributes:
        text: translated sentence.
        score: log-probability divided by the length penalty, as in `decoding.beam.Hypothesis`.
    """

    text: str
    score: float


class Translator:
    """A model with its tokenizer, for translating sentences from one language into another.

    >>> Translator.load("en-fr").translate(["I am tired."])                  # doctest: +SKIP
    ['Je suis fatigué.']

    Args:
        model: trained model; it is put into evaluation mode.
        tokenizer: tokenizer that the model was trained with, shared by both languages.

    Raises:
        ValueError: model and tokenizer differ in vocabulary size or pad id.
    """

    def __init__(self, model: AnyTranslator, tokenizer: Tokenizer) -> None:
        config = model.config
        sizes = (config.source_vocabulary_size, config.target_vocabulary_size)
        if sizes != (tokenizer.vocabulary_size,) * 2:
            raise ValueError(
                f"model and tokenizer must share their vocabulary, but the model has {sizes[0]} source ids "
                f"and {sizes[1]} target ids, the tokenizer {tokenizer.vocabulary_size}"
            )
        if config.pad_id != PAD_ID:
            raise ValueError(f"the model must have pad_id {PAD_ID}, got {config.pad_id}")
        self.model = model.eval()
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, folder: Path | str, *, device: torch.device | str = "cpu") -> "Translator":
        """Load a translator from a folder that `save` wrote, or a pretrained one by name.

        Args:
            folder: folder, or a name from `pretrained_translators`; an existing folder takes precedence.
            device: device of the model.

        Raises:
            FileNotFoundError: there is no such folder or name, or a file is missing.
            ValueError: a file is damaged, or the files do not belong together.
        """
        path = locate_translator(folder)
        model = load_model(path)
        if not (path / TOKENIZER_FILE).is_file():
            raise FileNotFoundError(
                f"{path} contains no {TOKENIZER_FILE}: it is not the folder of a translator"
            )
        tokenizer = Tokenizer.load(path / TOKENIZER_FILE)
        try:
            return cls(model.to(device), tokenizer)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def save(self, folder: Path | str, *, dtype: torch.dtype = torch.float32, **notes: Any) -> None:
        """Save the translator to a folder, completely or not at all; other files are left untouched.

        Args:
            folder: target folder; a translator in it is replaced.
            dtype: data type of the stored weights; float16 halves the file size. They load as float32.
            **notes: additional entries of the model description, such as its origin.

        Raises:
            ValueError: the weights are not finite in ``dtype``.
            OSError: the folder cannot be written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_update(folder, last=MODEL_FILE) as stage:
            save_model(self.model, stage, dtype=dtype, **notes)
            self.tokenizer.save(stage / TOKENIZER_FILE)

    def translate(
        self,
        sentences: Sequence[str],
        *,
        beam_size: int = 4,
        length_penalty: LengthPenalty = "gnmt",
        alpha: float | int | None = None,
        max_length: int | None = None,
        batch_tokens: int = 4096,
    ) -> list[str]:
        """Translate sentences; the result for a sentence does not depend on the others.

        The translation of a blank sentence is empty.

        Args:
            sentences: sentences as plain text.
            beam_size: number of hypotheses kept per sentence; 1 is greedy decoding.
            length_penalty: divisor of log-probabilities, as in `decoding.beam.beam_search`.
            alpha: exponent of the length penalty.
            max_length: maximum number of tokens in a translation, including the end token; by default, twice
                the length of the sentence plus 10.
            batch_tokens: maximum number of source tokens per batch, including padding; a batch has at least
                one sentence.

        Returns:
            The translations, in the order of the sentences.

        Raises:
            ValueError: a sentence is longer than the model accepts (`MAX_TOKENS`, or the ``max_length`` of
                learned positions), or an argument is invalid; nothing is translated then.
        """
        require_positive_int(beam_size=beam_size)
        if beam_size == 1:
            return self._texts(self._decode(greedy_decode, sentences, batch_tokens, max_length=max_length))
        search = partial(beam_search, beam_size=beam_size, length_penalty=length_penalty, alpha=alpha)
        found = self._decode(search, sentences, batch_tokens, max_length=max_length)
        return self._texts([hypotheses[0].ids if hypotheses else () for hypotheses in found])

    def translate_n_best(
        self, sentences: Sequence[str], *, n_best: int, batch_tokens: int = 4096, **search: Any
    ) -> list[list[ScoredTranslation]]:
        """Return the n best translations of each sentence, best first, with their scores.

        Args:
            sentences: as in `translate`.
            n_best: number of translations per sentence, at most the beam size.
            batch_tokens: as in `translate`.
            **search: options of beam search, such as ``beam_size``, as in `translate`.

        Returns:
            The translations of each sentence, fewer than ``n_best`` only if the search found no more. A blank
            sentence has one empty translation of score 0.

        Raises:
            ValueError: as in `translate`, or ``n_best`` is above ``beam_size``.
        """
        found = self._decode(beam_search, sentences, batch_tokens, n_best=n_best, **search)
        nothing = [ScoredTranslation("", 0.0)]
        return [
            [ScoredTranslation(self._texts([one.ids])[0], one.score) for one in hypotheses] or nothing
            for hypotheses in found
        ]

    def sample(
        self,
        sentences: Sequence[str],
        *,
        generator: torch.Generator,
        temperature: float | int = 1.0,
        top_k: int | None = None,
        top_p: float | int = 1.0,
        max_length: int | None = None,
        batch_tokens: int = 4096,
    ) -> list[str]:
        """Sample translations from the model's distribution.

        The sample for a sentence depends on its position in the list.

        Args:
            sentences: as in `translate`.
            generator: random number generator, on the CPU.
            temperature: divisor of the logits: below 1 sharpens the distribution, and 0 is greedy decoding.
            top_k: number of most probable tokens to sample from; all by default.
            top_p: cumulative probability of the smallest set of most probable tokens to sample from.
            max_length: as in `translate`.
            batch_tokens: as in `translate`.

        Raises:
            ValueError: as in `translate`.
        """
        draw = partial(sample, generator=generator, temperature=temperature, top_k=top_k, top_p=top_p)
        return self._texts(self._decode(draw, sentences, batch_tokens, max_length=max_length))

    @property
    def max_source_length(self) -> int:
        """Maximum number of tokens in a source sentence, including the end token."""
        return min(MAX_TOKENS, self.model.config.max_positions or MAX_TOKENS)

    def _decode(
        self, decode: Callable[..., Any], sentences: Sequence[str], batch_tokens: int, **options: Any
    ) -> list[Any]:
        """Decode sentences in batches of similar length; return results in their order, () for blank ones."""
        require_positive_int(batch_tokens=batch_tokens)
        tokens = self._tokenize(sentences)
        device = next(self.model.parameters()).device
        results: list[Any] = [()] * len(sentences)
        for numbers in _batches([len(ids) for ids in tokens], batch_tokens):
            source_ids = _stack([tokens[number] for number in numbers]).to(device)
            decoded = decode(self.model, source_ids, **_SPECIAL_TOKENS, **options)
            for number, result in zip(numbers, decoded, strict=True):
                results[number] = result
        return results

    def _texts(self, rows: Iterable[Any]) -> list[str]:
        return self.tokenizer.decode([row.tolist() if isinstance(row, Tensor) else row for row in rows])

    def _tokenize(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the ids of each sentence with the end token, or none if it is blank."""
        if isinstance(sentences, str):
            raise ValueError("sentences must be a list of sentences, got one string")
        for number, sentence in enumerate(sentences, start=1):
            if not isinstance(sentence, str):
                raise ValueError(f"sentence {number} must be a string, got {type(sentence).__name__}")
        most = self.max_source_length
        tokens = self.tokenizer.encode(sentences)
        for number, ids in enumerate(tokens, start=1):
            if len(ids) >= most:
                words = len(sentences[number - 1].split())
                raise ValueError(
                    f"sentence {number} is too long: its {words} words are {len(ids) + 1} tokens with the "
                    f"end, and the model accepts at most {most}; split it into shorter sentences"
                )
        return [[*ids, END_ID] if ids else [] for ids in tokens]


def pretrained_translators() -> tuple[str, ...]:
    """Return the names of the translators that come with the package."""
    return tuple(sorted(path.parent.name for path in _PRETRAINED.glob(f"*/{MODEL_FILE}")))


def locate_translator(folder: Path | str) -> Path:
    """Return the folder of a translator, given its path or the name of a pretrained one.

    Raises:
        FileNotFoundError: there is no such folder or pretrained translator.
    """
    if Path(folder).is_dir():
        return Path(folder)
    pretrained = pretrained_translators()
    if str(folder) not in pretrained:
        raise FileNotFoundError(
            f"there is no folder {str(folder)!r}, and no pretrained translator of that name "
            f"(pretrained: {', '.join(pretrained) or 'none'})"
        )
    return _PRETRAINED / str(folder)


def _batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield the indices of the sentences in each batch, longest first, without those of length 0."""
    by_length = sorted((n for n, length in enumerate(lengths) if length), key=lambda n: -lengths[n])
    while by_length:
        size = max(1, batch_tokens // lengths[by_length[0]])
        yield by_length[:size]
        by_length = by_length[size:]


def _stack(rows: Sequence[Sequence[int]]) -> Int[Tensor, "batch source"]:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[PAD_ID] * (width - len(row))] for row in rows])

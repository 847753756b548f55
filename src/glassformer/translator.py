"""A model with its tokenizer: sentences in, sentences out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import resources
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
from glassformer.validation import require_whole

TOKENIZER_FILE = "tokenizer.json"
MOST_TOKENS = 1024

_MARKS: dict[str, Any] = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": (START_ID,)}


class ScoredTranslation(NamedTuple):
    """A translation, and what the search ranks it by.

    Attributes:
        text: the translation.
        score: its log-probability over its length penalty: see `decoding.beam.Hypothesis`.
    """

    text: str
    score: float


class Translator:
    """Translates sentences of one language into another.

    >>> Translator.load("en-fr").translate(["I am tired."])                  # doctest: +SKIP
    ['Je suis fatigué.']

    Args:
        model: what translates; it is put into evaluation mode.
        tokenizer: what cuts sentences into the tokens the model was trained on, in both languages.

    Raises:
        ValueError: the model has not as many ids as the tokenizer, or another pad id.
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
            raise ValueError(f"the model must fill up with pad_id {PAD_ID}, got {config.pad_id}")
        self.model = model.eval()
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, folder: Path | str, *, device: torch.device | str = "cpu") -> "Translator":
        """Read a translator from a folder that `save` wrote, or by the name of a pretrained one.

        Args:
            folder: the folder, or such a name, as in `pretrained_translators`; a folder of that name is
                preferred.
            device: where the model is to run.

        Raises:
            FileNotFoundError: there is no such folder and no such name, or a file is missing in it.
            ValueError: a file is not what it should be, or the files do not belong together.
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
        """Write the translator into a folder, beside what else stands there, whole or not at all.

        Args:
            folder: where to; a translator that stands there is replaced.
            dtype: the numbers in the file; float16 halves it. They are read as float32 again.
            **notes: what else is written into the description of the model, such as where it comes from.

        Raises:
            ValueError: the weights are not finite in ``dtype``.
            OSError: it cannot be written.
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
        """Translate sentences; each one comes out as if it were alone.

        An empty or blank sentence is translated into an empty one.

        Args:
            sentences: what is translated, each as typed.
            beam_size: how many translations of a sentence are followed at once; 1 takes the likeliest token
                each time.
            length_penalty: what makes up for short translations being likelier: see `decoding.beam`.
            alpha: how strongly.
            max_length: how many tokens a translation may have at most, the end among them. Without it,
                twice as many as the sentence has and 10 more.
            batch_tokens: how many source tokens, padding among them, go through the model at once; one
                sentence always does.

        Returns:
            The translations, in the order of the sentences.

        Raises:
            ValueError: a sentence is longer than the model may read (`MOST_TOKENS`, or the ``max_length`` of
                learned positions), or an argument does not fit; nothing is translated then.
        """
        require_whole(beam_size=beam_size)
        if beam_size == 1:
            return self._texts(self._written(greedy_decode, sentences, batch_tokens, max_length=max_length))
        search = partial(beam_search, beam_size=beam_size, length_penalty=length_penalty, alpha=alpha)
        found = self._written(search, sentences, batch_tokens, max_length=max_length)
        return self._texts([hypotheses[0].ids if hypotheses else () for hypotheses in found])

    def translate_n_best(
        self, sentences: Sequence[str], *, n_best: int, batch_tokens: int = 4096, **search: Any
    ) -> list[list[ScoredTranslation]]:
        """Translate each sentence in several ways, the best first, with their scores.

        Args:
            sentences: as in `translate`.
            n_best: how many translations of a sentence to give, at most as many as the beam size.
            batch_tokens: as in `translate`.
            **search: ``beam_size`` and what else says how to search, as in `translate`; 1 is a search, too.

        Returns:
            For each sentence its translations; less than ``n_best`` only if the search met no more. The
            one of a blank sentence is empty, of score 0.

        Raises:
            ValueError: as in `translate`, or ``n_best`` is above ``beam_size``.
        """
        found = self._written(beam_search, sentences, batch_tokens, n_best=n_best, **search)
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
        """Translate sentences by chance, each token drawn as often as the model finds it likely.

        What a sentence draws depends on those beside it, too.

        Args:
            sentences: as in `translate`.
            generator: where chance comes from, on the CPU.
            temperature: what logits are divided by: below 1 the likely becomes likelier, 0 is greedy.
            top_k: how many of the likeliest tokens are drawn from; without it, all.
            top_p: the share of probability, counted from the likeliest token, that is drawn from.
            max_length: as in `translate`.
            batch_tokens: as in `translate`.

        Raises:
            ValueError: as in `translate`.
        """
        draw = partial(sample, generator=generator, temperature=temperature, top_k=top_k, top_p=top_p)
        return self._texts(self._written(draw, sentences, batch_tokens, max_length=max_length))

    @property
    def longest_source(self) -> int:
        """How many tokens a sentence may have, its end among them."""
        return min(MOST_TOKENS, self.model.config.num_positions or MOST_TOKENS)

    def _written(
        self, write: Callable[..., Any], sentences: Sequence[str], batch_tokens: int, **options: Any
    ) -> list[Any]:
        """Have sentences of like length written together; what comes has their order, a blank one ()."""
        require_whole(batch_tokens=batch_tokens)
        tokens = self._tokenize(sentences)
        device = next(self.model.parameters()).device
        results: list[Any] = [()] * len(sentences)
        for chosen in _batches([len(ids) for ids in tokens], batch_tokens):
            source_ids = _stack([tokens[number] for number in chosen]).to(device)
            written = write(self.model, source_ids, **_MARKS, **options)
            for number, result in zip(chosen, written, strict=True):
                results[number] = result
        return results

    def _texts(self, rows: Iterable[Any]) -> list[str]:
        return self.tokenizer.decode([row.tolist() if isinstance(row, Tensor) else row for row in rows])

    def _tokenize(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the ids of each sentence with the end, or none where it is blank."""
        if isinstance(sentences, str):
            raise ValueError("sentences must be a list of sentences, got one string")
        for number, sentence in enumerate(sentences, start=1):
            if not isinstance(sentence, str):
                raise ValueError(f"sentence {number} must be a string, got {type(sentence).__name__}")
        most = self.longest_source
        tokens = self.tokenizer.encode(sentences)
        for number, ids in enumerate(tokens, start=1):
            if len(ids) >= most:
                words = len(sentences[number - 1].split())
                raise ValueError(
                    f"sentence {number} is too long: its {words} words are {len(ids) + 1} tokens with the "
                    f"end, and the model reads at most {most}; split it into shorter sentences"
                )
        return [[*ids, END_ID] if ids else [] for ids in tokens]


def pretrained_translators() -> tuple[str, ...]:
    """Return the names of the translators that come with the package."""
    folder = _pretrained_folder()
    if not folder.is_dir():
        return ()
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{MODEL_FILE}")))


def locate_translator(folder: Path | str) -> Path:
    """Return the folder that is meant by a path, or by the name of a pretrained translator.

    Raises:
        FileNotFoundError: there is neither.
    """
    if Path(folder).is_dir():
        return Path(folder)
    pretrained = pretrained_translators()
    if str(folder) not in pretrained:
        raise FileNotFoundError(
            f"there is no folder {str(folder)!r}, and no pretrained translator of that name "
            f"(pretrained: {', '.join(pretrained) or 'none'})"
        )
    return _pretrained_folder() / str(folder)


def _pretrained_folder() -> Path:
    return Path(str(resources.files("glassformer"))) / "pretrained"


def _batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield the numbers of sentences that go together, the longest first; those of length 0 never."""
    by_length = sorted((n for n, length in enumerate(lengths) if length), key=lambda n: -lengths[n])
    while by_length:
        size = max(1, batch_tokens // lengths[by_length[0]])
        yield by_length[:size]
        by_length = by_length[size:]


def _stack(rows: Sequence[Sequence[int]]) -> Int[Tensor, "batch source"]:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[PAD_ID] * (width - len(row))] for row in rows])

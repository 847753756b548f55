"""Evaluate translators, and record results that anyone with the references can rescore."""

import dataclasses
import json
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from glassformer import __version__
from glassformer.data.corpora import Corpus
from glassformer.files import atomic_write
from glassformer.metrics import Score, bleu, chrf, moses_bleu
from glassformer.translator import Translator
from glassformer.validation import require_choice


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The translations of a corpus's test sets with their scores, in a JSON-serialisable form.

    Attributes:
        corpus: name of the corpus.
        parameters: number of parameters of the model.
        decoding: decoding options given to `evaluate`; the others have their default values.
        translating: "device", described in a few words, and "seconds", the translation time by test set.
        versions: versions of Python and the libraries.
        scores: scores from 0 to 100, by test set and metric, as in `score_translations`.
        signatures: signatures of the scores in sacreBLEU's notation, by test set and metric.
        hypotheses: translations by test set.
    """

    corpus: str
    parameters: int
    decoding: dict[str, Any]
    translating: dict[str, Any]
    versions: dict[str, str]
    scores: dict[str, dict[str, float]]
    signatures: dict[str, dict[str, str]]
    hypotheses: dict[str, list[str]]


def score_translations(
    translations: Sequence[str], references: Sequence[Sequence[str]], *, language: str
) -> dict[str, Score]:
    """Compute the `bleu`, `moses_bleu` and `chrf` scores of translations, and return them by metric name.

    If a translation has several references, "bleu_first_reference" is added: `bleu` against the first
    reference of each translation.

    Args:
        translations: detokenised translations.
        references: one or more human references per translation.
        language: two-letter code of the references' language.

    Raises:
        ValueError: an argument is invalid; the message names it.
    """
    scores = {
        "bleu": bleu(translations, references),
        "moses_bleu": moses_bleu(translations, references, language=language),
        "chrf": chrf(translations, references),
    }
    if any(len(several) > 1 for several in references):
        scores["bleu_first_reference"] = bleu(translations, [several[:1] for several in references])
    return scores


def evaluate(
    translator: Translator, corpus: Corpus, *, test_sets: Sequence[str] | None = None, **decoding: Any
) -> Evaluation:
    """Translate the test sets of a corpus and score the translations.

    Args:
        translator: translator to evaluate.
        corpus: corpus with the source sentences and their references.
        test_sets: names of the test sets; by default all test sets of the corpus.
        **decoding: decoding options, as in `Translator.translate`.

    Raises:
        ValueError: the corpus has no such test set, a sentence is longer than the model accepts, an option is
            invalid, or Moses does not support the corpus's target language.
    """
    names = tuple(corpus.test_sets) if test_sets is None else tuple(test_sets)
    for name in names:
        require_choice(tuple(corpus.test_sets), test_sets=name)
    scores: dict[str, dict[str, Score]] = {}
    hypotheses, seconds = {}, {}
    for name in names:
        sources, references = corpus.test_sets[name]
        start = time.perf_counter()
        hypotheses[name] = translator.translate(sources, **decoding)
        seconds[name] = round(time.perf_counter() - start, 2)
        scores[name] = score_translations(hypotheses[name], references, language=corpus.target_language)
    return Evaluation(
        corpus=corpus.name,
        parameters=sum(parameter.numel() for parameter in translator.model.parameters()),
        decoding=decoding,
        translating={"device": describe_device(translator), "seconds": seconds},
        versions=_versions(),
        scores={name: {metric: one.value for metric, one in own.items()} for name, own in scores.items()},
        signatures={
            name: {metric: one.signature for metric, one in own.items()} for name, own in scores.items()
        },
        hypotheses=hypotheses,
    )


def describe_device(translator: Translator) -> str:
    """Describe the device of a translator in a few words.

    The description is the name of a CUDA GPU, "cpu" with the number of PyTorch's threads, or, for any other
    device, its type, such as "mps".
    """
    device = next(translator.model.parameters()).device
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads" if device.type == "cpu" else device.type


def write_results(
    path: Path | str,
    evaluation: Evaluation,
    *,
    command: str,
    seed: int,
    device: str,
    seconds: float,
    **more: Any,
) -> None:
    """Write an evaluation and a record of the training to a JSON file, atomically.

    Args:
        path: path of the file; an existing file is replaced.
        evaluation: evaluation from `evaluate`.
        command: training command line.
        seed: training seed.
        device: training device.
        seconds: training time in seconds.
        **more: additional entries.

    Raises:
        ValueError: a value is NaN or infinite.
        OSError: the file cannot be written.
    """
    training = {"command": command, "seed": seed, "device": device, "seconds": seconds}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    record = dataclasses.asdict(evaluation) | training | more
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def summarise(evaluation: Evaluation) -> list[str]:
    """Return a line of text for each score, with its test set, metric and signature."""
    return [
        f"{test}: {metric} {value:.2f}  ({evaluation.signatures[test][metric]})"
        for test, scores in evaluation.scores.items()
        for metric, value in scores.items()
    ]


def _versions() -> dict[str, str]:
    others = {name: version(name) for name in ("torch", "tokenizers", "sacrebleu", "sacremoses")}
    return {"glassformer": __version__, "python": platform.python_version()} | others

"""Evaluate translators, and record results whose scores anyone with the references can recompute."""

import json
import platform
import time
from collections.abc import Sequence
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

_FIELDS: dict[str, type | tuple[type, ...]] = {
    "command": str,
    "seed": int,
    "device": str,
    "seconds": (int, float),
    "versions": dict,
    "parameters": int,
    "corpus": str,
    "decoding": dict,
    "scores": dict,
    "signatures": dict,
    "hypotheses": dict,
}


def score_translations(
    translations: Sequence[str], references: Sequence[Sequence[str]], *, language: str
) -> dict[str, Score]:
    """Score translations with every metric, keyed by the name of its function in `metrics`.

    If some translations have several references, "bleu_first_reference" is `bleu` with the first of each.

    Args:
        translations: detokenised translations.
        references: one or more human references per translation.
        language: two-letter code of their language.

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
    translator: Translator, corpus: Corpus, *, tests: Sequence[str] | None = None, **decoding: Any
) -> dict[str, Any]:
    """Translate the test sets of a corpus and score the translations.

    Args:
        translator: translator to evaluate.
        corpus: corpus with the source sentences and their references.
        tests: names of the test sets; by default all of the corpus.
        **decoding: decoding options, as in `Translator.translate`.

    Returns:
        A record that JSON can hold: ``scores`` and ``signatures`` by test set and metric, the translations as
        ``hypotheses``, ``decoding``, ``corpus``, ``parameters`` (their number), ``versions``, and under
        ``translating`` the device and the seconds for each test set. The caller adds how the translator was
        trained: see `write_record`.

    Raises:
        ValueError: the corpus has no such test set, or an option is invalid.
    """
    names = tuple(corpus.tests) if tests is None else tuple(tests)
    for name in names:
        require_choice(tuple(corpus.tests), tests=name)
    record: dict[str, Any] = {"scores": {}, "signatures": {}, "hypotheses": {}}
    seconds = {}
    for name in names:
        start = time.perf_counter()
        translations = translator.translate(corpus.tests[name].sources, **decoding)
        seconds[name] = round(time.perf_counter() - start, 2)
        scores = score_translations(
            translations, corpus.tests[name].references, language=corpus.target_language
        )
        record["scores"][name] = {metric: score.value for metric, score in scores.items()}
        record["signatures"][name] = {metric: score.signature for metric, score in scores.items()}
        record["hypotheses"][name] = translations
    return {
        "corpus": corpus.name,
        "parameters": sum(parameter.numel() for parameter in translator.model.parameters()),
        "decoding": decoding,
        "translating": {"device": describe_device(translator), "seconds": seconds},
        "versions": _versions(),
        **record,
    }


def describe_device(translator: Translator) -> str:
    """Return the name of the GPU that a translator runs on, or "cpu" with the number of threads."""
    device = next(translator.model.parameters()).device
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads" if device.type == "cpu" else device.type


def rescore(record: dict[str, Any], corpus: Corpus) -> dict[str, dict[str, float]]:
    """Recompute the scores of a record from its hypotheses and the references of its corpus.

    Args:
        record: record from `evaluate` or from a result file.
        corpus: corpus of the record.

    Raises:
        ValueError: the record is of another corpus, or its hypotheses do not fit the test sets.
    """
    if record["corpus"] != corpus.name:
        raise ValueError(f"record is of the corpus {record['corpus']!r}, got {corpus.name!r}")
    values = {}
    for name, translations in record["hypotheses"].items():
        require_choice(tuple(corpus.tests), hypotheses=name)
        scores = score_translations(
            translations, corpus.tests[name].references, language=corpus.target_language
        )
        values[name] = {metric: score.value for metric, score in scores.items()}
    return values


def write_record(path: Path | str, record: dict[str, Any]) -> None:
    """Write a result file atomically.

    Args:
        path: path of the file, which is replaced if it exists.
        record: record from `evaluate`, with the training's ``command``, ``seed``, ``device`` and ``seconds``
            and any further entries.

    Raises:
        ValueError: the record is incomplete.
        OSError: the file cannot be written.
    """
    require_record(record)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def summarize(record: dict[str, Any]) -> list[str]:
    """Return a line for each score of a record, with its signature."""
    return [
        f"{test}: {metric} {value:.2f}  ({record['signatures'][test][metric]})"
        for test, scores in record["scores"].items()
        for metric, value in scores.items()
    ]


def require_record(record: dict[str, Any]) -> None:
    """Require every field of a result file, of the right type, with signed scores for every test set.

    Raises:
        ValueError: the record is incomplete or inconsistent; the message names the field.
    """
    for field, kind in _FIELDS.items():
        if field not in record:
            raise ValueError(f"record must hold {', '.join(_FIELDS)}, but {field} is missing")
        if not isinstance(record[field], kind) or isinstance(record[field], bool):
            raise ValueError(f"{field} has the wrong type in a record: {record[field]!r:.60}")
    tests = record["hypotheses"].keys()
    if not tests:
        raise ValueError("hypotheses must hold at least one test set, got none")
    for field in ("scores", "signatures"):
        if record[field].keys() != tests:
            raise ValueError(
                f"{field} ({list(record[field])}) and hypotheses ({list(tests)}) must have the same test sets"
            )
    for name in tests:
        scores, signatures = record["scores"][name], record["signatures"][name]
        if scores.keys() != signatures.keys() or not scores:
            raise ValueError(
                f"scores {list(scores)} of {name} must each have a signature, got {list(signatures)}"
            )
        for metric, value in scores.items():
            if not isinstance(value, int | float) or not 0 <= value <= 100 + 1e-6:
                raise ValueError(f"{metric} of {name} must be a number from 0 to 100, got {value!r}")


def _versions() -> dict[str, str]:
    others = {name: version(name) for name in ("torch", "tokenizers", "sacrebleu", "sacremoses")}
    return {"glassformer": __version__, "python": platform.python_version()} | others

"""How well a translator translates, written down so that anyone who has the references can count again."""

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
    """Score the same translations in each way there is, by the name of its function in `metrics`.

    Where some have several references, "bleu_first_reference" is the `bleu` with only the first of each.

    Args:
        translations: what is scored, as a reader would see it.
        references: for each translation, one right one or more.
        language: the language of both, in two letters.

    Raises:
        ValueError: an argument does not fit; the message names it.
    """
    scores = {
        "bleu": bleu(translations, references),
        "moses_bleu": moses_bleu(translations, references, language=language),
        "chrf": chrf(translations, references),
    }
    if any(len(right) > 1 for right in references):
        scores["bleu_first_reference"] = bleu(translations, [right[:1] for right in references])
    return scores


def evaluate(
    translator: Translator, corpus: Corpus, *, tests: Sequence[str] | None = None, **decoding: Any
) -> dict[str, Any]:
    """Translate the tests of a corpus, and score what comes out.

    Args:
        translator: what translates.
        corpus: where the sentences and their references come from.
        tests: the names of the tests; without them, all that the corpus has.
        **decoding: how to search, as in `Translator.translate`.

    Returns:
        What a result file holds, all of it fit for JSON: ``scores`` and ``signatures`` by test and metric,
        ``hypotheses``, the translations by test, ``decoding``, ``corpus``, ``parameters`` (how many),
        ``versions``, and under ``translating`` the device and the seconds it took for each test. How the
        translator was trained is the caller's to add: see `write_record`.

    Raises:
        ValueError: the corpus has no such test, or an option does not fit.
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
        "translating": {"device": name_device(translator), "seconds": seconds},
        "versions": _versions(),
        **record,
    }


def name_device(translator: Translator) -> str:
    """Say where a translator runs: the name of the GPU, or "cpu" with its number of threads."""
    device = next(translator.model.parameters()).device
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads" if device.type == "cpu" else device.type


def rescore(record: dict[str, Any], corpus: Corpus) -> dict[str, dict[str, float]]:
    """Count the scores of a record again, from its hypotheses and the references of its corpus.

    Args:
        record: what `evaluate` returned, or what was read from a result file.
        corpus: the one it names.

    Raises:
        ValueError: the record is of another corpus, or its hypotheses do not fit the tests.
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
    """Write a result file, whole or not at all.

    Args:
        path: where to; what stands there is replaced.
        record: what `evaluate` returned, and how the translator was trained: ``command``, ``seed``,
            ``device`` and ``seconds``, and whatever else is worth knowing.

    Raises:
        ValueError: something is missing in the record.
        OSError: it cannot be written.
    """
    require_record(record)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def summarize(record: dict[str, Any]) -> list[str]:
    """Say in a line for each score of a record what it is, and how it was counted."""
    return [
        f"{test}: {metric} {value:.2f}  ({record['signatures'][test][metric]})"
        for test, scores in record["scores"].items()
        for metric, value in scores.items()
    ]


def require_record(record: dict[str, Any]) -> None:
    """The record holds all that a result file must, each of its kind, and every test has all three parts.

    Raises:
        ValueError: it does not; the message names what is wrong.
    """
    for field, kind in _FIELDS.items():
        if field not in record:
            raise ValueError(f"record must hold {', '.join(_FIELDS)}, but {field} is missing")
        if not isinstance(record[field], kind) or isinstance(record[field], bool):
            raise ValueError(f"{field} is not what it should be in a record: {record[field]!r:.60}")
    tests = record["hypotheses"].keys()
    if not tests:
        raise ValueError("hypotheses must hold at least one test, got none")
    for field in ("scores", "signatures"):
        if record[field].keys() != tests:
            raise ValueError(
                f"{field} ({list(record[field])}) and hypotheses ({list(tests)}) must share tests"
            )
    for name in tests:
        scores, signatures = record["scores"][name], record["signatures"][name]
        if scores.keys() != signatures.keys() or not scores:
            raise ValueError(
                f"scores {list(scores)} of {name} must each have a signature: {list(signatures)}"
            )
        for metric, value in scores.items():
            if not isinstance(value, int | float) or not 0 <= value <= 100 + 1e-6:
                raise ValueError(f"{metric} of {name} must be a number from 0 to 100, got {value!r}")


def _versions() -> dict[str, str]:
    others = {name: version(name) for name in ("torch", "tokenizers", "sacrebleu", "sacremoses")}
    return {"glassformer": __version__, "python": platform.python_version()} | others

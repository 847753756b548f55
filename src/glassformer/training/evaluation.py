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
    """The translations of a corpus's test sets with their scores, in a form that JSON can hold.

    Attributes:
        corpus: name of the corpus.
        parameters: number of parameters of the model.
        decoding: decoding options used.
        translating: device, and translation time of each test set in seconds.
        versions: versions of Python and the libraries.
        scores: scores by test set and metric.
        signatures: signatures of the scores, by test set and metric.
        hypotheses: translations by test set.

    Raises:
        ValueError: there is no test set, or a test set lacks scores or signatures.
    """

    corpus: str
    parameters: int
    decoding: dict[str, Any]
    translating: dict[str, Any]
    versions: dict[str, str]
    scores: dict[str, dict[str, float]]
    signatures: dict[str, dict[str, str]]
    hypotheses: dict[str, list[str]]

    def __post_init__(self) -> None:
        if not self.hypotheses:
            raise ValueError("hypotheses must hold at least one test set, got none")
        for name in self.hypotheses.keys() | self.scores.keys() | self.signatures.keys():
            scores, signatures = self.scores.get(name, {}), self.signatures.get(name, {})
            if name not in self.hypotheses or not scores or scores.keys() != signatures.keys():
                raise ValueError(
                    f"test set {name!r} must have hypotheses, and a signature for each score, "
                    f"got scores {list(scores)} and signatures {list(signatures)}"
                )


def score_translations(
    translations: Sequence[str], references: Sequence[Sequence[str]], *, language: str
) -> dict[str, Score]:
    """Score translations with every metric, keyed by the name of its function in `metrics`.

    If some translations have several references, "bleu_first_reference" is `bleu` with the first one of each.

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
        ValueError: the corpus has no such test set, or an option is invalid.
    """
    names = tuple(corpus.test_sets) if test_sets is None else tuple(test_sets)
    for name in names:
        require_choice(tuple(corpus.test_sets), test_sets=name)
    scores: dict[str, dict[str, Score]] = {}
    hypotheses, seconds = {}, {}
    for name in names:
        start = time.perf_counter()
        hypotheses[name] = translator.translate(corpus.test_sets[name].sources, **decoding)
        seconds[name] = round(time.perf_counter() - start, 2)
        scores[name] = _score(hypotheses[name], corpus, name)
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
    """Return the name of the GPU that a translator runs on, or "cpu" with the number of threads."""
    device = next(translator.model.parameters()).device
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads" if device.type == "cpu" else device.type


def rescore(evaluation: Evaluation, corpus: Corpus) -> dict[str, dict[str, float]]:
    """Recompute the scores of an evaluation from its hypotheses and the references of its corpus.

    Raises:
        ValueError: the evaluation is for a different corpus, or its hypotheses do not match the test sets.
    """
    if evaluation.corpus != corpus.name:
        raise ValueError(f"corpus must be that of the evaluation, {evaluation.corpus!r}, got {corpus.name!r}")
    for name in evaluation.hypotheses:
        require_choice(tuple(corpus.test_sets), hypotheses=name)
    return {
        name: {metric: score.value for metric, score in _score(translations, corpus, name).items()}
        for name, translations in evaluation.hypotheses.items()
    }


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


def read_results(path: Path | str) -> Evaluation:
    """Read the evaluation in a result file.

    Raises:
        ValueError: the file is incomplete or inconsistent.
    """
    record = json.loads(Path(path).read_text(encoding="utf-8"))
    fields = [field.name for field in dataclasses.fields(Evaluation)]
    if missing := [name for name in (*fields, "command", "seed", "device", "seconds") if name not in record]:
        raise ValueError(f"{path} lacks {', '.join(missing)}")
    return Evaluation(**{name: record[name] for name in fields})


def summarise(evaluation: Evaluation) -> list[str]:
    """Return a line for each score, with its signature."""
    return [
        f"{test}: {metric} {value:.2f}  ({evaluation.signatures[test][metric]})"
        for test, scores in evaluation.scores.items()
        for metric, value in scores.items()
    ]


def _score(translations: Sequence[str], corpus: Corpus, test: str) -> dict[str, Score]:
    return score_translations(
        translations, corpus.test_sets[test].references, language=corpus.target_language
    )


def _versions() -> dict[str, str]:
    others = {name: version(name) for name in ("torch", "tokenizers", "sacrebleu", "sacremoses")}
    return {"glassformer": __version__, "python": platform.python_version()} | others

"""Read a result file as anyone with the references would, and recompute its scores from its translations."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.data.corpora import Corpus
from glassformer.training.evaluation import Evaluation, score_translations

ENTRIES = {field.name for field in dataclasses.fields(Evaluation)} | {"command", "seed", "device", "seconds"}


def read_results(path: Path) -> dict[str, Any]:
    """Read a result file, which must be complete."""
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record.keys() >= ENTRIES
    assert record["hypotheses"]
    assert record["hypotheses"].keys() == record["scores"].keys() == record["signatures"].keys()
    for test_set, scores in record["scores"].items():
        assert scores.keys() == record["signatures"][test_set].keys()
        assert scores
    return record


def rescore(record: Mapping[str, Any], corpus: Corpus) -> dict[str, dict[str, float]]:
    """Score the stored translations again."""
    assert record["corpus"] == corpus.name
    scores = {
        name: score_translations(
            translations, corpus.test_sets[name].references, language=corpus.target_language
        )
        for name, translations in record["hypotheses"].items()
    }
    return {name: {metric: one.value for metric, one in own.items()} for name, own in scores.items()}

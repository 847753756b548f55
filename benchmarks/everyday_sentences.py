"""Translate fifty everyday sentences that are not in the corpus, with a human judgement of each.

A judgement applies to one translation. If the translator's output changes, the sentence counts as not judged
until somebody reads it and adds a judgement to everyday_judgements.json. A sentence is near the training set
if a training sentence differs from it in at most one word.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from record import Result, fingerprint, run_benchmark

from glassformer.data import Corpus, DataFileError, find_neighbours, load_corpus, sentence_key
from glassformer.translator import Translator

HERE = Path(__file__).parent
SENTENCES, JUDGEMENTS = HERE / "everyday_sentences.txt", HERE / "everyday_judgements.json"
NOT_JUDGED = {"verdict": "not judged", "kind": "", "remark": ""}


def load_judgements(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Read the judgement of every translation judged so far."""
    entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {(entry.pop("source"), entry.pop("translation")): entry for entry in entries}


def load_corpus_or_none() -> Corpus | None:
    """Load the corpus, or return None if it is not available."""
    try:
        return load_corpus("tatoeba-en-fr")
    except DataFileError:
        return None


def count_in_corpus(sentences: list[str], corpus: Corpus) -> int:
    """Count the sentences in the corpus, ignoring case."""
    parts = (corpus.train, corpus.validation, *corpus.test_sets.values())
    known = {sentence_key(source) for part in parts for source in part.sources}
    return sum(sentence_key(sentence) in known for sentence in sentences)


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Translate, look up each judgement, and print the sentences that still need one."""
    translator = Translator.load(options.translator, device=device)
    sentences = SENTENCES.read_text(encoding="utf-8").splitlines()
    translations = translator.translate(sentences, beam_size=options.beam_size)
    judgements = load_judgements(JUDGEMENTS)
    rows: list[dict[str, Any]] = [
        {"source": source, "translation": translation} | judgements.get((source, translation), NOT_JUDGED)
        for source, translation in zip(sentences, translations, strict=True)
    ]
    corpus = load_corpus_or_none()
    near = find_neighbours(sentences, corpus.train.sources) if corpus else [None] * len(rows)
    for row, is_near in zip(rows, near, strict=True):
        row["near_training"] = is_near
    measured = {"in_corpus": count_in_corpus(sentences, corpus) if corpus else None, "sentences": rows}
    settings = {"weights": fingerprint(translator.model)}
    for row in rows:
        if row["verdict"] == "not judged":
            print(json.dumps(row, ensure_ascii=False))
    return measured, settings


if __name__ == "__main__":
    run_benchmark(measure_all, translator="en-fr", beam_size=4)

"""Score the translators on all test sentences of Tatoeba, and on those that do not overlap with training.

A test sentence overlaps if its source is within one word of a training source, or if one of its references
is a training target (`glassformer.data.find_leaks`). The Transformer is also scored by length, because
overlapping sentences are shorter. The translations are those stored in ``results/translation_en_fr*.json``.
GLASSFORMER_DATA may name a local folder with the corpus.
"""

import argparse
import json
from typing import Any

import torch
from record import CPU, RESULTS, Result, run_benchmark

from glassformer.data import Sentences, find_leaks, find_neighbours, find_repeated, load_corpus
from glassformer.metrics import bleu

LENGTHS = {
    "1 to 4": range(1, 5),
    "5 to 6": range(5, 7),
    "7 to 9": range(7, 10),
    "10 or more": range(10, 1000),
}


def measure(_: argparse.Namespace, __: torch.device) -> Result:
    """Compute the shares of overlapping sentences and the scores of three models with and without them."""
    corpus = load_corpus("tatoeba-en-fr")
    test, train = corpus.test_sets["test"], corpus.train
    leaks = find_leaks(test, train)
    repeated = find_repeated(test.references, (target for choices in train.references for target in choices))
    kept = [index for index, leaked in enumerate(leaks) if not leaked]
    scores: dict[str, Any] = {}
    for name in ("translation_en_fr", "translation_en_fr_additive", "translation_en_fr_fixed"):
        stored = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        hypotheses = stored["hypotheses"]["test"]
        everything = bleu(hypotheses, test.references)
        rest = bleu([hypotheses[index] for index in kept], [test.references[index] for index in kept])
        scores[name] = {
            "all": everything.value,
            "without overlap": rest.value,
            "signature": everything.signature,
        }
    measured = {
        "sentences": len(leaks),
        "near source": sum(find_neighbours(test.sources, train.sources)),
        "repeated reference": sum(repeated),
        "without overlap": len(kept),
        "bleu": scores,
        "by words": score_by_length(test, leaks),
    }
    return measured, {}


def score_by_length(test: Sentences, leaks: list[bool]) -> dict[str, dict[str, Any]]:
    """Score the Transformer on sentences of similar length, with and without overlap."""
    stored = json.loads((RESULTS / "translation_en_fr.json").read_text(encoding="utf-8"))
    hypotheses = stored["hypotheses"]["test"]
    rows: dict[str, dict[str, Any]] = {}
    for name, lengths in LENGTHS.items():
        rows[name] = {}
        for kind, leaked in (("overlap", True), ("without overlap", False)):
            chosen = [
                index
                for index, source in enumerate(test.sources)
                if leaks[index] == leaked and len(source.split()) in lengths
            ]
            score = bleu(
                [hypotheses[index] for index in chosen], [test.references[index] for index in chosen]
            )
            rows[name][kind] = {"sentences": len(chosen), "bleu": score.value}
    return rows


if __name__ == "__main__":
    run_benchmark(measure, device=CPU)

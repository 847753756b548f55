"""Score the translators on all test sentences of Tatoeba, and on those that do not overlap with training.

A test sentence overlaps if its source is within one word of a training source, or if one of its references is
a training target (`glassformer.data.find_leaks`). The translations are those stored in
``results/translation_en_fr*.json``. GLASSFORMER_DATA may name a local folder with the corpus.
"""

import argparse
import json
from typing import Any

import torch
from record import CPU, RESULTS, Result, run_benchmark

from glassformer.data import find_leaks, find_neighbours, find_repeated, load_corpus
from glassformer.metrics import bleu


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
    }
    return measured, {}


if __name__ == "__main__":
    run_benchmark(measure, device=CPU)

"""Ablate each head of the pretrained translator and measure the loss in BLEU.

On validation sentences, translated greedily: every head alone, every attention, and all attentions of a kind.
The standard error comes from ten parts of the sentences.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from record import Result, fingerprint, run_benchmark

from glassformer.data import load_corpus
from glassformer.inspection import ablate_heads, find_attention_layers
from glassformer.metrics import bleu
from glassformer.translator import Translator

NUM_PARTS = 10
Heads = Mapping[str, Sequence[int]]


def rows_to_ablate(translator: Translator) -> list[Heads]:
    """List the ablations: each head, each attention, each kind of attention."""
    attentions = {name: range(a.num_heads) for name, a in find_attention_layers(translator.model).items()}
    kinds: dict[str, dict[str, Sequence[int]]] = {}
    for name, heads in attentions.items():
        kind = " ".join((name.split(".")[0], name.split(".")[-1]))
        kinds.setdefault(kind, {})[name] = list(heads)
    singles: list[Heads] = [{name: [head]} for name, heads in attentions.items() for head in heads]
    return singles + [{name: list(heads)} for name, heads in attentions.items()] + [*kinds.values()]


class Scorer:
    """Scores translations of the same sentences, in total and in parts."""

    def __init__(self, translator: Translator, sources: Sequence[str], references: Any) -> None:
        self.translator, self.sources, self.references = translator, sources, references
        self.parts = [slice(part, None, NUM_PARTS) for part in range(NUM_PARTS)]
        self.intact = self.translate({})
        self.signature = bleu(self.intact, references).signature
        self.intact_scores = self.scores(self.intact)

    def translate(self, heads: Heads) -> list[str]:
        """Translate greedily with some heads ablated."""
        with ablate_heads(self.translator.model, heads):
            return self.translator.translate(self.sources, beam_size=1)

    def scores(self, translations: Sequence[str]) -> np.ndarray:
        """Return BLEU of all sentences, then of each part."""
        return np.array(
            [bleu(translations[part], self.references[part]).value for part in (slice(None), *self.parts)]
        )

    def measure(self, heads: Heads) -> dict[str, Any]:
        """Measure the loss in BLEU and the share of changed translations when heads are ablated."""
        start = time.process_time()
        translations = self.translate(heads)
        cost, *by_part = self.intact_scores - self.scores(translations)
        changed = np.mean([a != b for a, b in zip(translations, self.intact, strict=True)])
        row = {
            "heads": dict(heads),
            "cost": round(float(cost), 2),
            "standard_error": round(float(np.std(by_part, ddof=1)) / NUM_PARTS**0.5, 2),
            "changed": round(float(changed), 3),
        }
        print(row, f"{time.process_time() - start:.0f} s", flush=True)
        return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Ablate every head."""
    translator = Translator.load(options.translator, device=device)
    validation = load_corpus("tatoeba-en-fr").validation
    sources, references = (part[: options.sentences] for part in validation)
    scorer = Scorer(translator, sources, references)
    measured = {
        "bleu": round(float(scorer.intact_scores[0]), 2),
        "signature": scorer.signature,
        "ablated": [scorer.measure(heads) for heads in rows_to_ablate(translator)],
    }
    settings = {
        "corpus": "tatoeba-en-fr, validation",
        "decoding": "greedy",
        "weights": fingerprint(translator.model),
    }
    return measured, settings


if __name__ == "__main__":
    run_benchmark(measure_all, translator="en-fr", sentences=1000)

"""Count the senses of ambiguous English words in the translator's training corpus.

French words identify a sense: a sentence with "bank" whose translation has "banque" is about money. A
sentence counts once for each of its translations.
"""

import argparse
import re
from typing import Any

import torch
from record import CPU, Result, run_benchmark

from glassformer.data import load_corpus

SENSES = {
    "bank": {"money": r"banqu\w*|bancaires?", "river": r"rives?|rivages?|berges?|bords?"},
    "right": {"not wrong": r"raison", "not left": r"droite|droit"},
    "cold": {"not warm": r"froide?s?", "illness": r"rhume|enrhumée?"},
    "watch": {"to look": r"regard\w*", "clock": r"montres?"},
    "light": {"lamp": r"lumières?|feux?", "not heavy": r"légère?s?"},
    "because it was": {"il": r"qu'il", "elle": r"qu'elle"},
    "free": {"at leisure": r"libres?", "costs nothing": r"gratuit\w*"},
}


def count(word: str, senses: dict[str, str], pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Count the sentences with a word, and the translations with a word of each sense."""
    translations = [french for english, french in pairs if re.search(rf"\b{word}\b", english, re.IGNORECASE)]
    found = {
        sense: sum(
            re.search(rf"\b({pattern})\b", french, re.IGNORECASE) is not None for french in translations
        )
        for sense, pattern in senses.items()
    }
    return {"word": word, "sentences": len(translations), "senses": found}


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Count every word."""
    sources, targets = load_corpus("tatoeba-en-fr").train.pairs()
    pairs = list(zip(sources, targets, strict=True))
    measured = [count(word, senses, pairs) for word, senses in SENSES.items()]
    for row in measured:
        print(row)
    settings = {"corpus": "tatoeba-en-fr, train", "pairs": len(pairs), "senses": SENSES}
    return measured, settings


if __name__ == "__main__":
    run_benchmark(measure_all, device=CPU)

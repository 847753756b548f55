"""Count the pairs of source and target lengths of a corpus, in tokens."""

import argparse
from collections import Counter

import torch
from record import CPU, Result, run_benchmark

from glassformer.data import Tokenizer, load_corpus


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Train a tokenizer on the corpus and count the lengths."""
    sources, targets = load_corpus(options.corpus).train.pairs()
    tokenizer = Tokenizer.train([*sources, *targets], vocabulary_size=options.vocabulary_size)
    lengths = (map(len, tokenizer.encode(side)) for side in (sources, targets))
    counts = Counter(f"{source} {target}" for source, target in zip(*lengths, strict=True))
    measured = {"source and target tokens": dict(sorted(counts.items()))}
    return measured, {}


if __name__ == "__main__":
    run_benchmark(measure_all, device=CPU, corpus="tatoeba-en-fr", vocabulary_size=6000)

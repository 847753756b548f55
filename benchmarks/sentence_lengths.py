"""How long real sentences are: for the pairs of a corpus, how often each pair of lengths comes, in tokens."""

import argparse
from collections import Counter

import torch
from record import write_result

from glassformer.data import Tokenizer, load_corpus


def main() -> None:
    """Train a tokenizer on the corpus, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="tatoeba-en-fr")
    parser.add_argument("--vocabulary-size", type=int, default=6000)
    options = parser.parse_args()
    sources, targets = load_corpus(options.corpus).train.pairs()
    tokenizer = Tokenizer.train([*sources, *targets], vocabulary_size=options.vocabulary_size)
    lengths = (map(len, tokenizer.encode(side)) for side in (sources, targets))
    counts = Counter(f"{source} {target}" for source, target in zip(*lengths, strict=True))
    measured = {"source and target tokens": dict(sorted(counts.items()))}
    settings = vars(options)
    print(write_result("sentence_lengths", device=torch.device("cpu"), settings=settings, measured=measured))


if __name__ == "__main__":
    main()

"""Compute five scores called BLEU for one model and one test set.

The pretrained translator translates Tatoeba's test set, greedily and with four beams. Both are scored in five
ways: cased with sacreBLEU's tokenisation; lower-cased with Moses' tokens; with n-grams up to bigrams only; as
the mean over sentences; and with teacher forcing, which does not score a translation at all. Each score is
computed with all references and with the first one alone.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import torch
from record import Result, fingerprint, run_benchmark

from glassformer.data import END_ID, PAD_ID, START_ID, load_corpus
from glassformer.metrics import bleu, moses_bleu, sentence_bleu_mean
from glassformer.training import shift_targets
from glassformer.translator import Translator


def score(texts: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, dict[str, Any]]:
    """Score the same translations in every way."""
    ways = {
        "cased": bleu(texts, references),
        "lower-cased": moses_bleu(texts, references, language="fr"),
        "two words": bleu(texts, references, max_ngram_order=2),
        "mean of sentences": sentence_bleu_mean(texts, references),
    }
    return {name: {"bleu": round(value, 2), "signature": told} for name, (value, told) in ways.items()}


@torch.no_grad()
def teacher_forced(translator: Translator, sources: Sequence[str], references: Sequence[str]) -> list[str]:
    """Return the likeliest token at each position with the reference as decoder input."""
    device = next(translator.model.parameters()).device
    sides = [translator.tokenizer.encode(side) for side in (sources, references)]
    order = sorted(range(len(sources)), key=lambda number: len(sides[0][number]))
    texts = [""] * len(sources)
    for start in range(0, len(order), 64):
        chosen = order[start : start + 64]
        source_ids = pad([[*sides[0][number], END_ID] for number in chosen]).to(device)
        target_ids = pad([[START_ID, *sides[1][number], END_ID] for number in chosen]).to(device)
        decoder_input_ids, labels = shift_targets(target_ids)
        told = (
            translator.model(source_ids, decoder_input_ids).argmax(-1).masked_fill(labels == PAD_ID, END_ID)
        )
        for number, text in zip(chosen, translator.tokenizer.decode(told.tolist()), strict=True):
            texts[number] = text
    return texts


def pad(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """Pad rows of ids to the longest."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[PAD_ID] * (width - len(row))] for row in rows])


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Translate the test set and score it in every way."""
    translator = Translator.load(options.model, device=device)
    sources, references = (
        part[: options.sentences] for part in load_corpus("tatoeba-en-fr").test_sets["test"]
    )
    first = [own[:1] for own in references]
    forced = teacher_forced(translator, sources, [own for (own,) in first])
    written = {
        "greedy": translator.translate(sources, beam_size=1),
        "beam 4": translator.translate(sources, beam_size=4),
    }
    measured = []
    for name, theirs in (("all", references), ("first", first)):
        value, told = bleu(forced, theirs)
        row: dict[str, Any] = {"references": name, "count": sum(map(len, theirs))}
        row["teacher-forced"] = {"bleu": round(value, 2), "signature": told}
        row |= {way: score(texts, theirs) for way, texts in written.items()}
        measured.append(row)
        print(row, flush=True)
    weights = fingerprint(translator.model)
    settings = {"corpus": "tatoeba-en-fr", "split": "test", "weights": weights}
    return measured, settings


if __name__ == "__main__":
    run_benchmark(
        measure_all,
        model={"default": "en-fr", "help": "name of a pretrained translator, or a folder with one"},
        sentences=2500,
    )

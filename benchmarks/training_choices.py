"""Compare label smoothing, schedules and checkpoint averaging on a small training set.

Small translators learn from a thousand sentences of the grammar, cut into subwords, with several seeds per
choice; each seed also draws the sentences. The scores are the loss without smoothing and cased BLEU of greedy
translations, on sentences with new pairs of nouns. Every run is scored with its last weights and with the
mean of its last checkpoints. Finished runs are stored in ``--folder``, so the program can be interrupted and
started again.
"""

import argparse
import functools
import itertools
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from record import Result, load_or_make, run_benchmark

from glassformer.data import Corpus, Sentences, TokenBatches, Tokenizer
from glassformer.metrics import bleu
from glassformer.modules import Transformer, TransformerConfig
from glassformer.tasks import join_words, make_corpus
from glassformer.training import (
    Trainer,
    TrainingSettings,
    average_weights,
    chunked_cross_entropy,
    list_checkpoints,
)
from glassformer.translator import Translator

SIZES = {"d_model": 32, "num_heads": 4, "d_ff": 64, "num_encoder_layers": 1, "num_decoder_layers": 1}
USUAL: dict[str, Any] = {"label_smoothing": 0.1, "schedule": "constant"}
CHOICES: dict[str, dict[str, Any]] = {
    "usual": {},
    "smoothing 0": {"label_smoothing": 0.0},
    "smoothing 0.3": {"label_smoothing": 0.3},
    "linear": {"schedule": "linear"},
}


def draw_corpus(seed: int, num_train: int, num_scored: int) -> Corpus:
    """Draw training sentences of the grammar, and test sentences with other nouns, as plain text."""
    rng = np.random.default_rng(seed)
    drawn = make_corpus(rng, train_size=num_train, test_size=num_scored, genders="any")
    train, test = (
        Sentences(
            tuple(join_words(example.source) for example in examples),
            tuple((join_words(example.target),) for example in examples),
        )
        for examples in drawn
    )
    return Corpus("grammar", "en", "fr", "MIT", train, test, {"test": test})


def score(translator: Translator, sentences: Sentences) -> dict[str, float]:
    """Return the loss per token without smoothing, and BLEU of greedy translations."""
    sources, targets = map(translator.tokenizer.encode, sentences.pairs())
    batches = TokenBatches(sources, targets, max_tokens=4096, seed=0)
    device = next(translator.model.parameters()).device
    planned = batches.epoch(0)
    with torch.no_grad():
        total = sum(
            chunked_cross_entropy(
                translator.model, *(ids.to(device) for ids in batches.collate(indices))
            ).item()
            for indices in planned
        )
    translations = translator.translate(sentences.sources, beam_size=1)
    return {
        "loss": round(total / sum(map(batches.num_labels, planned)), 4),
        "bleu": round(bleu(translations, sentences.references).value, 2),
    }


def train(
    corpus: Corpus, vocabulary_size: int, settings: TrainingSettings, folder: Path, device: torch.device
) -> dict[str, dict[str, float]]:
    """Train a translator; return its scores with the last and with the averaged weights."""
    tokenizer = Tokenizer.train(itertools.chain(*corpus.train.pairs()), vocabulary_size=vocabulary_size)
    torch.manual_seed(settings.seed)
    config = TransformerConfig.tiny(tokenizer.vocabulary_size, **SIZES, norm="pre", dropout=0.1)
    translator = Translator(Transformer(config).to(device), tokenizer)
    Trainer(translator, corpus, settings, folder, progress_bar=False).run()
    averaged = score(translator, corpus.validation)
    newest = list_checkpoints(folder / "checkpoints")[-1:]
    translator.model.load_state_dict(average_weights(newest), strict=False)
    last = score(translator, corpus.validation)
    shutil.rmtree(folder)
    return {"last": last, "averaged": averaged}


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Train with every choice and seed; finished runs are loaded."""
    pace = {
        "steps": options.steps,
        "warmup_steps": options.steps // 10,
        "learning_rate": options.peak,
        "max_tokens": 256,
        "validate_every": options.steps,
        "checkpoint_every": options.steps // 40,
        "keep_checkpoints": 5,
    }
    measured = []
    for seed, name in itertools.product(range(options.seeds), CHOICES):
        corpus = draw_corpus(seed, options.num_train, options.num_scored)
        settings = TrainingSettings(**(USUAL | CHOICES[name]), **pace, seed=seed)
        done = f"{name} {options.steps} {seed}"
        run = functools.partial(
            train, corpus, options.vocabulary_size, settings, options.folder / done, device
        )
        row = load_or_make(options.folder / f"{done}.json", run)
        measured.append({"choice": name, "seed": seed, **row})
        print(measured[-1], flush=True)
    stored = {"usual": USUAL, "choices": CHOICES, **SIZES, **pace}
    return measured, stored


if __name__ == "__main__":
    run_benchmark(
        measure_all,
        folder={"type": Path, "required": True, "help": "folder for runs and their results"},
        num_train=1000,
        num_scored=200,
        vocabulary_size=450,
        steps=400,
        peak=0.01,
        seeds=8,
    )

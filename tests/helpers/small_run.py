"""A run that takes seconds, as functions and as a program: small_run.py FOLDER [STEP to be killed at]."""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from glassformer.data.corpora import Corpus, Sentences
from glassformer.data.tokenizer import Tokenizer
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.tasks.grammar import join_words, make_corpus
from glassformer.training.parallel import join_workers
from glassformer.training.settings import TrainingSettings
from glassformer.training.trainer import Trainer
from glassformer.translator import Translator

SETTINGS = TrainingSettings(
    steps=9,
    max_tokens=211,
    learning_rate=3e-3,
    warmup_steps=3,
    log_every=1,
    validate_every=9,
    checkpoint_every=2,
    keep_checkpoints=2,
)


def small_corpus():
    examples, _ = make_corpus(np.random.default_rng(1), train_size=60, test_size=2)
    sources = tuple(join_words(example.source) for example in examples)
    references = tuple((join_words(example.target),) for example in examples)
    first, last = (Sentences(sources[part], references[part]) for part in (slice(7, None), slice(7)))
    return Corpus("grammar", "en", "fr", "ours", first, last, {"test": last})


def small_trainer(folder, *, workers=None, dropout=0.1, corpus=None, device="cpu", **changes):
    corpus = corpus or small_corpus()
    sources, targets = corpus.train.pairs()
    tokenizer = Tokenizer.train([*sources, *targets], vocabulary_size=330)
    sizes = {"d_model": 12, "num_heads": 2, "d_ff": 20, "num_encoder_layers": 1, "num_decoder_layers": 1}
    config = TransformerConfig.tiny(tokenizer.vocabulary_size, norm="pre", dropout=dropout, **sizes)
    model = Transformer(config, generator=torch.Generator().manual_seed(5)).to(device)
    settings = replace(SETTINGS, **changes)
    return Trainer(
        Translator(model, tokenizer), corpus, settings, Path(folder), workers=workers, progress_bar=False
    )


def kill_once(trainer, at_step):
    """Kill this process the first time that it reaches a step."""
    killed = trainer.folder / "killed"
    step = trainer._step

    def step_or_kill(group):
        is_last = trainer.workers.rank == trainer.workers.size - 1
        if trainer.progress.step == at_step and is_last and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return step(group)

    trainer._step = step_or_kill


if __name__ == "__main__":
    with join_workers(torch.device("cpu")) as (workers, _):
        trainer = small_trainer(sys.argv[1], workers=workers, dropout=0.0)
        trainer.folder.mkdir(exist_ok=True)
        if len(sys.argv) > 2:
            kill_once(trainer, int(sys.argv[2]))
        translator = trainer.run()
        if workers.is_main:
            translator.save(trainer.folder / "translator")

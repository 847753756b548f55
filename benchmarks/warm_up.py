"""Measure the effect of warm-up by the position of the norm and the peak learning rate.

The learning rate rises over the first steps, or starts at its peak, and then stays constant, so only the
start differs. Adam as in the paper, no clipping. The result is the loss on sentences with new pairs of nouns.
Finished runs are stored in ``--folder``, so the program can be interrupted and started again.
"""

import argparse
import functools
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import torch
from record import Result, load_or_make, run_benchmark
from torch import Tensor

from glassformer.data import Vocabulary
from glassformer.modules import Transformer, TransformerConfig
from glassformer.tasks import make_corpus
from glassformer.training import draw_batches, learning_rate_at, teacher_forced_loss

D_MODEL, NUM_HEADS, D_FF, NUM_LAYERS, BATCH_SIZE = 32, 4, 64, 4, 32
Ids = tuple[Tensor, Tensor]


def draw_corpus(seed: int, device: torch.device) -> tuple[Ids, Ids, dict[str, int]]:
    """Draw training and test sentences as ids; also return the sizes of both vocabularies."""
    train, test = make_corpus(np.random.default_rng(seed), train_size=6000, test_size=200)
    english = Vocabulary.from_sentences(example.source for example in train)
    french = Vocabulary.from_sentences(example.target for example in train)

    def as_ids(examples: Any) -> Ids:
        sources = english.batch([example.source for example in examples])
        targets = french.batch([example.target for example in examples], add_special_tokens=True)
        return torch.from_numpy(sources).to(device), torch.from_numpy(targets).to(device)

    sizes = {"source_vocabulary_size": len(english), "target_vocabulary_size": len(french)}
    return as_ids(train), as_ids(test), sizes


def final_loss(
    norm: Any, warmup_steps: int, peak: float, steps: int, seed: int, device: torch.device
) -> float:
    """Train one translator; return its test loss. The initial weights depend only on the seed."""
    train, test, sizes = draw_corpus(seed, device)
    generator = torch.Generator().manual_seed(seed)
    layers = {"num_encoder_layers": NUM_LAYERS, "num_decoder_layers": NUM_LAYERS}
    widths = {"d_model": D_MODEL, "num_heads": NUM_HEADS, "d_ff": D_FF}
    config = TransformerConfig(**sizes, **layers, **widths, norm=norm, dropout=0.0)
    model = Transformer(config, generator=generator).to(device)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    batches = draw_batches(*train, batch_size=BATCH_SIZE, generator=generator)
    for step in range(1, steps + 1):
        rate = learning_rate_at(
            step, peak=peak, warmup_steps=warmup_steps, total_steps=steps, schedule="constant"
        )
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        teacher_forced_loss(model, *next(batches)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    model.eval()
    with torch.no_grad():
        return round(teacher_forced_loss(model, *test).item(), 4)


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Train every combination with every seed."""
    measured = []
    for norm, warmup_steps, peak in itertools.product(("post", "pre"), options.warmup_steps, options.peaks):
        losses = [
            load_or_make(
                options.folder / f"{norm} {warmup_steps} {peak} {options.steps} {seed}.json",
                functools.partial(final_loss, norm, warmup_steps, peak, options.steps, seed, device),
            )
            for seed in range(options.seeds)
        ]
        measured.append({"norm": norm, "warmup_steps": warmup_steps, "peak": peak, "loss": losses})
        print(measured[-1], flush=True)
    settings = {
        "d_model": D_MODEL,
        "num_heads": NUM_HEADS,
        "d_ff": D_FF,
        "num_layers": NUM_LAYERS,
        "batch_size": BATCH_SIZE,
    }
    return measured, settings


if __name__ == "__main__":
    run_benchmark(
        measure_all,
        folder={"type": Path, "required": True, "help": "folder for the results of finished runs"},
        peaks=[0.001, 0.003, 0.01, 0.03],
        warmup_steps=[0, 80],
        steps=240,
        seeds=3,
    )

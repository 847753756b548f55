"""Measure recall of a sequence through one fixed vector, and with attention.

Two translators of equal size learn to repeat random symbols. One passes only the encoder's last state to the
decoder; the other also attends to all states. Three experiments: recall by the length, with four times the
training steps, and with a wider vector.
"""

import argparse
import itertools
import time
from typing import Any

import numpy as np
import torch
from record import Result, run_benchmark
from torch import nn

from glassformer.modules import AdditiveAttentionTranslator, FixedContextTranslator, RecurrentConfig
from glassformer.runtime import seed_everything
from glassformer.tasks import RecallBatch, RecallTask, recall_accuracy

NUM_SYMBOLS, BATCH_SIZE, TEST_SIZE, LEARNING_RATE = 32, 64, 1000, 0.005
MODELS = {"fixed vector": FixedContextTranslator, "with attention": AdditiveAttentionTranslator}


def build(name: str, task: RecallTask, width: int) -> FixedContextTranslator:
    """Build a translator for a task."""
    sizes = {"source_vocabulary_size": task.vocabulary_size, "target_vocabulary_size": task.vocabulary_size}
    return MODELS[name](RecurrentConfig(**sizes, d_model=width))


def count_parameters(name: str, width: int) -> int:
    """Count the parameters of a translator; they do not depend on the length of the task."""
    return sum(weight.numel() for weight in build(name, RecallTask(1, NUM_SYMBOLS), width).parameters())


def equal_width(attention_width: int) -> int:
    """Return the smallest width at which the fixed-vector translator has at least as many parameters."""
    wanted = count_parameters("with attention", attention_width)
    return next(
        width
        for width in itertools.count(attention_width)
        if count_parameters("fixed vector", width) >= wanted
    )


def train(model: nn.Module, task: RecallTask, steps: int, rng: np.random.Generator) -> None:
    """Train on new sequences with teacher forcing."""
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    for _ in range(steps):
        source_ids, decoder_input_ids, labels = (
            torch.from_numpy(ids).to(device) for ids in task.sample(BATCH_SIZE, rng)
        )
        loss = nn.functional.cross_entropy(
            model(source_ids, decoder_input_ids).flatten(0, 1), labels.flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


@torch.no_grad()
def recall(model: nn.Module, batch: RecallBatch) -> float:
    """Return the share of symbols recalled, with teacher forcing."""
    device = next(model.parameters()).device
    logits = model(*(torch.from_numpy(ids).to(device) for ids in batch[:2]))
    return recall_accuracy(logits.argmax(-1).cpu().numpy(), batch)


def measure(
    name: str, width: int, length: int, steps: int, seeds: int, device: torch.device
) -> dict[str, Any]:
    """Measure recall on unseen sequences for each seed."""
    task = RecallTask(length, NUM_SYMBOLS)
    rates, start = [], time.perf_counter()
    for seed in range(seeds):
        seed_everything(seed)
        rng = np.random.default_rng(seed)
        model = build(name, task, width).to(device)
        train(model, task, steps, rng)
        rates.append(round(recall(model, task.sample(TEST_SIZE, rng)), 4))
    row = {
        "model": name,
        "width": width,
        "parameters": count_parameters(name, width),
        "length": length,
        "steps": steps,
        "recall": rates,
    }
    print(row, f"{time.perf_counter() - start:.0f} s", flush=True)
    return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Run the three experiments."""
    widths = {
        "fixed vector": equal_width(options.attention_width),
        "with attention": options.attention_width,
    }

    def run(name: str, width: int, length: int, steps: int) -> dict[str, Any]:
        return measure(name, width, length, steps, options.seeds, device)

    fixed = "fixed vector"
    measured = {
        "length": [
            run(name, width, length, options.steps)
            for length in options.lengths
            for name, width in widths.items()
        ],
        "width": [run(fixed, width, options.width_length, options.steps) for width in options.widths],
        "longer": [run(fixed, widths[fixed], length, 4 * options.steps) for length in options.longer_lengths],
    }
    settings = {
        "num_symbols": NUM_SYMBOLS,
        "batch_size": BATCH_SIZE,
        "test_size": TEST_SIZE,
        "learning_rate": LEARNING_RATE,
    }
    return measured, settings


if __name__ == "__main__":
    run_benchmark(
        measure_all,
        lengths=[4, 8, 12, 16, 24, 32],
        attention_width=48,
        widths=[32, 64, 128],
        width_length=12,
        longer_lengths=[16, 32],
        steps=1200,
        seeds=5,
    )

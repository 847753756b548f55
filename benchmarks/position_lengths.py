"""Test which positions generalise to sequences longer than those in training.

One attention layer learns to answer a question about order on sequences of up to 16 words, and is tested on
up to 64. Four experiments: every kind of position; a random start position in training, for positions that
are added to the vectors; a window that hides words further away than any distance in training; and the
learning rate.
"""

import argparse
import time
from typing import Any

import numpy as np
import torch
from record import Result, run_benchmark
from torch import nn

from glassformer.modules import Positions
from glassformer.runtime import seed_everything
from glassformer.tasks import OrderReader, OrderTask

NUM_SYMBOLS, BATCH_SIZE, TEST_SIZE, D_MODEL, NUM_HEADS, LEARNING_RATE = 8, 64, 1000, 64, 4, 0.003
QUESTIONS = ("before", "first", "later")
KINDS: tuple[Positions, ...] = ("none", "sinusoidal", "learned", "rotary", "alibi")


def train(
    model: OrderReader, task: OrderTask, options: argparse.Namespace, rng: np.random.Generator, **changes: Any
) -> None:
    """Train on new sequences of one length per step; positions start at 0 or at random."""
    device = model.word.weight.device
    optimizer = torch.optim.Adam(model.parameters(), changes.get("learning_rate", LEARNING_RATE))
    for _ in range(options.steps):
        length = int(rng.integers(task.min_length, options.longest, endpoint=True))
        latest_start = max(options.lengths) - length if changes.get("random_start") else 0
        start = int(rng.integers(0, latest_start, endpoint=True))
        ids, labels = (torch.from_numpy(each).to(device) for each in task.sample(BATCH_SIZE, length, rng))
        loss = nn.functional.cross_entropy(model(ids, start), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def share_right(
    model: OrderReader, task: OrderTask, length: int, rng: np.random.Generator, window: int
) -> float:
    """Return the accuracy on unseen sequences; words outside the window are hidden."""
    device = model.word.weight.device
    ids, labels = (torch.from_numpy(each).to(device) for each in task.sample(TEST_SIZE, length, rng))
    may_look = torch.arange(length, device=device)[None] >= length - window
    return float((model(ids, attn_mask=may_look).argmax(-1) == labels).float().mean())


def measure(
    question: str, kind: Positions, options: argparse.Namespace, device: torch.device, **changes: Any
) -> dict[str, Any]:
    """Return the accuracy at each length for each seed."""
    task = OrderTask(question, NUM_SYMBOLS)
    shares: dict[str, list[list[float]]] = {"right": [], "right_in_window": []}
    begin = time.perf_counter()
    for seed in range(options.seeds):
        seed_everything(seed)
        rng = np.random.default_rng(seed)
        sizes = {"d_model": D_MODEL, "num_heads": NUM_HEADS, "max_length": max(options.lengths)}
        model = OrderReader(task.vocabulary_size, positions=kind, **sizes).to(device)
        train(model, task, options, rng, **changes)
        for name, window in (("right", max(options.lengths)), ("right_in_window", options.longest)):
            shares[name].append([share_right(model, task, n, rng, window) for n in options.lengths])
    row = {"question": question, "positions": kind, **changes}
    row |= {name: np.round(each, 3).tolist() for name, each in shares.items()}
    print(row | {"right": np.mean(shares["right"], 0).round(2)}, f"{time.perf_counter() - begin:.0f} s")
    return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Run all experiments."""

    def run(question: str, kind: Positions, **changes: Any) -> dict[str, Any]:
        return measure(question, kind, options, device, **changes)

    measured = {
        "kinds": [run(question, kind) for question in QUESTIONS for kind in KINDS],
        "random_start": [
            run(question, kind, random_start=True)
            for question in QUESTIONS
            for kind in ("sinusoidal", "learned")
        ],
        "rates": [run("before", "sinusoidal", learning_rate=rate) for rate in (0.001, 0.01)],
    }
    settings = {
        "num_symbols": NUM_SYMBOLS,
        "batch_size": BATCH_SIZE,
        "test_size": TEST_SIZE,
        "d_model": D_MODEL,
        "num_heads": NUM_HEADS,
        "learning_rate": LEARNING_RATE,
    }
    return measured, settings


if __name__ == "__main__":
    run_benchmark(
        measure_all, longest=16, lengths=[4, 8, 12, 16, 17, 18, 20, 24, 32, 48, 64], steps=800, seeds=5
    )

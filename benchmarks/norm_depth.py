"""Test whether post-norm needs warm-up: stacks of encoder layers of several depths learn a look-up.

The input is a list of pairs, each the sum of a symbol's and a value's vector, and the queried symbol; the
answer is read from the last position. Training is compared in four ways: post-norm, post-norm with warm-up,
post-norm with smaller initial weights, and pre-norm.
"""

import argparse
import itertools
import time
from typing import Any

import numpy as np
import torch
from record import Result, run_benchmark
from torch import Tensor, nn

from glassformer.modules import EncoderLayer
from glassformer.runtime import seed_everything
from glassformer.tasks import LookupTask

TASK = LookupTask(num_pairs=4, num_symbols=8, num_values=4)
D_MODEL, NUM_HEADS, D_FF, BATCH_SIZE = 32, 4, 128, 32
WAYS: dict[str, dict[str, Any]] = {
    "post-norm": {"norm": "post"},
    "post-norm, warm-up": {"norm": "post", "warm_up": 100},
    "post-norm, small start": {"norm": "post", "xavier": False},
    "pre-norm": {"norm": "pre"},
}


def build(depth: int, *, norm: Any, xavier: bool = True) -> nn.Sequential:
    """Stack layers below an output projection, with Xavier's initialisation or nn.Linear's smaller one."""
    layers = [EncoderLayer(D_MODEL, NUM_HEADS, D_FF, norm=norm) for _ in range(depth)]
    final_norm = nn.LayerNorm(D_MODEL) if norm == "pre" else nn.Identity()
    stack = nn.Sequential(*layers, final_norm, nn.Linear(D_MODEL, TASK.num_values))
    for module in stack.modules():
        if xavier and isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
    return stack


def draw(vectors: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Draw lists with one question each as vectors, and the labels."""
    drawn = TASK.sample(BATCH_SIZE, rng)
    query_ids, key_ids, value_ids, labels = (torch.from_numpy(ids) for ids in drawn)
    symbols, values = vectors.split([TASK.num_symbols, TASK.num_values])
    pairs = symbols[key_ids] + values[value_ids]
    return torch.cat([pairs, symbols[query_ids, None]], dim=1), labels


def train(stack: nn.Sequential, rate: float, steps: int, rng: np.random.Generator, warm_up: int = 1) -> float:
    """Train with Adam on new lists; return the accuracy over the last fifty steps."""
    device = next(stack.parameters()).device
    vectors = torch.from_numpy(rng.standard_normal((TASK.num_symbols + TASK.num_values, D_MODEL))).float()
    optimizer = torch.optim.Adam(stack.parameters(), rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warm_up))
    shares = []
    for _ in range(steps):
        x, labels = (each.to(device) for each in draw(vectors, rng))
        logits = stack(x)[:, -1]
        optimizer.zero_grad()
        nn.functional.cross_entropy(logits, labels).backward()
        optimizer.step()
        schedule.step()
        shares.append((logits.argmax(-1) == labels).double().mean().item())
    return float(np.mean(shares[-50:]))


def measure(
    way: str, depth: int, rate: float, steps: int, seeds: int, device: torch.device
) -> dict[str, Any]:
    """Return the final accuracy for each seed."""
    options = dict(WAYS[way])
    warm_up = options.pop("warm_up", 1)
    shares, start = [], time.perf_counter()
    for seed in range(seeds):
        seed_everything(seed)
        stack = build(depth, **options).to(device)
        shares.append(round(train(stack, rate, steps, np.random.default_rng(seed), warm_up), 3))
    row = {"way": way, "depth": depth, "rate": rate, "accuracy": shares}
    print(row, f"{time.perf_counter() - start:.0f} s", flush=True)
    return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Train in every way at every depth and learning rate."""
    measured = [
        measure(way, depth, rate, options.steps, options.seeds, device)
        for depth, way, rate in itertools.product(options.depths, WAYS, options.rates)
    ]
    settings = {
        "d_model": D_MODEL,
        "num_heads": NUM_HEADS,
        "d_ff": D_FF,
        "batch_size": BATCH_SIZE,
        "num_pairs": TASK.num_pairs,
        "num_symbols": TASK.num_symbols,
        "num_values": TASK.num_values,
        "ways": WAYS,
    }
    return measured, settings


if __name__ == "__main__":
    run_benchmark(measure_all, depths=[2, 6, 12], rates=[0.001, 0.003, 0.01], steps=300, seeds=3)

"""Measure how well one attention layer learns a look-up, by the scale of its scores and learning rate.

At a single learning rate, a difference between scales could be an accident of that rate. Here every scale
meets every rate, with plain gradient descent and with Adam: can another learning rate make up for another
scale?
"""

import argparse
import math
import time
from typing import Any

import numpy as np
import torch
from record import Result, run_benchmark
from torch import nn

from glassformer.tasks import AttentionLookup, LookupTask

TASK = LookupTask(num_pairs=16, num_symbols=32, num_values=16)
BATCH_SIZE, TEST_SIZE = 64, 1000
OPTIMIZERS = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam}
RATES = {"SGD": [0.03, 0.1, 0.3, 1.0, 3.0], "Adam": [0.0003, 0.001, 0.003, 0.01, 0.03]}


def scales(d_model: int, num_heads: int) -> dict[str, float]:
    """Return the divisors of the scores."""
    d_k = d_model // num_heads
    return {"undivided": 1.0, "√d_k": math.sqrt(d_k), "√d_model": math.sqrt(d_model), "d_k": float(d_k)}


def learn(
    model: AttentionLookup, optimizer: torch.optim.Optimizer, steps: int, rng: np.random.Generator
) -> float:
    """Train on new lists; return the accuracy on unseen lists."""
    device = model.symbols.device

    def answer(batch_size: int) -> tuple[torch.Tensor, torch.Tensor]:
        *ids, wanted = (torch.from_numpy(part).to(device) for part in TASK.sample(batch_size, rng))
        logits, _ = model(*ids)
        return logits, wanted

    for _ in range(steps):
        loss = nn.functional.cross_entropy(*answer(BATCH_SIZE))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        logits, wanted = answer(TEST_SIZE)
    return float((logits.argmax(-1) == wanted).float().mean())


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Run the grid."""

    def run(scale: float, optimizer: str, rate: float, seed: int) -> float:
        model = AttentionLookup(
            TASK.num_symbols,
            TASK.num_values,
            d_model=options.d_model,
            num_heads=options.num_heads,
            scale=scale,
            generator=torch.Generator().manual_seed(seed),
        ).to(device)
        stepper = OPTIMIZERS[optimizer](model.parameters(), rate)
        return learn(model, stepper, options.steps, np.random.default_rng(seed))

    measured: list[dict[str, Any]] = []
    for optimizer, rates in RATES.items():
        for name, scale in scales(options.d_model, options.num_heads).items():
            for rate in rates:
                start = time.perf_counter()
                accuracy = [round(run(scale, optimizer, rate, seed), 4) for seed in range(options.seeds)]
                measured.append({"optimizer": optimizer, "scale": name, "rate": rate, "accuracy": accuracy})
                print(measured[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
    settings = vars(TASK) | {"batch_size": BATCH_SIZE, "test_size": TEST_SIZE}
    return measured, settings


if __name__ == "__main__":
    run_benchmark(measure_all, d_model=256, num_heads=4, steps=400, seeds=5)

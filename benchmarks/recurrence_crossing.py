"""Time recurrent and attention layers on sequences of T vectors, and find where the times cross.

The layers take turns, so that other programs affect all of them; the result is the median over the turns of
each time and of each *ratio* of times.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from record import Result, run_benchmark
from torch import Tensor, nn

from glassformer.modules import MultiHeadAttention


def layers(width: int) -> dict[str, Callable[[Tensor], object]]:
    """Build one layer of each kind, from ``width`` to ``width``."""
    attention = MultiHeadAttention(width, num_heads=1)
    return {
        "Elman": nn.RNN(width, width, batch_first=True),
        "LSTM": nn.LSTM(width, width, batch_first=True),
        "attention": attention,
    }


def run(layer: Callable[..., object], x: Tensor) -> None:
    """Run one forward pass and wait for it."""
    if isinstance(layer, MultiHeadAttention):
        layer(x, x, x, need_weights=False)
    else:
        layer(x)
    if x.is_cuda:
        torch.cuda.synchronize()


@torch.no_grad()
def time_layers(
    width: int, batch_size: int, length: int, turns: int, device: torch.device
) -> dict[str, list]:
    """Return the seconds of each layer in each turn, after one warm-up turn."""
    x = torch.randn(batch_size, length, width, device=device)
    seconds: dict[str, list[float]] = {}
    rivals = {name: layer.to(device) for name, layer in layers(width).items()}
    for _ in range(turns + 1):
        for name, layer in rivals.items():
            start = time.perf_counter()
            run(layer, x)
            seconds.setdefault(name, []).append(time.perf_counter() - start)
    return {name: times[1:] for name, times in seconds.items()}


def crossing(lengths: list[int], ratios: list[float]) -> float | None:
    """Return the length from which a recurrent layer is faster: the last zero of log(ratio)."""
    logs = np.log(ratios)
    above = np.flatnonzero(logs > 0)
    if len(above) == 0 or above[-1] == len(logs) - 1:
        return None
    i = above[-1]
    share = logs[i] / (logs[i] - logs[i + 1])
    return float(np.exp(np.log(lengths[i]) + share * np.log(lengths[i + 1] / lengths[i])))


def measure(width: int, batch_size: int, lengths: list[int], turns: int, device: torch.device) -> dict:
    """Measure times, ratios and crossings for one width and batch size."""
    rows = [time_layers(width, batch_size, length, turns, device) for length in lengths]
    row = {"width": width, "batch_size": batch_size, "lengths": lengths, "milliseconds": {}, "ratio": {}}
    for name in rows[0]:
        row["milliseconds"][name] = [float(f"{1e3 * np.median(times[name]):.3g}") for times in rows]
    row["crossing"] = {}
    for name in ("Elman", "LSTM"):
        quotients = [np.array(times[name]) / np.array(times["attention"]) for times in rows]
        row["ratio"][name] = [float(f"{np.median(quotient):.3g}") for quotient in quotients]
        found = crossing(lengths, row["ratio"][name])
        row["crossing"][name] = None if found is None else round(found)
    return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Measure every width and batch size."""
    torch.manual_seed(0)
    measured = []
    for batch_size in options.batch_sizes:
        for width in options.widths:
            measured.append(measure(width, batch_size, options.lengths, options.turns, device))
            print(f"batch {batch_size}, width {width}: {measured[-1]['crossing']}", flush=True)
    return measured, {}


if __name__ == "__main__":
    run_benchmark(
        measure_all,
        widths=[64, 128, 256],
        batch_sizes=[1, 8],
        lengths=[16, 32, 64, 128, 256, 512, 1024, 2048],
        turns=15,
    )

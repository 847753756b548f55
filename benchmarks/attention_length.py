"""Measure time and memory of attention over the sequence length, on three paths.

The explicit path computes and returns all weights. The fused path calls PyTorch's routine after the
package's checks of inputs and mask; the direct path calls the same routine without them.

Time is processor time on one thread. In each turn, every path runs at every length; the result is the median
of each time over the turns, and the quartiles of each *ratio* of times. A short run is repeated within its
turn, and the fastest counts. Memory is measured in a new process per run: the peak resident memory during the
run minus the resident memory before it, which includes inputs and mask (Linux only). Everything runs on the
CPU, forward only and forward with backward.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from record import CPU, Result, run_benchmark
from torch import Tensor

from glassformer.modules import causal_mask, fused_attention, scaled_dot_product_attention

MODES = ("forward", "training")
MOST_WORDS = 8192  # per turn, each path processes this many words, and the fastest run counts
WARM_UP = 8  # a length that needs hardly any memory

Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
PATHS: dict[str, Attend] = {
    "explicit": lambda query, key, value, mask: scaled_dot_product_attention(query, key, value)[0],
    "explicit, causal mask": lambda query, key, value, mask: scaled_dot_product_attention(
        query, key, value, mask
    )[0],
    "fused": lambda query, key, value, mask: fused_attention(query, key, value),
    "fused, causal mask": fused_attention,
    "direct": lambda query, key, value, mask: F.scaled_dot_product_attention(query, key, value),
    "direct, causal mask": F.scaled_dot_product_attention,
    "direct, is_causal": lambda query, key, value, mask: F.scaled_dot_product_attention(
        query, key, value, is_causal=True
    ),
}

RATIOS = (
    ("explicit", "fused"),
    ("explicit, causal mask", "explicit"),
    ("fused, causal mask", "fused"),
    ("direct, causal mask", "direct"),
    ("direct, is_causal", "direct"),
)


def inputs(length: int, d_k: int, mode: str) -> tuple[Tensor, ...]:
    """Return query, key, value and a causal mask for one sentence and one head."""
    vectors = (torch.randn(1, 1, length, d_k, requires_grad=mode == "training") for _ in range(3))
    return (*vectors, causal_mask(length))


def run(path: str, given: tuple[Tensor, ...], mode: str) -> None:
    """Run attention once; in training mode, also the backward pass."""
    with torch.set_grad_enabled(mode == "training"):
        attended = PATHS[path](*given)
    if mode == "training":
        torch.autograd.grad(attended.sum(), given[:3])


def time_paths(lengths: list[int], d_k: int, mode: str, turns: int) -> dict[str, np.ndarray]:
    """Return the seconds of each path, (turns, lengths), after one warm-up turn."""
    given = {length: inputs(length, d_k, mode) for length in lengths}
    seconds = {path: np.empty((turns + 1, len(lengths))) for path in PATHS}
    for turn in range(turns + 1):
        for place, length in enumerate(lengths):
            for path in PATHS:
                runs = [time_run(path, given[length], mode) for _ in range(max(1, MOST_WORDS // length))]
                seconds[path][turn, place] = min(runs)
    return {path: times[1:] for path, times in seconds.items()}


def time_run(path: str, given: tuple[Tensor, ...], mode: str) -> float:
    """Return the processor time of one run."""
    start = time.process_time()
    run(path, given, mode)
    return time.process_time() - start


def peak_megabytes(path: str, length: int, d_k: int, mode: str) -> float:
    """Return the memory that one run needs beyond its inputs; call it in a new process."""
    torch.set_num_threads(1)
    run(path, inputs(WARM_UP, d_k, mode), mode)
    given = inputs(length, d_k, mode)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # reset the peak
    before = _account("VmRSS")
    run(path, given, mode)
    return (_account("VmHWM") - before) / 1e6


def _account(entry: str) -> int:
    """Return an entry of this process's memory status on Linux, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{entry}:"))
    return 1024 * int(line.split()[1])


def measure(mode: str, lengths: list[int], memory_lengths: list[int], d_k: int, turns: int) -> dict:
    """Measure times, their ratios between paths, their growth with the length, and memory."""
    seconds = time_paths(lengths, d_k, mode, turns)
    row: dict = {
        "mode": mode,
        "lengths": lengths,
        "milliseconds": {path: _rounded(1e3 * np.median(times, axis=0)) for path, times in seconds.items()},
        "ratio": {
            f"{above} / {below}": _quartiles(seconds[above] / seconds[below]) for above, below in RATIOS
        },
        "growth": {path: _quartiles(times[:, 1:] / times[:, :-1]) for path, times in seconds.items()},
    }
    row |= {"memory_lengths": memory_lengths, "megabytes": {}}
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as fresh:
        for path in PATHS:
            runs = [fresh.submit(peak_megabytes, path, length, d_k, mode) for length in memory_lengths]
            row["megabytes"][path] = _rounded([each.result() for each in runs])
    print(mode, row["ratio"], row["growth"], row["megabytes"], sep="\n", flush=True)
    return row


def _quartiles(ratios: np.ndarray) -> list[list[float]]:
    """Return lower quartile, median and upper quartile over the turns, for each length."""
    return [_rounded(each) for each in np.percentile(ratios, (25, 50, 75), axis=0).T]


def _rounded(numbers: Iterable[float]) -> list[float]:
    return [float(f"{number:.3g}") for number in numbers]


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Measure both modes at every length."""
    torch.manual_seed(0)
    measured = [
        measure(mode, options.lengths, options.memory_lengths, options.d_k, options.turns) for mode in MODES
    ]
    return measured, {}


if __name__ == "__main__":
    run_benchmark(
        measure_all,
        device=CPU,
        lengths=[64, 128, 256, 512, 1024, 2048, 4096, 8192],
        memory_lengths=[512, 1024, 2048, 4096, 8192],
        d_k=64,
        turns=5,
    )

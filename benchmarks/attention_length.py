"""What attention costs as the sequence grows: time and memory, on the taught and on the fused path.

Time: that of the processor, so that other programs do not count, on one thread. In each turn every path runs
at every length; what is kept is the median over the turns of each time, and the quartiles of each *ratio* of
times. A short run is repeated within its turn, and the fastest counts. Memory: each run in a fresh process,
as the highest resident memory during the run less what was resident before it, inputs and mask included.
Linux keeps that account. All on the CPU, forwards alone, and forwards with backwards.
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
MOST_WORDS = 8192  # in a turn a path is run until it has seen so many words; the fastest run counts
WARM_UP = 8  # a length so short that it leaves next to nothing behind

Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
PATHS: dict[str, Attend] = {
    "taught": lambda query, key, value, mask: scaled_dot_product_attention(query, key, value)[0],
    "taught, causal mask": lambda query, key, value, mask: scaled_dot_product_attention(
        query, key, value, mask
    )[0],
    "fused": lambda query, key, value, mask: fused_attention(query, key, value),
    "fused, causal mask": fused_attention,
    "fused, is_causal": lambda query, key, value, mask: F.scaled_dot_product_attention(
        query, key, value, is_causal=True
    ),
}

RATIOS = (
    ("taught", "fused"),
    ("taught, causal mask", "taught"),
    ("fused, causal mask", "fused"),
    ("fused, is_causal", "fused"),
)


def inputs(length: int, d_k: int, mode: str) -> tuple[Tensor, ...]:
    """Query, key, value and a causal mask, for one sentence and one head."""
    vectors = (torch.randn(1, 1, length, d_k, requires_grad=mode == "training") for _ in range(3))
    return (*vectors, causal_mask(length))


def run(path: str, given: tuple[Tensor, ...], mode: str) -> None:
    """Attend once; in training, also carry a gradient back."""
    with torch.set_grad_enabled(mode == "training"):
        attended = PATHS[path](*given)
    if mode == "training":
        torch.autograd.grad(attended.sum(), given[:3])


def time_paths(lengths: list[int], d_k: int, mode: str, turns: int) -> dict[str, np.ndarray]:
    """Seconds of each path, (turns, lengths), after one turn of warming up."""
    given = {length: inputs(length, d_k, mode) for length in lengths}
    seconds = {path: np.empty((turns + 1, len(lengths))) for path in PATHS}
    for turn in range(turns + 1):
        for place, length in enumerate(lengths):
            for path in PATHS:
                runs = [time_run(path, given[length], mode) for _ in range(max(1, MOST_WORDS // length))]
                seconds[path][turn, place] = min(runs)
    return {path: times[1:] for path, times in seconds.items()}


def time_run(path: str, given: tuple[Tensor, ...], mode: str) -> float:
    """Seconds of the processor for one run, on one thread."""
    start = time.process_time()
    run(path, given, mode)
    return time.process_time() - start


def peak_megabytes(path: str, length: int, d_k: int, mode: str) -> float:
    """Memory that one run needs beyond its inputs. To be called in a process of its own."""
    torch.set_num_threads(1)
    run(path, inputs(WARM_UP, d_k, mode), mode)
    given = inputs(length, d_k, mode)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the highest so far
    before = _account("VmRSS")
    run(path, given, mode)
    return (_account("VmHWM") - before) / 1e6


def _account(entry: str) -> int:
    """Bytes under an entry of Linux's account of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{entry}:"))
    return 1024 * int(line.split()[1])


def measure(mode: str, lengths: list[int], memory_lengths: list[int], d_k: int, turns: int) -> dict:
    """Times, their ratios between paths, their growth from length to length, and memory."""
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
    """Lower quartile, median and upper quartile over the turns, for each length."""
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

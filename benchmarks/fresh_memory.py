"""Measure how much of the explicit path's time goes into obtaining new memory.

The same three operations (scores, softmax, mixing) run into new arrays and into arrays that were allocated
beforehand, for one sentence and one head, forward only. In each turn, both run at every length; short runs
are repeated within a turn, and the fastest counts. Time is processor time on one thread. The result is the
median of each time, and the quartiles of the ratio over the turns.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from record import CPU, Result, run_benchmark
from torch import Tensor

MOST_WORDS = 8192  # per turn, each variant processes this many words, and the fastest run counts


def into_new_arrays(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return attention, each operation into a new array."""
    return torch.mm(torch.softmax(torch.mm(query, key.T), dim=-1), value)


def into_given_arrays(query: Tensor, key: Tensor, value: Tensor, given: tuple[Tensor, ...]) -> Tensor:
    """Return attention, each operation into an array that exists already."""
    scores, weights, attended = given
    torch.mm(query, key.T, out=scores)
    torch.softmax(scores, dim=-1, out=weights)
    return torch.mm(weights, value, out=attended)


def fastest(run: Callable[[], Tensor], repeats: int) -> float:
    """Return the processor time of the fastest of some runs."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def variants(length: int, d_k: int) -> tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    """Return both variants for the same random words, after a check that they agree."""
    query, key, value = torch.randn(3, length, d_k).unbind()
    given = torch.empty(length, length), torch.empty(length, length), torch.empty(length, d_k)
    new = partial(into_new_arrays, query, key, value)
    old = partial(into_given_arrays, query, key, value, given)
    torch.testing.assert_close(new(), old())
    return new, old


def summary(length: int, new: np.ndarray, given: np.ndarray) -> dict:
    """Return the median times, and the quartiles of their ratio over the turns."""
    medians = {"new": 1e3 * np.median(new), "given": 1e3 * np.median(given)}
    quartiles = np.percentile(given / new, (25, 50, 75))
    row = {
        "length": length,
        "milliseconds": {name: float(f"{median:.3g}") for name, median in medians.items()},
        "given / new": [float(f"{ratio:.3g}") for ratio in quartiles],
    }
    print(row, flush=True)
    return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Time both variants at every length in each turn, after one warm-up turn."""
    torch.manual_seed(0)
    seconds = np.empty((options.turns + 1, len(options.lengths), 2))
    with torch.inference_mode():
        pairs = [variants(length, options.d_k) for length in options.lengths]
        for turn in range(options.turns + 1):
            for place, length in enumerate(options.lengths):
                repeats = max(1, MOST_WORDS // length)
                seconds[turn, place] = [fastest(run, repeats) for run in pairs[place]]
    timed = zip(options.lengths, seconds[1:].transpose(1, 2, 0), strict=True)
    return [summary(length, *times) for length, times in timed], {}


if __name__ == "__main__":
    run_benchmark(measure_all, device=CPU, lengths=[512, 1024, 2048, 4096, 8192], d_k=64, turns=9)

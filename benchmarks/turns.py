"""Compare implementations fairly on a busy machine: each in a new process, one run at a time, in turns.

Time is processor time over all threads, so that other programs do not count; on a GPU it is wall-clock time.
The results are medians over the turns, of times and of *ratios* of times within a turn. Memory is the peak
resident memory of a process, libraries included (Linux only).
"""

import gc
import os
import time
from collections.abc import Callable, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

# Builds, in a process of its own, the function to measure.
Make = Callable[..., Callable[[], Any]]


class Implementation(NamedTuple):
    """An importable function that builds the run to measure, and its arguments."""

    make: Make
    arguments: tuple


class Measured(NamedTuple):
    """Measurements of one implementation.

    Attributes:
        seconds: time of each turn.
        megabytes: peak resident memory of its process.
        megabytes_before: resident memory before its first run, with model and libraries.
        result: result of its last run.
    """

    seconds: np.ndarray
    megabytes: float
    megabytes_before: float
    result: Any

    def milliseconds(self) -> float:
        """Return the median time over the turns."""
        return float(f"{1e3 * np.median(self.seconds):.4g}")

    def ratio(self, other: "Measured") -> float:
        """Return the median over the turns of this time divided by the other's."""
        return float(f"{np.median(self.seconds / other.seconds):.3g}")


def take_turns(
    implementations: Mapping[str, Implementation], *, turns: int, warm_up: int = 2
) -> dict[str, Measured]:
    """Run every implementation once per turn; report and skip those that are not installed."""
    spawn = get_context("spawn")
    pipes: dict[str, Connection] = {}
    processes = []
    before = {}
    for name, implementation in implementations.items():
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=_serve, args=(theirs, implementation), daemon=True)
        process.start()
        theirs.close()
        ready = ours.recv()
        if isinstance(ready, str):
            print(f"without {name}: {ready}", flush=True)
            continue
        pipes[name], before[name] = ours, ready
        processes.append(process)
    runs: dict[str, list[tuple[float, float, Any]]] = {name: [] for name in pipes}
    for _ in range(warm_up + turns):
        for name, pipe in pipes.items():
            pipe.send("run")
            runs[name].append(pipe.recv())
    for pipe in pipes.values():
        pipe.send("stop")
    for process in processes:
        process.join()
    return {
        name: Measured(np.array([run[0] for run in done[warm_up:]]), done[-1][1], before[name], done[-1][2])
        for name, done in runs.items()
    }


def _serve(pipe: Connection, implementation: Implementation) -> None:
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(0)
    try:
        run = implementation.make(*implementation.arguments)
    except ImportError as error:
        pipe.send(str(error))
        return
    gc.collect()
    clock = time.perf_counter if torch.cuda.is_initialized() else time.process_time
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # reset the peak
    pipe.send(_resident("VmRSS"))
    while pipe.recv() == "run":
        start = clock()
        result = run()
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        pipe.send((clock() - start, _resident("VmHWM"), result))


def _resident(entry: str) -> float:
    """Return an entry of this process's memory status on Linux, in megabytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{entry}:"))
    return round(1024 * int(line.split()[1]) / 1e6, 1)

"""Measure rivals fairly on a busy machine: each in a fresh process of its own, one run at a time, in turns.

Time is that of the processor, all threads together, so that other programs do not count; on a GPU it is the
clock's. What is kept is the median over the turns, of times and of *ratios* of times within a turn. Memory is
the highest that was resident in a rival's process, libraries included; Linux keeps that account.
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

# Makes what is to be measured, in the rival's own process: a function without arguments, waited for.
Make = Callable[..., Callable[[], Any]]


class Rival(NamedTuple):
    """What makes the run to measure, a function that other processes can import, and its arguments."""

    make: Make
    arguments: tuple


class Measured(NamedTuple):
    """What the turns of one rival came to.

    Attributes:
        seconds: of each turn.
        megabytes: highest resident memory of its process.
        megabytes_before: what was resident before its first run, model and libraries included.
        result: what its last run gave.
    """

    seconds: np.ndarray
    megabytes: float
    megabytes_before: float
    result: Any

    def milliseconds(self) -> float:
        """Return the median over the turns."""
        return float(f"{1e3 * np.median(self.seconds):.4g}")

    def ratio(self, other: "Measured") -> float:
        """Return the median over the turns of this rival's time, divided by the other's in the same turn."""
        return float(f"{np.median(self.seconds / other.seconds):.3g}")


def take_turns(rivals: Mapping[str, Rival], *, turns: int, warm_up: int = 2) -> dict[str, Measured]:
    """Run every rival once a turn; those whose package is not there are named and left out."""
    spawn = get_context("spawn")
    pipes: dict[str, Connection] = {}
    processes = []
    before = {}
    for name, rival in rivals.items():
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=_serve, args=(theirs, rival), daemon=True)
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


def _serve(pipe: Connection, rival: Rival) -> None:
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(0)
    try:
        run = rival.make(*rival.arguments)
    except ImportError as error:
        pipe.send(str(error))
        return
    gc.collect()
    clock = time.perf_counter if torch.cuda.is_initialized() else time.process_time
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the highest so far
    pipe.send(_resident("VmRSS"))
    while pipe.recv() == "run":
        start = clock()
        result = run()
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        pipe.send((clock() - start, _resident("VmHWM"), result))


def _resident(entry: str) -> float:
    """Megabytes under an entry of Linux's account of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{entry}:"))
    return round(1024 * int(line.split()[1]) / 1e6, 1)

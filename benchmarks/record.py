"""Run a benchmark from the command line and store its result with all facts needed to judge and repeat it."""

import argparse
import datetime
import hashlib
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

RESULTS = Path(__file__).parent / "results"
CPU = torch.device("cpu")

Result = tuple[Any, dict[str, Any]]  # numbers, and the settings to store beside the options
Measure = Callable[[argparse.Namespace, torch.device], Result]


def run_benchmark(measure: Measure, *, device: torch.device | None = None, **options: Any) -> None:
    """Parse the command line, measure, and store the result in ``results/<name of the script>.json``.

    Args:
        measure: function of the parsed options and the device; returns the numbers and the settings to store
            beside the options.
        device: device to measure on; `pick_device` chooses if omitted.
        options: command-line options of `parse_options`.
    """
    script = sys.modules[measure.__module__]
    name = Path(script.__file__ or "").stem
    chosen = parse_options(script.__doc__, output=RESULTS / f"{name}.json", **options)
    if device is None:
        from glassformer import pick_device  # only here: a script may import the package from elsewhere

        device = pick_device()
    measured, settings = measure(chosen, device)
    stored = {key: value for key, value in vars(chosen).items() if not isinstance(value, Path)}
    write_result(chosen.output, device=device, settings=stored | settings, measured=measured)


def parse_options(description: str | None, *, threads: int = 1, **options: Any) -> argparse.Namespace:
    """Parse the command line and set the number of threads.

    Args:
        description: docstring of the script, for ``--help``.
        threads: default number of PyTorch's threads.
        options: default of each option, or its `argparse` arguments as a dict. A list takes several values.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, given in (options | {"threads": threads}).items():
        spec = given if isinstance(given, dict) else {"default": given, "help": f"default: {given}"}
        default = spec.get("default")
        if isinstance(default, list):
            spec = {"nargs": "+", "type": type(default[0]), **spec}
        elif default is not None:
            spec = {"type": type(default), **spec}
        parser.add_argument(f"--{name.replace('_', '-')}", **spec)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    return chosen


def write_result(path: Path, *, device: torch.device, settings: dict[str, Any], measured: Any) -> None:
    """Write a result: the command, the date, the machine, the versions, the settings and the numbers."""
    result = {
        "command": shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "measured_on": datetime.date.today().isoformat(),
        "machine": machine(device),
        "settings": settings,
        "measured": measured,
    }
    _write(path, json.dumps(result, indent=1) + "\n")
    print(path)


def load_or_make(path: Path, make: Callable[[], Any]) -> Any:
    """Load what an earlier run stored, or make and store it, so that a benchmark can be interrupted."""
    if not path.exists():
        _write(path, json.dumps(make()))
    return json.loads(path.read_text(encoding="utf-8"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def machine(device: torch.device) -> dict[str, Any]:
    """Describe the machine: device, processor, threads, and the versions that matter."""
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
    }


def fingerprint(model: nn.Module) -> str:
    """Hash a model's parameters, so that a stored result can be matched to them."""
    digest = hashlib.sha256()
    for weights in model.state_dict().values():
        digest.update(weights.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """Return the processor's name; on Linux, `platform` does not know it."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

"""Store what a benchmark measured, together with what is needed to judge and to repeat it."""

import datetime
import json
import os
import platform
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

RESULTS = Path(__file__).parent / "results"


def write_result(name: str, *, device: torch.device, settings: dict[str, Any], measured: Any) -> Path:
    """Write ``results/<name>.json``: the command, the machine, the versions, the settings, the numbers."""
    result = {
        "command": shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "measured_on": datetime.date.today().isoformat(),
        "machine": machine(device),
        "settings": settings,
        "measured": measured,
    }
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return path


def machine(device: torch.device) -> dict[str, Any]:
    """Say on what it was measured: device, processor, threads, and the versions that matter."""
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


def _processor() -> str:
    """Name of the processor; Linux keeps it where `platform` does not look."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

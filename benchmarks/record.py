"""Store what a benchmark measured, together with what is needed to judge and to repeat it."""

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


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """Give what was made before and stored at a path, or make it and store it: what is done stays done."""
    if not path.exists():
        made = json.dumps(make())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made, encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


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


def fingerprint(model: nn.Module) -> str:
    """Name a model's weights, so that a stored result can be told from that of other weights."""
    digest = hashlib.sha256()
    for weights in model.state_dict().values():
        digest.update(weights.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """Name of the processor; Linux keeps it where `platform` does not look."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

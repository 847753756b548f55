"""Where the code runs and where its randomness starts."""

import os
import random

import numpy as np
import torch

_DEVICE_TYPES = ("cuda", "mps", "cpu")


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and PyTorch, once, at the top of a notebook or a program.

    Library code never calls this: it takes a ``rng`` or a ``generator``.
    """
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (the global state is what is being seeded)
    torch.manual_seed(seed)


def pick_device(name: str | None = None) -> torch.device:
    """Return the device to run on: the named one, or the fastest there is.

    Args:
        name: "cuda", "cuda:1", "mps" or "cpu". Without it, the environment variable
            GLASSFORMER_DEVICE decides; without that, the first of cuda, mps and cpu that is there.

    Raises:
        ValueError: the device has no such name, or this machine does not have it.
    """
    wanted = name or os.environ.get("GLASSFORMER_DEVICE")
    if not wanted:
        return torch.device(next(kind for kind in _DEVICE_TYPES if _count(kind)))
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise ValueError(f"device must be one of {', '.join(_DEVICE_TYPES)}, got {wanted!r}") from None
    if device.type not in _DEVICE_TYPES:
        raise ValueError(f"device must be one of {', '.join(_DEVICE_TYPES)}, got {wanted!r}")
    if not 0 <= (device.index or 0) < _count(device.type):
        there = [f"{kind} ({_count(kind)})" for kind in _DEVICE_TYPES if _count(kind)]
        raise ValueError(f"device {wanted!r} is not on this machine, which has {', '.join(there)}")
    return device


def _count(device_type: str) -> int:
    """Count this machine's devices of a type."""
    match device_type:
        case "cuda":
            return torch.cuda.device_count()
        case "mps":
            return int(torch.backends.mps.is_available())
        case _:
            return 1

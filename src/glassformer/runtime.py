"""Devices and random seeds."""

import os
import random
from typing import Any

import numpy as np
import torch

_DEVICE_TYPES = ("cuda", "mps", "cpu")


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and PyTorch, once, at the top of a notebook or program.

    Library code never calls this: it takes an ``rng`` or a ``generator``.
    """
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (the global state is what is being seeded)
    torch.manual_seed(seed)


def mix_seed(*numbers: int) -> int:
    """Mix numbers into one seed, so that neighbouring numbers give unrelated random streams."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def pick_device(name: str | None = None) -> torch.device:
    """Return the named device or, without a name, the fastest of cuda, mps and cpu on this machine.

    Args:
        name: "cpu", "mps", "cuda", "cuda:1" or any other device that PyTorch has here, such as "xpu".
            Default: the environment variable GLASSFORMER_DEVICE, if set.

    Raises:
        ValueError: PyTorch knows no such device, or this machine does not have it.
    """
    wanted = name or os.environ.get("GLASSFORMER_DEVICE")
    if not wanted:
        return torch.device(next(kind for kind in _DEVICE_TYPES if _count(kind)))
    try:
        device = torch.device(wanted)
    except RuntimeError:
        usual = ", ".join(_DEVICE_TYPES)
        raise ValueError(f"device must be {usual} or another that PyTorch knows, got {wanted!r}") from None
    if not 0 <= (device.index or 0) < _count(device.type):
        there = [f"{kind} ({_count(kind)})" for kind in _DEVICE_TYPES if _count(kind)]
        raise ValueError(f"device {wanted!r} is not available on this machine, which has {', '.join(there)}")
    return device


def _count(device_type: str) -> int:
    """Count the devices of a type on this machine."""
    if device_type == "cpu":
        return 1
    if device_type == "mps":
        return int(torch.backends.mps.is_available())
    module: Any = getattr(torch, device_type, None)  # torch.cuda, torch.xpu or what an extension registered
    return int(module.device_count()) if hasattr(module, "device_count") else 0

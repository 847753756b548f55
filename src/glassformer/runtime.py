"""Where the code runs, how fast it may, and where its randomness starts."""

import ctypes
import os
import random
import sys

import numpy as np
import torch

_DEVICE_TYPES = ("cuda", "mps", "cpu")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # as in glibc's malloc.h


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and PyTorch, once, at the top of a notebook or a program.

    Library code never calls this: it takes a ``rng`` or a ``generator``.
    """
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (the global state is what is being seeded)
    torch.manual_seed(seed)


def mix_seed(*numbers: int) -> int:
    """Mix numbers into one seed, so that neighbours draw nothing alike."""
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
        raise ValueError(f"device {wanted!r} is not on this machine, which has {', '.join(there)}")
    return device


def speed_up_cpu() -> tuple[str, ...]:
    """Turn on, for the whole process, what makes PyTorch faster on a CPU and leaves its results as they are.

    - "malloc": glibc keeps large blocks of memory that were given back to it, where otherwise the kernel has
      to clear them anew each time. The process holds a little more memory for it.
    - "oneDNN": float32 matrices are multiplied by oneDNN, where otherwise MKL does it, which is slow on AMD
      processors. Only the order of a sum's terms changes. Processors on which oneDNN would round the
      matrices to bfloat16 are found out by trying, and stay with MKL.

    Training steps gain by it; writing with a small model becomes slower. See ``benchmarks/README.md``.

    Returns:
        The names of what is on now; what this machine does not have is left out.
    """
    switches = {"malloc": _keep_freed_memory, "oneDNN": _multiply_by_onednn}
    return tuple(name for name, turn_on in switches.items() if turn_on())


def _keep_freed_memory() -> bool:
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries than glibc have none
    return mallopt is not None and all(
        mallopt(option, size) for option, size in ((_M_MMAP_THRESHOLD, 2**30), (_M_TRIM_THRESHOLD, 2**31 - 1))
    )


def _multiply_by_onednn() -> bool:
    matmul = getattr(torch.backends.mkldnn, "matmul", None)  # older versions of torch have none
    if matmul is None or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    before = matmul.fp32_precision
    matmul.fp32_precision = "bf16"  # the one setting that hands float32 products to oneDNN
    finer_than_bfloat16 = torch.full((256, 256), 1 + 2**-12)
    if torch.equal(finer_than_bfloat16 @ torch.eye(256), finer_than_bfloat16):
        return True
    matmul.fp32_precision = before
    return False


def _count(device_type: str) -> int:
    """Count this machine's devices of a type."""
    if device_type == "cpu":
        return 1
    if device_type == "mps":
        return int(torch.backends.mps.is_available())
    module = getattr(torch, device_type, None)  # torch.cuda, torch.xpu or what an extension registered
    return int(module.device_count()) if hasattr(module, "device_count") else 0

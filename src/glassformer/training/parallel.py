"""Data-parallel training: several processes train one model, each on its share of every batch."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class Workers:
    """The processes of a run, as seen from one of them.

    Attributes:
        rank: index of this process, from 0.
        size: number of processes.
    """

    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """True for the process that writes files."""
        return self.rank == 0

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """Sum a tensor over all processes, in place, and return it."""
        if self.size > 1:
            dist.all_reduce(tensor)
        return tensor

    def all_reduce_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Sum the gradients over all processes with one all-reduce; a missing gradient counts as zero."""
        if self.size == 1:
            return
        held = list(parameters)
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in held]
        message = self.all_reduce(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = torch.split(message, [gradient.numel() for gradient in gradients])
        for parameter, part in zip(held, parts, strict=True):
            parameter.grad = part.view_as(parameter)

    def barrier(self) -> None:
        """Wait until every process has reached this point."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def join_workers(device: torch.device) -> Iterator[tuple[Workers, torch.device]]:
    """Join the processes that torchrun started, if any, and yield the workers and this process's device.

    Args:
        device: device to run on. If torchrun started several processes, any CUDA device is replaced by the
            GPU of this process.

    Raises:
        RuntimeError: torchrun would restart workers in a way that prevents them from connecting.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Workers(), device
        return
    _require_fresh_addresses()
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Workers(dist.get_rank(), dist.get_world_size()), device
    finally:
        dist.destroy_process_group()


def _require_fresh_addresses() -> None:
    """Require that torchrun does not reuse the addresses of dead workers, as it does by default."""
    restarts = os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0") != "0"
    if restarts and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        raise RuntimeError(
            "torchrun would restart killed workers (--max-restarts), but restarted workers would look for "
            "each other at the addresses of dead ones: set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in the "
            "environment of torchrun on every machine"
        )

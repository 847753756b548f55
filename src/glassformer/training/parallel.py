"""Several processes, on one machine or many, that train one model: each reads its share of every batch."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class Workers:
    """All processes of a run, seen from one of them.

    Attributes:
        rank: which one this is, counted from 0.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this one writes the files."""
        return self.rank == 0

    def sum(self, number: Tensor) -> Tensor:
        """Add up what all of them hold."""
        if self.size > 1:
            dist.all_reduce(number)
        return number

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Add up the gradients of all of them, in one message."""
        if self.size == 1:
            return
        held = list(parameters)
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in held]
        message = self.sum(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = torch.split(message, [gradient.numel() for gradient in gradients])
        for parameter, part in zip(held, parts, strict=True):
            parameter.grad = part.view_as(parameter)

    def wait(self) -> None:
        """Go on only when all have come this far."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def join_workers(device: torch.device) -> Iterator[tuple[Workers, torch.device]]:
    """Meet the other processes that torchrun started, if any; give who we are, and our own device.

    Args:
        device: what to run on; "cuda" without a number becomes the one of this process.

    Raises:
        RuntimeError: torchrun would start workers again, but in a way in which they cannot meet.
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
    """Torchrun keeps the addresses that workers leave for each other, those of dead ones too, unless told."""
    restarts = os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0") != "0"
    if restarts and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        raise RuntimeError(
            "torchrun was asked to start killed workers again (--max-restarts), but those would look for "
            "each other at the addresses of the dead: set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in the "
            "environment of torchrun, on every machine"
        )

"""Where a run stands, on disk: it can be killed at any moment and goes on from the last checkpoint.

A checkpoint is a folder ``step_00000500`` that holds the weights and the optimizer's memory (safetensors)
and how far the run has come (JSON). It is written atomically, so there is never half a checkpoint.
"""

import dataclasses
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor, nn

from glassformer.files import atomic_write

_WEIGHTS, _OPTIMIZER, _PROGRESS = "model.safetensors", "optimizer.safetensors", "progress.json"


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Attributes:
        step: how often the weights were corrected.
        epoch: how often all sentences were seen.
        batch: how many batches of this epoch were seen.
        tokens: how many target tokens were asked for in all.
        seconds: how long it trained, by the clock on the wall, interruptions not counted.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    tokens: int = 0
    seconds: float = 0.0


def save_checkpoint(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress, *, keep: int
) -> Path:
    """Write a checkpoint whole or not at all, then drop the oldest beyond ``keep``.

    Raises:
        OSError: the disk is full or may not be written; the checkpoints before are untouched.
    """
    place = folder / f"step_{progress.step:08d}"
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(place) as part:
        part.mkdir()
        safetensors.torch.save_model(model, str(part / _WEIGHTS))
        safetensors.torch.save_file(_memory(optimizer), part / _OPTIMIZER)
        (part / _PROGRESS).write_text(json.dumps(dataclasses.asdict(progress)) + "\n", encoding="utf-8")
    abandoned = folder.glob(".part-*")  # by a process that was killed while it wrote
    for old in (*list_checkpoints(folder)[:-keep], *abandoned):
        shutil.rmtree(old)
    return place


def load_checkpoint(place: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Put a model and its optimizer back to where they were.

    Raises:
        ValueError: the checkpoint is of another model, or damaged.
    """
    try:
        safetensors.torch.load_model(model, str(place / _WEIGHTS))
        memory = safetensors.torch.load_file(place / _OPTIMIZER)
        progress = Progress(**json.loads((place / _PROGRESS).read_text(encoding="utf-8")))
    except (RuntimeError, safetensors.SafetensorError, json.JSONDecodeError, OSError) as error:
        raise ValueError(
            f"checkpoint {place} does not fit this model, or is damaged: {error}. "
            f"Delete this folder to go on from the checkpoint before it."
        ) from error
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in memory.items():
        parameter, kind = name.split(".")
        state.setdefault(int(parameter), {})[kind] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return progress


def list_checkpoints(folder: Path) -> list[Path]:
    """List the whole checkpoints of a run, the oldest first."""
    return sorted(folder.glob("step_" + "[0-9]" * 8))


def average_weights(checkpoints: Sequence[Path]) -> dict[str, Tensor]:
    """Give the mean of the weights of some checkpoints (section 6.1).

    Raises:
        ValueError: there is no checkpoint, or they hold weights of different models.
    """
    if not checkpoints:
        raise ValueError("checkpoints must hold at least 1 checkpoint, got none")
    total: dict[str, Tensor] = {}
    for place in checkpoints:
        weights = safetensors.torch.load_file(place / _WEIGHTS)
        if total and {n: w.shape for n, w in weights.items()} != {n: w.shape for n, w in total.items()}:
            raise ValueError(f"{place} holds the weights of another model than {checkpoints[0]}")
        for name, weight in weights.items():
            # Sums of many float32 numbers are taken in float64, so that their order does not matter.
            total[name] = total.get(name, torch.zeros((), dtype=torch.float64)) + weight.double()
    return {name: (weight / len(checkpoints)).float() for name, weight in total.items()}


def _memory(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What the optimizer remembers of each parameter, under flat names."""
    state = optimizer.state_dict()["state"]
    return {f"{index}.{kind}": value for index, kinds in state.items() for kind, value in kinds.items()}

"""Save, load and average checkpoints, so that a run can be killed at any moment and resumed.

A checkpoint is a folder ``step_00000500`` that holds the weights and the optimizer state (safetensors) and
the progress of the run (JSON). It is written atomically, so a checkpoint is never incomplete.
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
from glassformer.validation import require_positive_int

CHECKPOINTS_FOLDER = "checkpoints"
_WEIGHTS, _OPTIMIZER, _PROGRESS = "model.safetensors", "optimizer.safetensors", "progress.json"


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes:
        step: number of optimizer updates.
        epoch: index of the current epoch, from 0.
        batch: index, within the epoch, of the next step's first batch; at the end of the epoch, its number of
            batches or more.
        tokens: number of target tokens used in training, without padding and start tokens.
        seconds: training time in seconds, including validation and checkpointing after earlier steps,
            excluding interruptions.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    tokens: int = 0
    seconds: float = 0.0


def save_checkpoint(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress, *, keep: int
) -> Path:
    """Write a checkpoint atomically, delete old checkpoints, and return the folder of the new one.

    Args:
        folder: folder for all checkpoints of the run, created if missing.
        model: model to save.
        optimizer: optimizer of the model.
        progress: progress of the run.
        keep: number of most recent checkpoints to keep, including the new one.

    Raises:
        OSError: the checkpoint cannot be written; earlier checkpoints are untouched.
        ValueError: ``keep`` is not a positive integer.
    """
    require_positive_int(keep=keep)
    checkpoint = folder / f"step_{progress.step:08d}"
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(checkpoint) as part:
        part.mkdir()
        safetensors.torch.save_model(model, str(part / _WEIGHTS))
        safetensors.torch.save_file(_flat_state(optimizer), part / _OPTIMIZER)
        (part / _PROGRESS).write_text(json.dumps(dataclasses.asdict(progress)) + "\n", encoding="utf-8")
    abandoned = folder.glob(".part-*")  # left by a process that was killed while writing
    for old in (*list_checkpoints(folder)[:-keep], *abandoned):
        shutil.rmtree(old)
    return checkpoint


def load_checkpoint(checkpoint: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Load a checkpoint into a model and its optimizer, and return the progress of the run.

    Args:
        checkpoint: folder that `save_checkpoint` returned.
        model: model to load the weights into.
        optimizer: optimizer of the model, with the same parameter groups as when the checkpoint was written.

    Raises:
        ValueError: the checkpoint is damaged or belongs to a different model.
    """
    try:
        safetensors.torch.load_model(model, str(checkpoint / _WEIGHTS))
        flat = safetensors.torch.load_file(checkpoint / _OPTIMIZER)
        progress = Progress(**json.loads((checkpoint / _PROGRESS).read_text(encoding="utf-8")))
    except (RuntimeError, TypeError, safetensors.SafetensorError, json.JSONDecodeError, OSError) as error:
        raise ValueError(
            f"checkpoint {checkpoint} does not fit this model or is damaged: {error}. "
            f"Delete this folder to resume from the previous checkpoint."
        ) from error
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in flat.items():
        parameter, kind = name.split(".")
        state.setdefault(int(parameter), {})[kind] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return progress


def list_checkpoints(folder: Path) -> list[Path]:
    """List the checkpoints in a folder, oldest first; none if the folder does not exist."""
    return sorted(path for path in folder.glob("step_*") if path.suffix != ".part")


def average_weights(checkpoints: Sequence[Path]) -> dict[str, Tensor]:
    """Average the weights of several checkpoints (Vaswani et al., 2017, section 6.1).

    Args:
        checkpoints: folders of the checkpoints.

    Returns:
        The mean of each weight by name, in float32.

    Raises:
        ValueError: there is no checkpoint, one is damaged, or they belong to different models.
    """
    if not checkpoints:
        raise ValueError("checkpoints must hold at least 1 checkpoint, got none")
    total: dict[str, Tensor] = {}
    for checkpoint in checkpoints:
        try:
            weights = safetensors.torch.load_file(checkpoint / _WEIGHTS)
        except (safetensors.SafetensorError, OSError) as error:
            raise ValueError(f"checkpoint {checkpoint} is damaged: {error}") from error
        if total and {n: w.shape for n, w in weights.items()} != {n: w.shape for n, w in total.items()}:
            raise ValueError(f"{checkpoint} and {checkpoints[0]} must hold weights of one model")
        for name, weight in weights.items():
            # float64, so that the order of summation does not matter
            total[name] = total.get(name, torch.zeros((), dtype=torch.float64)) + weight.double()
    return {name: (weight / len(checkpoints)).float() for name, weight in total.items()}


def load_average(model: nn.Module, checkpoints: Sequence[Path]) -> None:
    """Load the mean of the weights of several checkpoints into a model.

    Raises:
        ValueError: there is no checkpoint, or one is damaged or belongs to a different model.
    """
    weights = average_weights(checkpoints)
    try:
        _, unknown = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise ValueError(f"checkpoint {checkpoints[0]} does not fit this model: {error}") from error
    state = model.state_dict()
    loaded = {
        state[name].data_ptr() for name in weights.keys() & state.keys()
    }  # tied weights are stored once
    missing = [name for name, weight in state.items() if weight.data_ptr() not in loaded]
    if missing or unknown:
        raise ValueError(
            f"checkpoint {checkpoints[0]} does not fit this model: missing weights {missing[:5]}, "
            f"unknown weights {unknown[:5]}"
        )


def _flat_state(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer state of each parameter, under flat names."""
    state = optimizer.state_dict()["state"]
    return {f"{index}.{kind}": value for index, kinds in state.items() for kind, value in kinds.items()}

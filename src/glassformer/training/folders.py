"""What can be had from the folder of a run, or of a translator."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from torch import Tensor, nn

from glassformer.data.tokenizer import Tokenizer
from glassformer.modules.storage import MODEL_FILE
from glassformer.training.checkpoints import average_weights, list_checkpoints
from glassformer.training.run import (
    CHECKPOINTS_FOLDER,
    RECIPE_FILE,
    TRANSLATOR_FOLDER,
    describe_origin,
    read_recipe,
)
from glassformer.translator import TOKENIZER_FILE, Translator, locate_translator
from glassformer.validation import require_whole

_NO_NOTES = ("architecture", "kind", "config", "folder", "dtype")


def find_translator(folder: Path | str) -> Path:
    """Return the folder of a translator, given that folder, the folder of its run, or a pretrained name.

    Raises:
        FileNotFoundError: there is none, or the run has not come to its end.
    """
    run = Path(folder)
    if not (run / RECIPE_FILE).is_file():
        return locate_translator(folder)
    if not (run / TRANSLATOR_FOLDER / MODEL_FILE).is_file():
        raise FileNotFoundError(
            f"the run in {run} has not come to its end. Go on with it by `glassformer train`, or make a "
            f"translator of what it has learned so far: glassformer average {run} --output FOLDER"
        )
    return run / TRANSLATOR_FOLDER


def read_notes(folder: Path) -> dict[str, Any]:
    """Read the notes in the description of a translator, such as the corpus it was trained on.

    Args:
        folder: one that `Translator.save` wrote.

    Raises:
        OSError: there is no description.
    """
    description = json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))
    return {name: value for name, value in description.items() if name not in _NO_NOTES}


def average_checkpoints(
    folder: Path, *, last: int | None = None, steps: Sequence[int] = ()
) -> tuple[Translator, dict[str, Any]]:
    """Make a translator whose weights are the mean of some checkpoints of a run (section 6.1).

    Args:
        folder: the run's.
        last: how many of the last checkpoints; without it and ``steps``, all that are kept.
        steps: at which steps the checkpoints were written.

    Returns:
        The translator, and the notes to save with it.

    Raises:
        FileNotFoundError: the folder is not a run's.
        ValueError: it has no such checkpoints, or they are damaged.
    """
    recipe = read_recipe(folder)
    tokenizer = Tokenizer.load(folder / TOKENIZER_FILE)
    kept = {
        int(place.name.removeprefix("step_")): place
        for place in list_checkpoints(folder / CHECKPOINTS_FOLDER)
    }
    there = f"{folder} has checkpoints of the steps {', '.join(map(str, kept)) or '(none yet)'}"
    if absent := [step for step in steps if step not in kept]:
        raise ValueError(f"{there}, got {', '.join(map(str, absent))}")
    chosen = sorted(set(steps)) or list(kept)
    if last is not None:
        require_whole(last=last)
        if last > len(chosen):
            raise ValueError(f"{there}: last must be at most {len(chosen)}, got {last}")
        chosen = chosen[-last:]
    if not chosen:
        raise ValueError(f"{there}: there is nothing to average")
    model = recipe.make_model(tokenizer)
    try:
        _fill(model, average_weights([kept[step] for step in chosen]))
    except (SafetensorError, RuntimeError, OSError) as error:
        raise ValueError(
            f"a checkpoint of {folder} does not fit its recipe, or is damaged: {error}"
        ) from error
    return Translator(model, tokenizer), describe_origin(recipe) | {"averaged_steps": chosen}


def _fill(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Load weights in which tied ones stand once."""
    model.load_state_dict(weights, strict=False)
    places = model.state_dict()
    filled = {places[name].data_ptr() for name in weights.keys() & places.keys()}
    if empty := sorted(name for name, place in places.items() if place.data_ptr() not in filled):
        raise ValueError(f"weights are missing: {', '.join(empty[:5])}")

"""Find the translators of runs, and make new ones by averaging checkpoints."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glassformer.data.tokenizer import Tokenizer
from glassformer.modules.storage import MODEL_FILE
from glassformer.training.checkpoints import CHECKPOINTS_FOLDER, list_checkpoints, load_average
from glassformer.training.run import RECIPE_FILE, TRANSLATOR_FOLDER, describe_origin, read_recipe
from glassformer.translator import TOKENIZER_FILE, Translator, locate_translator
from glassformer.validation import require_positive_int

_NOT_METADATA = ("architecture", "kind", "config", "folder", "dtype")


def find_translator(folder: Path | str) -> Path:
    """Return the folder of a translator, given that folder, the folder of its run, or its name.

    Args:
        folder: folder of a translator or of a run, or the name of a pretrained translator.

    Raises:
        FileNotFoundError: there is no such translator, or the run is not finished.
    """
    run = Path(folder)
    if not (run / RECIPE_FILE).is_file():
        return locate_translator(folder)
    if not (run / TRANSLATOR_FOLDER / MODEL_FILE).is_file():
        raise FileNotFoundError(
            f"the run in {run} is not finished. Resume it with `glassformer train`, or average its "
            f"checkpoints so far: glassformer average {run} --output FOLDER"
        )
    return run / TRANSLATOR_FOLDER


def read_metadata(folder: Path) -> dict[str, Any]:
    """Read a translator's metadata, such as its corpus: its description without the model's configuration.

    Args:
        folder: folder that `Translator.save` wrote.

    Raises:
        OSError: there is no description.
        ValueError: the description is not JSON.
    """
    description = json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))
    return {name: value for name, value in description.items() if name not in _NOT_METADATA}


def average_checkpoints(
    folder: Path, *, last: int | None = None, steps: Sequence[int] = ()
) -> tuple[Translator, dict[str, Any]]:
    """Average the weights of several checkpoints of a run (Vaswani et al., 2017, section 6.1).

    Args:
        folder: folder of the run.
        last: number of most recent checkpoints to average; by default all.
        steps: steps of the checkpoints to average; by default all. With ``last`` as well, only the most
            recent of these are averaged.

    Returns:
        The averaged translator, and the metadata to save with it.

    Raises:
        FileNotFoundError: the folder does not belong to a run.
        ValueError: a checkpoint does not exist, is damaged or does not match the recipe, or ``last`` is
            invalid.
    """
    recipe = read_recipe(folder)
    tokenizer = Tokenizer.load(folder / TOKENIZER_FILE)
    saved = {
        int(path.name.removeprefix("step_")): path for path in list_checkpoints(folder / CHECKPOINTS_FOLDER)
    }
    available = f"{folder} has checkpoints of steps {', '.join(map(str, saved)) or '(none yet)'}"
    if absent := [step for step in steps if step not in saved]:
        raise ValueError(f"{available}, got {', '.join(map(str, absent))}")
    averaged = sorted(set(steps)) or list(saved)
    if last is not None:
        require_positive_int(last=last)
        if last > len(averaged):
            raise ValueError(f"{available}: last must be at most {len(averaged)}, got {last}")
        averaged = averaged[-last:]
    if not averaged:
        raise ValueError(f"{available}: there is nothing to average")
    model = recipe.make_model(tokenizer)
    load_average(model, [saved[step] for step in averaged])
    return Translator(model, tokenizer), describe_origin(recipe) | {"averaged_steps": averaged}

"""Train a translator on a corpus, or resume an interrupted run."""

import argparse
import inspect
from pathlib import Path
from typing import Any

from glassformer.cli.options import (
    add_data_option,
    add_machine_options,
    add_options_of,
    read_descriptions,
    to_flag,
    use_machine,
)
from glassformer.data.sources import SOURCES
from glassformer.modules.storage import ARCHITECTURES
from glassformer.training.checkpoints import CHECKPOINTS_FOLDER, list_checkpoints
from glassformer.training.run import Recipe, run_recipe, small_config
from glassformer.training.settings import TrainingSettings

USAGE = "--folder FOLDER"
EPILOG = """\
examples:
  glassformer train --folder runs/first --steps 2000                       a small model, English to French
  glassformer train --folder runs/lstm --architecture additive_attention   an LSTM, for comparison
  glassformer train --folder runs/gpu --precision bfloat16 --compile --max-tokens 16384
  glassformer train --folder runs/de --corpus multi30k-en-de --data ~/data --seed 1
  torchrun --nproc-per-node 2 -m glassformer train --folder runs/two       two processes, one model

The folder will hold recipe.json, tokenizer.json, log.jsonl and checkpoints/, and at the end translator/ and
results.json, with its translations of the test sets and their scores. A run can be killed at any moment: the
same command resumes it from its most recent checkpoint.
"""

_SETTINGS = tuple(inspect.signature(TrainingSettings).parameters)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``glassformer train``."""
    run = parser.add_argument_group("run")
    run.add_argument(
        "--folder", type=Path, required=True, metavar="FOLDER", help="folder of the run (required)"
    )
    run.add_argument(
        "--corpus",
        choices=tuple(SOURCES),
        default="tatoeba-en-fr",
        help="training corpus (default: %(default)s)",
    )
    add_data_option(run)
    add_machine_options(parser)
    _add_model_options(parser)
    add_options_of(parser.add_argument_group("training"), TrainingSettings, _SETTINGS)


def run(args: argparse.Namespace) -> None:
    """Train a translator as the options specify, or resume its run."""
    given = vars(args)
    own, owners = small_config(args.architecture), _owners()
    if foreign := [to_flag(name) for name in owners if name in given and name not in own]:
        args.parser.error(
            f"{', '.join(foreign)}: not an option of --architecture {args.architecture}, "
            f"which has {', '.join(map(to_flag, own))}"
        )
    recipe = Recipe(
        corpus=args.corpus,
        architecture=args.architecture,
        vocabulary_size=given.get("vocabulary_size", Recipe.vocabulary_size),
        model={name: given[name] for name in own if name in given},
        settings=TrainingSettings(**{name: given[name] for name in _SETTINGS if name in given}),
    )
    try:
        run_recipe(
            recipe,
            args.folder,
            device=use_machine(args),
            data_folder=args.data,
            command=args.command_line,
            report=lambda line: print(line, flush=True),
        )
    except KeyboardInterrupt:
        saved = list_checkpoints(args.folder / CHECKPOINTS_FOLDER)
        start = f"resumes from {saved[-1].name}" if saved else "starts again: there is no checkpoint yet"
        raise KeyboardInterrupt(f"The same command {start}") from None


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    model = parser.add_argument_group("model")
    model.add_argument(
        "--architecture",
        choices=tuple(ARCHITECTURES),
        default=Recipe.architecture,
        help=read_descriptions(Recipe)["architecture"].rstrip(".") + " (default: %(default)s)",
    )
    add_options_of(model, Recipe, ["vocabulary_size"])
    owners = _owners()
    for architectures in dict.fromkeys(owners.values()):
        shared = len(architectures) == len(ARCHITECTURES)
        group = model if shared else parser.add_argument_group(f"model: {' or '.join(architectures)} only")
        for name in owners:
            if owners[name] == architectures:
                _add_model_option(group, name, architectures)


def _add_model_option(group: Any, name: str, architectures: tuple[str, ...]) -> None:
    """Add an option for a model setting, described for each architecture if the descriptions differ."""
    users: dict[str, list[str]] = {}
    for architecture in architectures:
        description = read_descriptions(ARCHITECTURES[architecture].config)[name].rstrip(".")
        users.setdefault(description, []).append(architecture)
    if len(users) > 1:
        description = "; ".join(f"{', '.join(names)}: {text}" for text, names in users.items())
    config, defaults = ARCHITECTURES[architectures[0]].config, small_config(architectures[0])
    add_options_of(group, config, [name], descriptions={name: description}, defaults=defaults)


def _owners() -> dict[str, tuple[str, ...]]:
    """Map each model setting to the architectures that have it."""
    owners: dict[str, tuple[str, ...]] = {}
    for architecture in ARCHITECTURES:
        for name in small_config(architecture):
            owners[name] = (*owners.get(name, ()), architecture)
    return owners

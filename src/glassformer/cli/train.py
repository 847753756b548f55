"""Train a translator on a corpus, or go on with a training that was interrupted."""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from glassformer.cli.options import (
    add_data_option,
    add_machine_options,
    add_option,
    read_meanings,
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
  glassformer train --folder runs/first --steps 2000                     a small model, English to French
  glassformer train --folder runs/lstm --architecture additive_attention   an LSTM, for comparison
  glassformer train --folder runs/gpu --precision bfloat16 --compile --max-tokens 16384
  glassformer train --folder runs/de --corpus multi30k-en-de --data ~/data --seed 1
  torchrun --nproc-per-node 2 -m glassformer.cli train --folder runs/two   two processes, one model

The folder then holds recipe.json, tokenizer.json, log.jsonl (a line for each thing that was measured),
checkpoints/, and in the end translator/ and results.json: its translations of the corpus' tests, scored.
A run may be killed at any moment: the same command goes on from its last checkpoint.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of a training."""
    meanings = read_meanings(Recipe)
    run = parser.add_argument_group("run")
    run.add_argument("--folder", type=Path, required=True, help="where the run is kept (required)")
    run.add_argument(
        "--corpus",
        choices=tuple(SOURCES),
        default="tatoeba-en-fr",
        help="what to learn from (default: %(default)s)",
    )
    add_data_option(run)
    add_machine_options(parser)
    _add_model_options(parser, meanings)
    settings = parser.add_argument_group("training")
    meanings = read_meanings(TrainingSettings)
    for field in dataclasses.fields(TrainingSettings):
        add_option(settings, field.name, field.type, default=field.default, meaning=meanings[field.name])


def run(chosen: argparse.Namespace) -> None:
    """Train what was asked for."""
    given = vars(chosen)
    own, all_names = _own_names(chosen.architecture), _model_names()
    if foreign := [to_flag(name) for name in all_names if name in given and name not in own]:
        chosen.refuse(
            f"{', '.join(foreign)}: a model of --architecture {chosen.architecture} has no such option; "
            f"it has {', '.join(map(to_flag, own))}"
        )
    settings = {field.name for field in dataclasses.fields(TrainingSettings)}
    recipe = Recipe(
        corpus=chosen.corpus,
        architecture=chosen.architecture,
        vocabulary_size=given.get("vocabulary_size", Recipe.vocabulary_size),
        model={name: given[name] for name in own if name in given},
        settings=TrainingSettings(**{name: given[name] for name in settings if name in given}),
    )
    try:
        run_recipe(
            recipe,
            chosen.folder,
            device=use_machine(chosen),
            data_folder=chosen.data,
            command=chosen.command_line,
            report=lambda line: print(line, flush=True),
        )
    except KeyboardInterrupt:
        there = list_checkpoints(chosen.folder / CHECKPOINTS_FOLDER)
        begin = f"from {there[-1].name}" if there else "from the beginning: there is no checkpoint yet"
        raise KeyboardInterrupt(f"The same command goes on {begin}") from None


def _add_model_options(parser: argparse.ArgumentParser, meanings: dict[str, str]) -> None:
    model = parser.add_argument_group("model", "which options there are depends on the architecture")
    model.add_argument(
        "--architecture",
        choices=tuple(ARCHITECTURES),
        default=Recipe.architecture,
        help=meanings["architecture"].rstrip("."),
    )
    add_option(
        model,
        "vocabulary_size",
        int,
        default=Recipe.vocabulary_size,
        meaning=meanings["vocabulary_size"],
    )
    names = _model_names()
    for owners in dict.fromkeys(names.values()):
        shared = len(owners) == len(ARCHITECTURES)
        group = model if shared else parser.add_argument_group(f"model: {' or '.join(owners)} only")
        for name in names:
            if names[name] == owners:
                _add_model_option(group, name, owners)


def _add_model_option(group: Any, name: str, architectures: tuple[str, ...]) -> None:
    """Add an option of the model, with what it means to each architecture where that differs."""
    meanings: dict[str, list[str]] = {}
    for architecture in architectures:
        meaning = read_meanings(ARCHITECTURES[architecture].config)[name].rstrip(".")
        meanings.setdefault(meaning, []).append(architecture)
    if len(meanings) == 1:
        (meaning,) = meanings
    else:
        meaning = "; ".join(f"{', '.join(those)}: {text}" for text, those in meanings.items())
    fields = dataclasses.fields(ARCHITECTURES[architectures[0]].config)
    field = next(field for field in fields if field.name == name)
    add_option(group, name, field.type, default=small_config(architectures[0])[name], meaning=meaning)


def _model_names() -> dict[str, tuple[str, ...]]:
    """Give for each option of a model the architectures that have it."""
    owners: dict[str, tuple[str, ...]] = {}
    for architecture in ARCHITECTURES:
        for name in _own_names(architecture):
            owners[name] = (*owners.get(name, ()), architecture)
    return owners


def _own_names(architecture: str) -> tuple[str, ...]:
    return tuple(small_config(architecture))

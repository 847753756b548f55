"""The options that say how a translation is searched for."""

import argparse
import inspect
from typing import Any

from glassformer.cli.options import add_option, read_meanings
from glassformer.translator import Translator

_SEARCH = ("beam_size", "length_penalty", "alpha", "max_length")
_SAMPLING = ("temperature", "top_k", "top_p")
DEFAULT_MODEL = "en-fr"


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what translates."""
    parser.add_argument(
        "--model",
        default=DEFAULT_MODEL,
        metavar="MODEL",
        help="the folder of a run or of a translator, or the name of a pretrained one (default: %(default)s)",
    )


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of beam search, of which a beam of 1 is the greedy one."""
    _add(parser.add_argument_group("search"), Translator.translate, _SEARCH)


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of drawing by chance."""
    group = parser.add_argument_group("chance, instead of search")
    group.add_argument("--sample", action="store_true", help="draw each token as often as it is likely")
    _add(group, Translator.sample, _SAMPLING)
    add_option(group, "seed", int, default=0, meaning="where chance starts, together with a line's number")


def given_search(chosen: argparse.Namespace) -> dict[str, Any]:
    """Give the options of search that were typed."""
    return {name: value for name, value in vars(chosen).items() if name in _SEARCH}


def given_sampling(chosen: argparse.Namespace) -> dict[str, Any]:
    """Give the options of sampling that were typed, but for the seed."""
    return {name: value for name, value in vars(chosen).items() if name in _SAMPLING}


def _add(group: Any, documented: Any, names: tuple[str, ...]) -> None:
    meanings, parameters = read_meanings(documented), inspect.signature(documented).parameters
    for name in names:
        parameter = parameters[name]
        add_option(group, name, parameter.annotation, default=parameter.default, meaning=meanings[name])

"""Command-line options for the model and for decoding with beam search or sampling."""

import argparse
import inspect
from typing import Any

from glassformer.cli.options import add_option, read_descriptions
from glassformer.translator import Translator

_BEAM_SEARCH = ("beam_size", "length_penalty", "alpha", "max_length")
_SAMPLING = ("temperature", "top_k", "top_p")
DEFAULT_MODEL = "en-fr"


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the translator."""
    parser.add_argument(
        "--model",
        default=DEFAULT_MODEL,
        metavar="MODEL",
        help="folder of a run or a translator, or name of a pretrained one (default: %(default)s)",
    )


def add_beam_search_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of beam search; a beam size of 1 is greedy decoding."""
    _add(parser.add_argument_group("beam search"), Translator.translate, _BEAM_SEARCH)


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of sampling."""
    group = parser.add_argument_group("sampling, instead of beam search")
    group.add_argument("--sample", action="store_true", help="sample tokens from the model's distribution")
    _add(group, Translator.sample, _SAMPLING)
    add_option(group, "seed", int, default=0, description="random seed, combined with the line number")


def beam_search_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the beam-search options given on the command line."""
    return {name: value for name, value in vars(args).items() if name in _BEAM_SEARCH}


def sampling_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the sampling options given on the command line, without the seed."""
    return {name: value for name, value in vars(args).items() if name in _SAMPLING}


def _add(group: Any, documented: Any, names: tuple[str, ...]) -> None:
    descriptions, parameters = read_descriptions(documented), inspect.signature(documented).parameters
    for name in names:
        parameter = parameters[name]
        add_option(
            group, name, parameter.annotation, default=parameter.default, description=descriptions[name]
        )

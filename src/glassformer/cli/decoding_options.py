"""Command-line options for the model and for decoding with beam search or sampling."""

import argparse
from collections.abc import Iterable
from typing import Any

from glassformer.cli.options import add_options_of, positive_int
from glassformer.translator import Translator

_BEAM_SEARCH = ("beam_size", "length_penalty", "alpha")
_SAMPLING = ("temperature", "top_k", "top_p")
_KINDS = dict.fromkeys(("beam_size", "max_length", "top_k"), positive_int)
# What the docstrings describe to Python users, as users of the command line need to know it.
_DESCRIPTIONS = {
    "length_penalty": "divisor of the log-probability of n tokens: gnmt is ((5 + n) / 6)^alpha, "
    "average is n^alpha, none is 1",
    "alpha": "exponent of the length penalty (default: 0.6 for gnmt, 1 for average)",
    "max_length": "maximum length of a translation in tokens, including the end token "
    "(default: twice the source length plus 10)",
    "temperature": "softmax temperature: below 1 sharpens the distribution, 0 is greedy decoding",
    "top_k": "sample from the N most probable tokens (default: all)",
    "top_p": "sample from the smallest set of tokens whose cumulative probability reaches X "
    "(nucleus sampling)",
}
DEFAULT_MODEL = "en-fr"


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the translator."""
    parser.add_argument(
        "--model",
        default=DEFAULT_MODEL,
        metavar="MODEL",
        help="folder of a run or a translator, or name of a pretrained one (default: %(default)s)",
    )


def add_beam_search_options(parser: argparse.ArgumentParser) -> Any:
    """Add the options of beam search and the maximum length, and return the group of beam search."""
    _add(parser.add_argument_group("output length"), Translator.translate, ("max_length",))
    group = parser.add_argument_group("beam search")
    _add(group, Translator.translate, _BEAM_SEARCH)
    return group


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of sampling."""
    group = parser.add_argument_group("sampling, instead of beam search")
    group.add_argument("--sample", action="store_true", help="sample tokens from the model's distribution")
    _add(group, Translator.sample, _SAMPLING)
    group.add_argument(
        "--seed",
        type=int,
        default=argparse.SUPPRESS,
        metavar="N",
        help="random seed, combined with the line number (default: 0)",
    )


def beam_search_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the beam-search options given on the command line, with the maximum length."""
    return _given(args, (*_BEAM_SEARCH, "max_length"))


def sampling_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the sampling options given on the command line, without the seed."""
    return _given(args, _SAMPLING)


def _add(group: Any, documented: Any, names: Iterable[str]) -> None:
    add_options_of(group, documented, names, descriptions=_DESCRIPTIONS, kinds=_KINDS)


def _given(args: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in vars(args).items() if name in names}

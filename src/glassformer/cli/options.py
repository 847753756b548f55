"""Build command-line options from dataclasses, functions and their docstrings."""

import argparse
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

import docstring_parser
import torch

from glassformer.runtime import pick_device
from glassformer.validation import require_positive_int

_NONE: Mapping[str, Any] = MappingProxyType({})


def read_descriptions(documented: Any) -> dict[str, str]:
    """Read the descriptions of attributes or arguments from the docstrings of a class or a function."""
    descriptions = {}
    for described in reversed(getattr(documented, "__mro__", (documented,))):
        parsed = docstring_parser.parse(described.__doc__ or "", style=docstring_parser.DocstringStyle.GOOGLE)
        for entry in parsed.params:
            descriptions[entry.arg_name] = " ".join((entry.description or "").split())
    return descriptions


def add_options_of(
    group: Any,
    documented: Callable[..., Any],
    names: Iterable[str],
    *,
    descriptions: Mapping[str, str] = _NONE,
    defaults: Mapping[str, Any] = _NONE,
    kinds: Mapping[str, Callable[[str], Any]] = _NONE,
) -> None:
    """Add an option for each of these parameters of a function or attributes of a dataclass.

    An option that is not given is absent from the parsed arguments, so that its owner's default applies.

    Args:
        group: parser or argument group.
        documented: function or dataclass, whose signature and docstring describe the options.
        names: names of the parameters.
        descriptions: descriptions that replace those of the docstring, by name.
        defaults: defaults that replace those of the signature in the help, by name.
        kinds: functions that parse the value instead of its type, by name.
    """
    described = {**read_descriptions(documented), **descriptions}
    for name in names:
        parameter = inspect.signature(documented).parameters[name]
        default = defaults.get(name, parameter.default)
        value = ("yes" if default else "no") if isinstance(default, bool) else default
        text = described[name].rstrip(".") + ("" if default is None else f" (default: {value})")
        options = _parsing_of(parameter.annotation) | ({"type": kinds[name]} if name in kinds else {})
        group.add_argument(
            to_flag(name), dest=name, default=argparse.SUPPRESS, help=text.replace("%", "%%"), **options
        )


def to_flag(name: str) -> str:
    """Return the option that corresponds to a name: --d-model for d_model."""
    return "--" + name.replace("_", "-")


def add_data_option(group: Any) -> None:
    """Add the option for a local folder that contains corpora."""
    group.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="local folder with the corpus, instead of a download (default: GLASSFORMER_DATA, if set)",
    )


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the device and the number of threads."""
    machine = parser.add_argument_group("machine")
    machine.add_argument(
        "--device",
        metavar="NAME",
        help="cuda, cuda:1, mps or cpu (default: GLASSFORMER_DEVICE if set, otherwise the fastest available)",
    )
    machine.add_argument(
        "--threads", type=positive_int, metavar="N", help="number of CPU threads (default: PyTorch's)"
    )


def use_machine(args: argparse.Namespace) -> torch.device:
    """Set the number of threads, and return the device.

    Raises:
        ValueError: there is no such device.
    """
    if args.threads is not None:
        torch.set_num_threads(args.threads)
    return pick_device(args.device)


def positive_int(text: str) -> int:
    """Parse a positive integer."""
    try:
        number = int(text)
        require_positive_int(number=number)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a positive integer, got {text or repr(text)}") from None
    return number


def _parsing_of(annotation: Any) -> dict[str, Any]:
    """Return the arguments of ``add_argument`` that make it parse a type."""
    if annotation is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(annotation) is Literal:
        return {"choices": get_args(annotation)}
    types = get_args(annotation) or (annotation,)
    if float in types:
        return {"type": float, "metavar": "X"}
    return {"type": int, "metavar": "N"} if int in types else {"metavar": "NAME"}

"""Build command-line options from dataclasses, functions and their docstrings."""

import argparse
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import docstring_parser
import torch

from glassformer.runtime import pick_device
from glassformer.validation import require_positive_int


def read_descriptions(documented: Any) -> dict[str, str]:
    """Read the descriptions of attributes or arguments from the docstrings of a class or a function."""
    descriptions = {}
    for described in reversed(getattr(documented, "__mro__", (documented,))):
        parsed = docstring_parser.parse(described.__doc__ or "", style=docstring_parser.DocstringStyle.GOOGLE)
        for entry in parsed.params:
            descriptions[entry.arg_name] = " ".join((entry.description or "").split())
    return descriptions


def add_option(
    group: Any,
    name: str,
    annotation: Any,
    *,
    default: Any,
    description: str,
    kind: Callable[[str], Any] | None = None,
) -> None:
    """Add an option for an attribute or an argument.

    An option that is not given is absent from the parsed arguments, so that its owner's default applies.

    Args:
        group: parser or argument group.
        name: name of the attribute or argument.
        annotation: type of the value.
        default: default value, shown in the help.
        description: description shown in the help.
        kind: function that parses the value; by default, the annotated type.
    """
    choices = get_args(annotation) if get_origin(annotation) is Literal else None
    value = ("yes" if default else "no") if isinstance(default, bool) else default
    shown = "" if default is None else f" (default: {value})"
    options: dict[str, Any] = (
        {"action": argparse.BooleanOptionalAction}
        if annotation is bool
        else {"choices": choices}
        if choices
        else _number_or_text(annotation)
    )
    text = (description.rstrip(".") + shown).replace("%", "%%")
    if kind is not None:
        options["type"] = kind
    group.add_argument(to_flag(name), dest=name, default=argparse.SUPPRESS, help=text, **options)


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


def _number_or_text(annotation: Any) -> dict[str, Any]:
    types = [kind for kind in get_args(annotation) or (annotation,) if kind is not NoneType]
    if float in types:
        return {"type": float, "metavar": "X"}
    if int in types:
        return {"type": int, "metavar": "N"}
    return {"metavar": "NAME"}

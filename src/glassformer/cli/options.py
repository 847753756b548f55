"""Options made of what code says of itself: each name, type, default and meaning stands in one place."""

import argparse
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import docstring_parser
import torch

from glassformer.runtime import pick_device
from glassformer.validation import require_whole


def read_meanings(documented: Any) -> dict[str, str]:
    """Read what a class and its bases say of their attributes, or a function of its arguments."""
    meanings = {}
    for described in reversed(getattr(documented, "__mro__", (documented,))):
        parsed = docstring_parser.parse(described.__doc__ or "", style=docstring_parser.DocstringStyle.GOOGLE)
        for entry in parsed.params:
            meanings[entry.arg_name] = " ".join((entry.description or "").split())
    return meanings


def add_option(group: Any, name: str, annotation: Any, *, default: Any, meaning: str) -> None:
    """Add the option that sets an attribute or an argument.

    What is not typed does not stand among what was parsed: its owner knows its default.

    Args:
        group: the parser, or a group of it.
        name: of the attribute or the argument.
        annotation: its type.
        default: shown in the help.
        meaning: shown in the help.
    """
    choices = get_args(annotation) if get_origin(annotation) is Literal else None
    said = {True: "yes", False: "no"}.get(default, default) if isinstance(default, bool) else default
    shown = "" if default is None else f" (default: {said})"
    how: dict[str, Any] = (
        {"action": argparse.BooleanOptionalAction}
        if annotation is bool
        else {"choices": choices}
        if choices
        else _number_or_text(annotation)
    )
    text = (meaning.rstrip(".") + shown).replace("%", "%%")
    group.add_argument(to_flag(name), dest=name, default=argparse.SUPPRESS, help=text, **how)


def to_flag(name: str) -> str:
    """Write a name as an option: d_model is --d-model."""
    return "--" + name.replace("_", "-")


def add_data_option(group: Any) -> None:
    """Add the option that says where a corpus lies."""
    group.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="what holds the corpus, so that nothing is downloaded (default: that of GLASSFORMER_DATA)",
    )


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what to run on."""
    machine = parser.add_argument_group("machine")
    machine.add_argument("--device", help="cuda, cuda:1, mps or cpu (default: the fastest there is)")
    machine.add_argument("--threads", type=whole, metavar="N", help="processor threads (default: torch's)")


def use_machine(chosen: argparse.Namespace) -> torch.device:
    """Set the threads that were asked for, and return the device.

    Raises:
        ValueError: there is no such device.
    """
    if chosen.threads is not None:
        torch.set_num_threads(chosen.threads)
    return pick_device(chosen.device)


def whole(text: str) -> int:
    """Read a whole number of at least 1."""
    try:
        number = int(text)
        require_whole(number=number)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}") from None
    return number


def _number_or_text(annotation: Any) -> dict[str, Any]:
    kinds = [kind for kind in get_args(annotation) or (annotation,) if kind is not NoneType]
    if float in kinds:
        return {"type": float, "metavar": "X"}
    if int in kinds:
        return {"type": int, "metavar": "N"}
    return {"metavar": "NAME"}

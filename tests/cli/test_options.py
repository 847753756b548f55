import argparse
from dataclasses import dataclass
from typing import Literal

import pytest
import torch

from glassformer.cli.options import add_option, positive_int, read_descriptions, to_flag, use_machine


@dataclass
class Base:
    """Attributes of all.

    Attributes:
        size: size,
            in metres.
        shape: outline.
    """


@dataclass
class Derived(Base):
    """Attributes of one.

    Attributes:
        shape: outline from above.

    Raises:
        ValueError: it is too large.
    """


def describe(size, *, shape):
    """Describe a thing.

    Args:
        size: size.
        shape: outline, see `Base`.

    Returns:
        A description.
    """


def test_descriptions_come_from_attributes_and_inherited_attributes():
    assert read_descriptions(Derived) == {"size": "size, in metres.", "shape": "outline from above."}


def test_descriptions_come_from_arguments():
    assert read_descriptions(describe) == {"size": "size.", "shape": "outline, see `Base`."}


@pytest.mark.parametrize(
    ("annotation", "typed", "read"),
    [
        (int, ["--own-size", "3"], 3),
        (int | None, ["--own-size", "3"], 3),
        (float, ["--own-size", "3e-2"], 0.03),
        (float | int | None, ["--own-size", "3"], 3.0),
        (bool, ["--own-size"], True),
        (bool, ["--no-own-size"], False),
        (str, ["--own-size", "large"], "large"),
        (Literal["large", "small"], ["--own-size", "small"], "small"),
    ],
)
def test_an_option_is_parsed_as_its_type(annotation, typed, read):
    parser = argparse.ArgumentParser()
    add_option(parser, "own_size", annotation, default=None, description="size.")
    got = vars(parser.parse_args(typed))
    assert got == {"own_size": read}
    assert type(got["own_size"]) is type(read)
    assert vars(parser.parse_args([])) == {}


def test_the_help_shows_description_and_default():
    parser = argparse.ArgumentParser()
    add_option(parser, "share", float, default=0.1, description="up to 100 % of it.")
    add_option(parser, "loud", bool, default=False, description="volume of a shout.")
    told = " ".join(parser.format_help().split())
    assert "--share X up to 100 % of it (default: 0.1)" in told
    assert "--loud, --no-loud volume of a shout (default: no)" in told


def test_a_flag_is_written_with_dashes():
    assert to_flag("d_model") == "--d-model"


@pytest.mark.parametrize("text", ["0", "-3", "1.5", "many", ""])
def test_a_number_below_one_or_a_word_is_rejected(text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"positive integer, got {text}"):
        positive_int(text)
    assert positive_int("17") == 17


def test_threads_and_device_are_those_requested():
    before = torch.get_num_threads()
    try:
        for threads, there in ((3, 3), (None, 3)):
            device = use_machine(argparse.Namespace(threads=threads, device="cpu"))
            assert (device, torch.get_num_threads()) == (torch.device("cpu"), there)
    finally:
        torch.set_num_threads(before)

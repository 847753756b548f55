import argparse
from dataclasses import dataclass
from typing import Literal

import pytest
import torch

from glassformer.cli.options import add_options_of, positive_int, read_descriptions, to_flag, use_machine


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
    def describe(own_size: annotation = None):
        """Describe a thing.

        Args:
            own_size: size.
        """

    parser = argparse.ArgumentParser()
    add_options_of(parser, describe, ["own_size"])
    got = vars(parser.parse_args(typed))
    assert got == {"own_size": read}
    assert type(got["own_size"]) is type(read)
    assert vars(parser.parse_args([])) == {}


def test_the_help_shows_description_and_default():
    def shout(share: float = 0.1, loud: bool = False, pitch: int = 3):
        """Shout.

        Args:
            share: up to 100 % of it.
            loud: volume of a shout.
            pitch: pitch.
        """

    parser = argparse.ArgumentParser()
    add_options_of(parser, shout, ["share", "loud"])
    add_options_of(parser, shout, ["pitch"], descriptions={"pitch": "height."}, defaults={"pitch": 5})
    told = " ".join(parser.format_help().split())
    assert "--share X up to 100 % of it (default: 0.1)" in told
    assert "--loud, --no-loud volume of a shout (default: no)" in told
    assert "--pitch N height (default: 5)" in told


def test_a_kind_replaces_the_type():
    def wait(seconds: int = 1):
        """Wait.

        Args:
            seconds: time.
        """

    parser = argparse.ArgumentParser()
    add_options_of(parser, wait, ["seconds"], kinds={"seconds": lambda text: 60 * int(text)})
    assert parser.parse_args(["--seconds", "2"]).seconds == 120


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

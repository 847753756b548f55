import argparse
from dataclasses import dataclass
from typing import Literal

import pytest
import torch

from glassformer.cli.options import add_option, read_meanings, to_flag, use_machine, whole


@dataclass
class Base:
    """What all have.

    Attributes:
        size: how large,
            in numbers.
        shape: how it looks.
    """


@dataclass
class Derived(Base):
    """What one has.

    Attributes:
        shape: how it looks from above.

    Raises:
        ValueError: it does not fit.
    """


def describe(size, *, shape):
    """Say something.

    Args:
        size: how large.
        shape: how it looks, see `Base`.

    Returns:
        What was said.
    """


def test_meanings_are_read_from_attributes_and_those_of_bases():
    assert read_meanings(Derived) == {"size": "how large, in numbers.", "shape": "how it looks from above."}


def test_meanings_are_read_from_arguments():
    assert read_meanings(describe) == {"size": "how large.", "shape": "how it looks, see `Base`."}


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
def test_an_option_is_read_as_its_type_says(annotation, typed, read):
    parser = argparse.ArgumentParser()
    add_option(parser, "own_size", annotation, default=None, meaning="how large.")
    got = vars(parser.parse_args(typed))
    assert got == {"own_size": read}
    assert type(got["own_size"]) is type(read)
    assert vars(parser.parse_args([])) == {}


def test_the_help_has_meaning_and_default():
    parser = argparse.ArgumentParser()
    add_option(parser, "share", float, default=0.1, meaning="up to 100 % of it.")
    add_option(parser, "loud", bool, default=False, meaning="whether to shout.")
    told = " ".join(parser.format_help().split())
    assert "--share X up to 100 % of it (default: 0.1)" in told
    assert "--loud, --no-loud whether to shout (default: no)" in told


def test_a_flag_is_written_with_dashes():
    assert to_flag("d_model") == "--d-model"


@pytest.mark.parametrize("text", ["0", "-3", "1.5", "many", ""])
def test_what_is_no_count_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"at least 1, got '{text}'"):
        whole(text)
    assert whole("17") == 17


def test_threads_and_device_are_what_was_asked_for():
    before = torch.get_num_threads()
    try:
        for threads, there in ((3, 3), (None, 3)):
            device = use_machine(argparse.Namespace(threads=threads, device="cpu"))
            assert (device, torch.get_num_threads()) == (torch.device("cpu"), there)
    finally:
        torch.set_num_threads(before)

"""A command imports what it needs and no more, so that the program starts at once."""

import importlib
import json
import subprocess
import sys

import pytest

from glassformer.cli import _COMMANDS

SLOW = ("matplotlib", "numpy", "requests", "sacrebleu", "sacremoses", "safetensors", "tokenizers", "torch")
SCRIPT = """
import json, sys
from glassformer.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
TRANSLATORS = {"numpy", "requests", "sacrebleu", "sacremoses", "safetensors", "tokenizers", "torch"}


def slow_imports(*arguments):
    """Run the program, and return the slow packages that it has imported."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return set(json.loads(run.stdout.splitlines()[-1])) & {*SLOW}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], [], ["sing"], ["--speed", "9"]])
def test_help_version_and_mistakes_need_none_of_the_slow_packages(arguments):
    assert slow_imports(*arguments) == set()


@pytest.mark.parametrize("arguments", [["check", "--help"], ["check", "softmax"]])
def test_checking_needs_no_torch(arguments):
    assert slow_imports(*arguments) == {"numpy"}


@pytest.mark.parametrize("name", ["train", "translate", "evaluate", "average", "export"])
def test_the_commands_that_need_torch_need_no_matplotlib(name):
    assert slow_imports(name, "--help") == TRANSLATORS


@pytest.mark.parametrize("name", _COMMANDS)
def test_the_program_summarises_each_command_as_its_module_does(name):
    module = importlib.import_module(f"glassformer.cli.{name}")
    assert module.__doc__.splitlines()[0] == _COMMANDS[name]

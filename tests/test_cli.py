import subprocess
import sys

import pytest

from glassformer import __version__
from glassformer.cli import export, main

COMMANDS = ("train", "translate", "evaluate", "average", "export", "check")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    told = capsys.readouterr().out
    assert f"usage: glassformer {command}" in told
    assert f"examples:\n  glassformer {command}" in told


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_description(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    lines = capsys.readouterr().out.partition("examples:")[0].splitlines()
    for number, line in enumerate(lines):
        if line.startswith("  --"):
            meaning = line[24:].strip() or lines[number + 1]
            assert meaning.strip(), line
            assert not meaning.startswith("  -"), line
            assert "SUPPRESS" not in meaning
            assert "None" not in meaning


def test_the_program_lists_its_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    for command in COMMANDS:
        assert f"\n    {command}" in told


def test_the_program_prints_its_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"glassformer {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["sing"], ["export"], ["export", "x", "--out", "y"]])
def test_a_command_line_that_cannot_be_parsed_exits_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: glassformer" in capsys.readouterr().err


@pytest.mark.parametrize("error", [ValueError("too much"), OSError("too much"), RuntimeError("too much")])
def test_an_error_is_reported_in_one_line(error, capsys, monkeypatch):
    def fail(args):
        raise error

    monkeypatch.setattr(export, "run", fail)
    assert main(["export", "x", "--output", "y"]) == 1
    assert capsys.readouterr().err == "glassformer: too much\n"


def test_an_interruption_has_its_own_exit_code(capsys, monkeypatch):
    def fail(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "run", fail)
    assert main(["export", "x", "--output", "y"]) == 130
    assert capsys.readouterr().err == "glassformer: interrupted.\n"


def test_a_command_receives_its_command_line(monkeypatch):
    lines = []
    monkeypatch.setattr(export, "run", lambda args: lines.append(args.command_line))
    assert main(["export", "my model", "--output", "y"]) == 0
    assert lines == ["glassformer export 'my model' --output y"]


def test_it_runs_as_a_program():
    command = [sys.executable, "-m", "glassformer", "translate", "--model", "nowhere", "Hello"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert finished.returncode == 1
    assert finished.stderr.startswith("glassformer: there is no folder 'nowhere'")
    assert "Traceback" not in finished.stderr

"""Referee one submission: run the checks on the answers of the learner's cells.

A separate program: it reads a job from stdin and writes one line per exercise to stdout. It runs only the
instructor's cells itself.
"""

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from typing import Any

import torch

from . import READY
from .attempts import Notebook
from .constraints import find_forbidden_import
from .isolation import Limits, StoppedError, clean_scratch, hide_memory, limit_memory
from .statements import Statement, read_statements, required_names, required_statements


def main() -> None:
    """Judge the exercises of a job one by one."""
    job = json.load(sys.stdin)
    hide_memory()
    limit_memory(4096)
    torch.set_num_threads(1)
    print(READY, flush=True)
    for exercise in job["exercises"]:
        clean_scratch()
        message = judge(Exercise(**exercise), Limits(**job["limits"]), job["seconds"])
        print(json.dumps({"grade_id": exercise["grade_id"], "message": message}), flush=True)


@dataclass(frozen=True)
class Exercise:
    """An exercise to judge.

    Attributes:
        grade_id: id of the test.
        check: code of the instructor's test.
        trusted: the instructor's other cells.
        asked: names that the exercises ask for.
        cells: submitted cells before the test.
        without: packages that the exercise forbids.
    """

    grade_id: str
    check: str
    trusted: list[str]
    asked: list[str]
    cells: list[str]
    without: list[str]


def judge(exercise: Exercise, limits: Limits, seconds: float) -> str:
    """Return the message of the check, or an empty string if the answer is right.

    Args:
        exercise: exercise to judge.
        limits: limits of one call of the learner's function.
        seconds: time limit for all calls together.
    """
    wanted = required_names(read_statements(exercise.check))
    asked = wanted & {*exercise.asked}
    ours = [statement for cell in exercise.trusted for statement in read_statements(cell)]
    namespace: dict[str, Any] = {}
    exec("\n".join(statement.source for statement in required_statements(ours, wanted - asked)), namespace)
    try:
        cells = _cells_needed(exercise.cells, asked)
    except SyntaxError as error:
        return f"the cell is not valid Python: {error.msg}, in line {error.lineno}"
    notebook = Notebook(cells, limits, seconds)
    try:
        namespace |= {name: notebook.answer(name) for name in sorted(asked)}
    except StoppedError as stopped:
        return str(stopped)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(exercise.check, namespace)
    except AssertionError as slip:
        return notebook.stopped or _words(slip) or "a test of the instructor fails"
    except Exception as error:
        return f"the check could not judge the answer: {type(error).__name__}: {error}"
    own = [each for cell in cells if cell not in exercise.trusted for each in read_statements(cell)]
    return _violated_constraint(exercise.without, asked, own, ours)


def _words(slip: AssertionError) -> str:
    """Return the message of a check; an empty answer gets a message of its own."""
    is_empty = any(getattr(said, "state", "") == "not started" for said in slip.args)
    return "no answer was submitted" if is_empty else str(slip)


def _violated_constraint(
    without: list[str], asked: set[str], own: list[Statement], given: list[Statement]
) -> str:
    for package in without:
        if taken := find_forbidden_import(package, asked, own, given):
            return f"the answer must not use `{package}`, but it imports `{taken}`"
    return ""


def _cells_needed(cells: list[str], names: set[str]) -> list[str]:
    """Select the cells on which the names depend, so that slow or broken cells elsewhere do no harm.

    Raises:
        SyntaxError: a name is not defined, and one of the cells is not valid Python.
    """
    chosen, wanted, missing, broken = [], names, names, None
    for cell in reversed(cells):
        try:
            statements = read_statements(cell)
        except SyntaxError as error:
            broken = broken or error
            continue
        bound = {name for statement in statements for name in statement.defines | statement.changes}
        if bound & {*wanted, "*"}:
            chosen.append(cell)
            wanted, missing = required_names(statements, after=wanted), missing - bound
    if missing and broken:
        raise broken
    return chosen[::-1]


if __name__ == "__main__":
    main()

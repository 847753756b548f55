"""The referee of one submission: it runs the checks, and asks the learner's cells for answers.

It is a program of its own, which reads a job from stdin and writes a line for each exercise to stdout.
The cells that it runs itself are the instructor's: those that bring the checks, and the checks.
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
from .constraints import taken_from
from .isolation import Limits, StoppedError, hide_memory, limit_memory, tidy
from .statements import Statement, names_wanted, needed_before, read_statements


def main() -> None:
    """Judge the exercises of a job, one after the other."""
    job = json.load(sys.stdin)
    hide_memory()
    limit_memory(4096)
    torch.set_num_threads(1)
    print(READY, flush=True)
    for exercise in job["exercises"]:
        tidy()
        message = judge(Exercise(**exercise), Limits(**job["limits"]), job["seconds"])
        print(json.dumps({"grade_id": exercise["grade_id"], "message": message}), flush=True)


@dataclass(frozen=True)
class Exercise:
    """What there is to judge.

    Attributes:
        grade_id: the name of the test.
        check: the test, as the instructor wrote it.
        trusted: the instructor's other cells.
        asked: the names that are asked for.
        cells: the learner's cells, and the instructor's that stand among them.
        without: packages that the exercise asks to do without.
    """

    grade_id: str
    check: str
    trusted: list[str]
    asked: list[str]
    cells: list[str]
    without: list[str]


def judge(exercise: Exercise, limits: Limits, seconds: float) -> str:
    """Say what is wrong with an answer, or nothing if it is right.

    Args:
        exercise: what there is to judge.
        limits: what one call of the learner's function may use.
        seconds: how long all calls together may take.
    """
    wanted = names_wanted(read_statements(exercise.check))
    asked = wanted & {*exercise.asked}
    ours = [statement for cell in exercise.trusted for statement in read_statements(cell)]
    namespace: dict[str, Any] = {}
    exec("\n".join(statement.source for statement in needed_before(ours, wanted - asked)), namespace)
    try:
        cells = _cells_needed(exercise.cells, asked)
    except SyntaxError as error:
        return f"the cell cannot be read as Python: {error.msg}, in line {error.lineno}"
    notebook = Notebook(cells, limits, seconds)
    try:
        namespace |= {name: notebook.answer(name) for name in sorted(asked)}
    except StoppedError as stopped:
        return str(stopped)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(exercise.check, namespace)
    except AssertionError as slip:
        return notebook.stopped or _words(slip) or "a test of the instructor's fails"
    except Exception as error:
        return f"the check could not judge the answer: {type(error).__name__}: {error}"
    own = [each for cell in cells if cell not in exercise.trusted for each in read_statements(cell)]
    return _violated_constraint(exercise.without, asked, own, ours)


def _words(slip: AssertionError) -> str:
    """Say what a check says; one that met nothing speaks of running a cell, which is over."""
    is_empty = any(getattr(said, "state", "") == "not started" for said in slip.args)
    return "no answer was handed in" if is_empty else str(slip)


def _violated_constraint(
    without: list[str], asked: set[str], own: list[Statement], given: list[Statement]
) -> str:
    for package in without:
        if taken := taken_from(package, asked, own, given):
            return (
                f"this exercise asks for an answer without `{package}`, and this one takes `{taken}` from it"
            )
    return ""


def _cells_needed(cells: list[str], names: set[str]) -> list[str]:
    """Choose the cells that the names rest on, so that a slow or broken one elsewhere does no harm.

    Raises:
        SyntaxError: no cell brings one of the names, and one of the cells cannot be read.
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
            wanted, missing = names_wanted(statements, after=wanted), missing - bound
    if missing and broken:
        raise broken
    return chosen[::-1]


if __name__ == "__main__":
    main()

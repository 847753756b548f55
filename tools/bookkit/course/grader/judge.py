"""What nbgrader does in place of running a submission's notebook: have it refereed, exercise by exercise."""

import json
import os
import subprocess
import sys
import textwrap
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float, Integer

from . import READY
from .constraints import asked_without
from .isolation import SCRATCH, Limits
from .restore import grade_id
from .statements import read_statements

GRADER = Path(__file__).parents[1]


class Judge(NbGraderPreprocessor):
    """Write into each cell of a test what the referee says; nbgrader takes its points from there."""

    seconds_a_call = Float(10, help="how long one run of the learner's cells may take").tag(config=True)
    seconds_an_exercise = Float(60, help="how long all runs for one exercise may take").tag(config=True)
    seconds_in_all = Float(600, help="how long all exercises of a submission may take").tag(config=True)
    memory = Integer(1024, help="MiB that one run may take").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Judge a submission."""
        facts = resources["nbgrader"]
        source = Path("source", facts["assignment"], f"{facts['notebook']}.ipynb")
        jobs = exercises(nb, nbformat.read(source, as_version=4))
        messages = self._referee(jobs)
        for cell in nb.cells:
            if utils.is_grade(cell):
                cell.outputs = [_output(messages[grade_id(cell)])]
        return nb, resources

    def _referee(self, jobs: list[dict[str, Any]]) -> dict[str, str]:
        """Referee all exercises; one that brings the referee down is passed over, and the next one begins."""
        limits = Limits(seconds=self.seconds_a_call, memory=self.memory)
        messages: dict[str, str] = {}
        ends = time.monotonic() + self.seconds_in_all
        while left := [job for job in jobs if job["grade_id"] not in messages]:
            job = {"exercises": left, "limits": asdict(limits), "seconds": self.seconds_an_exercise}
            told, reason = run_referee(json.dumps(job), ends - time.monotonic())
            messages |= told
            unsaid = [job["grade_id"] for job in left if job["grade_id"] not in told]
            messages |= dict.fromkeys(unsaid if reason == TIME_IS_UP else unsaid[:1], reason)
        return messages


TIME_IS_UP = "stopped: all the time for this submission is used up"
FELL = (
    "not judged: the program that judges came to an end at this exercise. Read the answer, then grade again"
)


def run_referee(job: str, seconds: float) -> tuple[dict[str, str], str]:
    """Run the referee as a program of its own.

    Returns:
        What it says to each exercise, and why it said no more.

    Raises:
        RuntimeError: it does not even begin, which is no fault of what was handed in.
    """
    command = [sys.executable, "-m", "grader.referee"]
    referee = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
        text=True,
    )
    try:
        lines, complaints = referee.communicate(job, timeout=seconds)
        reason = f"{FELL}. {(complaints.strip().splitlines() or [''])[-1]}".strip()
    except subprocess.TimeoutExpired:
        referee.kill()
        lines, reason = referee.communicate()[0], TIME_IS_UP
    if not lines.startswith(READY) and reason != TIME_IS_UP:
        raise RuntimeError(f"the referee does not run: {complaints.strip() or 'no word'}")
    told = [json.loads(line) for line in lines.splitlines() if line.endswith("}")]
    return {each["grade_id"]: each["message"] for each in told}, reason


def _environment() -> dict[str, str]:
    """Keep of our environment what Python needs: a learner's code may read it."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "LANG", SCRATCH) if name in os.environ
    }
    path = [str(GRADER), *filter(None, [os.environ.get("PYTHONPATH")])]
    return kept | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(path)}


def exercises(submission: NotebookNode, source: NotebookNode) -> list[dict[str, Any]]:
    """Lay out what there is to judge: the tests as the instructor wrote them, the answers as handed in."""
    asked = {
        name
        for cell in source.cells
        if utils.is_solution(cell)
        for statement in read_statements(cell.source)
        for name in statement.defines
    }
    ours = [
        cell for cell in source.cells if _is_code(cell) and utils.is_locked(cell) and not utils.is_grade(cell)
    ]
    told = {grade_id(cell): cell.source for cell in source.cells}
    return [
        {
            "grade_id": grade_id(test),
            "check": test.source,
            "trusted": [cell.source for cell in ours],
            "asked": sorted(asked),
            "cells": _cells_before(submission, grade_id(test)),
            "without": asked_without(told.get(grade_id(test).removesuffix("-check"), "")),
        }
        for test in filter(utils.is_grade, source.cells)
    ]


def _cells_before(submission: NotebookNode, test: str) -> list[str]:
    """List the code up to a test; nbgrader has put tests back that were deleted."""
    sources: list[str] = []
    for cell in submission.cells:
        if grade_id(cell) == test:
            return sources
        if _is_code(cell) and not utils.is_grade(cell):
            sources.append(cell.source)
    return sources


def _is_code(cell: NotebookNode) -> bool:
    return cell.cell_type == "code"


def _output(message: str) -> NotebookNode:
    if message:
        lines = [textwrap.fill(line, 90) if len(line) > 90 else line for line in message.splitlines()]
        return new_output("error", ename="Slip", evalue=message, traceback=lines)
    return new_output("stream", name="stdout", text="✔ right\n")

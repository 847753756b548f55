"""Judge a submission exercise by exercise; nbgrader uses this instead of running the notebook."""

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
from .constraints import forbidden_packages
from .isolation import SCRATCH, Limits
from .restore import grade_id
from .statements import read_statements

GRADER = Path(__file__).parents[1]


class Judge(NbGraderPreprocessor):
    """Write the referee's message into each test cell, from which nbgrader takes the points."""

    seconds_per_call = Float(10, help="time limit for one run of the learner's cells").tag(config=True)
    seconds_per_exercise = Float(60, help="time limit for all runs of one exercise").tag(config=True)
    seconds_per_submission = Float(600, help="time limit for all exercises of a submission").tag(config=True)
    memory = Integer(1024, help="memory limit for one run, in MiB").tag(config=True)

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
        """Referee all exercises; if one crashes the referee, skip it and continue with the next."""
        limits = Limits(seconds=self.seconds_per_call, memory=self.memory)
        messages: dict[str, str] = {}
        ends = time.monotonic() + self.seconds_per_submission
        while left := [job for job in jobs if job["grade_id"] not in messages]:
            job = {"exercises": left, "limits": asdict(limits), "seconds": self.seconds_per_exercise}
            told, reason = run_referee(json.dumps(job), ends - time.monotonic())
            messages |= told
            unsaid = [job["grade_id"] for job in left if job["grade_id"] not in told]
            messages |= dict.fromkeys(unsaid if reason == TIMED_OUT else unsaid[:1], reason)
        return messages


TIMED_OUT = "stopped: the time for this submission is used up"
CRASHED = "not judged: the referee crashed at this exercise. Read the answer, then grade again"


def run_referee(job: str, seconds: float) -> tuple[dict[str, str], str]:
    """Run the referee in another process.

    Returns:
        Message for each exercise, and the reason why the referee stopped before the end.

    Raises:
        RuntimeError: the referee does not start; this is not the fault of the submission.
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
        reason = f"{CRASHED}. {(complaints.strip().splitlines() or [''])[-1]}".strip()
    except subprocess.TimeoutExpired:
        referee.kill()
        lines, reason = referee.communicate()[0], TIMED_OUT
    if not lines.startswith(READY) and reason != TIMED_OUT:
        raise RuntimeError(f"the referee does not run: {complaints.strip() or 'no message'}")
    told = [json.loads(line) for line in lines.splitlines() if line.endswith("}")]
    return {each["grade_id"]: each["message"] for each in told}, reason


def _environment() -> dict[str, str]:
    """Return the variables that Python needs and no others, because a learner's code can read them."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "LANG", SCRATCH) if name in os.environ
    }
    path = [str(GRADER), *filter(None, [os.environ.get("PYTHONPATH")])]
    return kept | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(path)}


def exercises(submission: NotebookNode, source: NotebookNode) -> list[dict[str, Any]]:
    """Describe each exercise to judge: the instructor's test, and the submitted cells before it."""
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
            "without": forbidden_packages(told.get(grade_id(test).removesuffix("-check"), "")),
        }
        for test in filter(utils.is_grade, source.cells)
    ]


def _cells_before(submission: NotebookNode, test: str) -> list[str]:
    """List the code cells before a test; deleted tests have already been restored."""
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

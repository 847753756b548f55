"""Grade submissions: `python -m grader` in the folder of the course."""

import argparse
import re
import sys
from pathlib import Path

import nbformat
from nbgrader.apps import NbGraderAPI

from .export import ExerciseExport, messages
from .isolation import runs_as_nobody
from .judge import CRASHED
from .opening import open_course
from .restore import grade_id

LARGEST = 10 * 2**20
_SAME_USER = "Answers run under your own account: use a container for code that you would not run yourself."


def main(arguments: list[str] | None = None) -> int:
    """Grade all submissions one by one, and write grades.csv.

    Returns:
        0 if every submission was graded, else 1.
    """
    parser = argparse.ArgumentParser(prog="python -m grader", description=__doc__)
    parser.add_argument("assignments", nargs="*", help="names of assignments to grade; all if omitted")
    wanted = parser.parse_args(arguments).assignments
    api = open_course(Path.cwd())
    found = sorted(path for path in Path("submitted").glob("*/*") if path.is_dir())
    submissions = [path for path in found if not wanted or path.name in wanted]
    misplaced = _misplaced(Path("submitted"))
    for path in misplaced:
        print(f"{path}: not graded: expected submitted/<student>/<assignment>/<assignment>.ipynb")
    if not submissions:
        print("nothing to grade: found no submitted/<student>/<assignment>/<assignment>.ipynb")
        return 1
    if not runs_as_nobody():
        print(_SAME_USER)
    known = _graded(api)
    told = {(path.parent.name, path.name): grade(api, path) for path in submissions}
    troubles = {submission: trouble for submission, trouble in told.items() if trouble}
    with api.gradebook as gradebook:
        ExerciseExport(troubles=troubles).export(gradebook)
    for line in _changes(known, _graded(api), {(path.parent.name, path.name) for path in found}):
        print(line)
    left = len(troubles) + len(misplaced)
    print(f"{len(told) - len(troubles)} graded, {left} not{': see above' if left else ''}. Table: grades.csv")
    return int(bool(left))


def _misplaced(submitted: Path) -> list[Path]:
    """Find files outside of submissions, and students' folders without a submission."""
    files = [path for pattern in ("*", "*/*") for path in submitted.glob(pattern) if path.is_file()]
    empty = [path for path in submitted.glob("*") if path.is_dir() and not any(path.iterdir())]
    return sorted(path for path in files + empty if not path.name.startswith("."))


def _graded(api: NbGraderAPI) -> set[tuple[str, str]]:
    """List the student and assignment of every submission in the gradebook."""
    with api.gradebook as gradebook:
        return {
            (submission.student_id, assignment.name)
            for assignment in gradebook.assignments
            for submission in assignment.submissions
        }


def _changes(
    before: set[tuple[str, str]], now: set[tuple[str, str]], found: set[tuple[str, str]]
) -> list[str]:
    """Report new students since the last grading, and grades whose submission is gone."""
    lines = []
    if before and (new := sorted({student for student, _ in now} - {student for student, _ in before})):
        lines.append(f"New since the last grading: {', '.join(new)}")
    if gone := sorted(now - found):
        lines.append(f"In the table, but not in submitted: {', '.join(map(' · '.join, gone))}")
    return lines


def grade(api: NbGraderAPI, submission: Path) -> str:
    """Grade one submission, print the outcome, and return the reason if it could not be graded."""
    student, assignment = submission.parent.name, submission.name
    notebook = submission / f"{assignment}.ipynb"
    if not _is_entered(api, student, assignment):
        trouble = f"the course has no such assignment, only {', '.join(_assignments(api))}"
    elif not notebook.is_file():
        found = ", ".join(sorted(path.name for path in submission.iterdir())) or "nothing"
        trouble = f"expected {notebook.name}, found {found}"
    elif notebook.stat().st_size > LARGEST:
        trouble = f"{notebook.name} is larger than {LARGEST // 2**20} MiB"
    elif (ids := _grade_ids(notebook)) is None:
        trouble = f"{notebook.name} is not a readable notebook: it may be empty or incomplete"
    elif not ids & (_grade_ids(Path("source", assignment, notebook.name)) or set()):
        trouble = f"{notebook.name} is not the notebook of this chapter"
    else:
        outcome = api.autograde(assignment, student, force=True, create=True)
        trouble = "" if outcome["success"] else _reason(outcome)
    print(f"{student} · {assignment}: {trouble or _score(api, student, assignment)}", flush=True)
    return trouble


def _grade_ids(notebook: Path) -> set[str] | None:
    """Return the grade ids of a notebook's cells, or None if it cannot be read."""
    try:
        return {grade_id(cell) for cell in nbformat.read(notebook, as_version=4).cells} - {""}
    except Exception:  # a submitted file may contain anything
        return None


def _is_entered(api: NbGraderAPI, student: str, assignment: str) -> bool:
    """Enter a submission in the gradebook if the assignment exists."""
    if assignment not in _assignments(api):
        return False
    with api.gradebook as gradebook:
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(assignment, student)
    return True


def _assignments(api: NbGraderAPI) -> list[str]:
    with api.gradebook as gradebook:
        return [assignment.name for assignment in gradebook.assignments]


def _score(api: NbGraderAPI, student: str, assignment: str) -> str:
    found = api.get_submission(assignment, student)
    said = messages(Path("autograded", student, assignment, f"{assignment}.ipynb")).values()
    fell = sum(message.startswith(CRASHED) for message in said)
    left = f", {fell} of the exercises not judged: see the table" if fell else ""
    return f"{found['score']:g} of {found['max_score']:g} points{left}"


def _reason(outcome: dict[str, str]) -> str:
    """Find the first cause in nbgrader's log."""
    said = f"{outcome.get('error', '')}\n{outcome.get('log', '')}"
    errors = re.findall(r"^\s*(?:\w+\.)*(\w*Error\b.*)", said, re.MULTILINE)
    says = (errors or ["no reason"])[-1]
    return (
        f"nbgrader could not grade it: ask for the answers in a fresh copy of the notebook. It says: {says}"
    )


if __name__ == "__main__":
    sys.exit(main())

"""Grades as a table: a line for each student and exercise, with what the check said."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.plugins import ExportPlugin
from traitlets import Dict

COLUMNS = ("student", "assignment", "exercise", "points", "of", "message")


class ExerciseExport(ExportPlugin):
    """Write the points of every exercise into a CSV file, and why what was not graded was not."""

    troubles: Mapping[tuple[str, str], str] = Dict(help="why an assignment of a student was not graded")  # type: ignore[assignment]

    def export(self, gradebook: Gradebook) -> None:
        """Write the file; students and assignments that were not asked for are left out."""
        rows = sorted(
            row
            for assignment in gradebook.assignments
            for submission in assignment.submissions
            for notebook in submission.notebooks
            if assignment.name in (self.assignment or [assignment.name])
            and submission.student_id in (self.student or [submission.student_id])
            for row in _rows(notebook, self.troubles)
        )
        known = {row[:2] for row in rows}
        rows += [(*key, "", "", "", trouble) for key, trouble in self.troubles.items() if key not in known]
        with Path(self.to or "grades.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([COLUMNS, *rows])


def _rows(notebook: SubmittedNotebook, troubles: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, ...]]:
    assignment, student = notebook.assignment.assignment.name, notebook.student.id
    graded = Path("autograded", student, assignment, f"{notebook.name}.ipynb")
    trouble = troubles.get((student, assignment), "" if graded.exists() else "not graded")
    said = {} if trouble else messages(graded)
    for grade in notebook.grades:
        exercise = grade.name.removesuffix("-check")
        yield (
            student,
            assignment,
            exercise,
            "" if trouble else f"{grade.score:g}",
            f"{grade.max_score:g}",
            said.get(grade.name, trouble),
        )


def messages(path: Path) -> dict[str, str]:
    """Read what the referee wrote into a graded notebook: the first paragraph, without a drawing."""
    return {
        cell.metadata.nbgrader["grade_id"]: output.evalue.split("\n\n")[0]
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    }

"""Export grades as a table: one line for each student and exercise, with the message of the check."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.plugins import ExportPlugin
from traitlets import Dict

COLUMNS = ("student", "assignment", "exercise", "points", "of", "message")


class ExerciseExport(ExportPlugin):
    """Write the points of every exercise to a CSV file, with the reason if it was not graded."""

    troubles: Mapping[tuple[str, str], str] = Dict(help="reasons why submissions were not graded")  # type: ignore[assignment]

    def export(self, gradebook: Gradebook) -> None:
        """Write the file for the selected students and assignments."""
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
    """Read the referee's messages from a graded notebook: the first paragraph of each."""
    return {
        cell.metadata.nbgrader["grade_id"]: output.evalue.split("\n\n")[0]
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    }

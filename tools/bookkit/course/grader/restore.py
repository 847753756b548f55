"""Restore what nbgrader needs in a submitted notebook: unique grade ids, and deleted tests."""

from pathlib import Path

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import NbGraderPreprocessor


class Restore(NbGraderPreprocessor):
    """Remove the marks of copied cells, and put deleted tests back."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Restore a submission before nbgrader reads its cells."""
        facts = resources["nbgrader"]
        source = nbformat.read(
            Path("source", facts["assignment"], f"{facts['notebook']}.ipynb"), as_version=4
        )
        _mark_once(nb.cells)
        place = len(nb.cells)
        for cell in reversed(source.cells):
            marks = [grade_id(each) for each in nb.cells]
            if grade_id(cell) in marks:
                place = marks.index(grade_id(cell))
            elif utils.is_grade(cell):
                nb.cells.insert(place, cell)
        return nb, resources


def grade_id(cell: NotebookNode) -> str:
    """Return nbgrader's id of a cell, or an empty string for a learner's own cell."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def _mark_once(cells: list[NotebookNode]) -> None:
    """Remove nbgrader's metadata from all copies of a cell but the last."""
    seen = {""}
    for cell in reversed(cells):
        if grade_id(cell) in seen:
            cell.metadata.pop("nbgrader", None)
        seen.add(grade_id(cell))

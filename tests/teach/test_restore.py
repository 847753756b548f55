import copy

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from bookkit.course.assignments import make_assignment
from bookkit.course.grader.restore import Restore, grade_id

SLUG = "masks"


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    source = make_assignment(SLUG, "eleven")
    (tmp_path / "source" / SLUG).mkdir(parents=True)
    nbformat.write(source, tmp_path / "source" / SLUG / f"{SLUG}.ipynb")
    monkeypatch.chdir(tmp_path)
    return source


def mended(notebook):
    mended, _ = Restore().preprocess(notebook, {"nbgrader": {"assignment": SLUG, "notebook": SLUG}})
    return [grade_id(cell) or cell.source for cell in mended.cells]


def test_a_complete_notebook_stays_unchanged(notebook):
    before = copy.deepcopy(notebook)
    mended(notebook)
    assert notebook == before


def test_the_last_copy_of_a_cell_keeps_its_id_and_the_others_their_code(notebook):
    marks = mended(copy.deepcopy(notebook))
    for cell in list(notebook.cells):
        notebook.cells.insert(notebook.cells.index(cell), copy.deepcopy(cell))
    sources = [cell.source for cell in notebook.cells]
    after = mended(notebook)
    assert after[1::2] == marks
    assert [cell.source for cell in notebook.cells] == sources
    assert not any("nbgrader" in cell.metadata for cell in notebook.cells[::2])


def test_deleted_tests_are_restored_and_deleted_answers_are_not(notebook):
    marks = mended(copy.deepcopy(notebook))
    kept = [mark for mark in marks if not mark.endswith(("-check", "-answer"))]
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) in kept]
    assert mended(notebook) == [mark for mark in marks if not mark.endswith("-answer")]


def test_a_test_is_restored_below_the_students_own_cell(notebook):
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) != "masks-decoder-check"]
    place = [grade_id(cell) for cell in notebook.cells].index("masks-decoder-answer")
    notebook.cells[place] = new_code_cell("my own")
    marks = mended(notebook)
    assert marks[place : place + 2] == ["my own", "masks-decoder-check"]


def test_without_any_ids_the_tests_are_appended(notebook):
    checks = [mark for mark in mended(copy.deepcopy(notebook)) if mark.endswith("-check")]
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader")
    assert mended(notebook)[-len(checks) :] == checks

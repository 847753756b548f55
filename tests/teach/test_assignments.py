import io
import re
from contextlib import redirect_stdout

import nbformat
import pytest
from nbgrader import utils
from nbgrader.api import Gradebook

from bookkit.chapters import read_chapter, slugs
from bookkit.course.assignments import hidden_seed, make_assignment
from bookkit.course.build import make_course

SECRET = "seventeen"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    make_course(folder, SECRET)
    return folder


def read(course, version, slug):
    return nbformat.read(course / version / slug / f"{slug}.ipynb", as_version=4)


def points_of(notebook):
    """Run a notebook in this process and count points as nbgrader does."""
    namespace, points, said = {}, {}, {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            outcome = ""
            with redirect_stdout(io.StringIO()):
                try:
                    exec(cell.source, namespace)
                except AssertionError as slip:
                    outcome = str(slip)
            if utils.is_grade(cell):
                marks = cell.metadata.nbgrader
                points[marks["grade_id"]] = 0 if outcome else marks["points"]
                said[marks["grade_id"]] = outcome
    return points, said


def with_tests_of(release, source):
    """Put the hidden tests back, as nbgrader does when it grades."""
    tests = {cell.metadata.nbgrader["grade_id"]: cell.source for cell in source.cells if utils.is_grade(cell)}
    for cell in release.cells:
        cell.source = tests.get(cell.metadata.nbgrader["grade_id"], cell.source)
    return release


@pytest.mark.parametrize("slug", slugs())
def test_the_instructors_notebook_runs_by_itself_and_gets_all_points(slug):
    points, said = points_of(make_assignment(slug, SECRET))
    assert not any(said.values()), said
    assert points == {f"{each.label}-check": each.stars for each in read_chapter(slug).exercises}


@pytest.mark.parametrize("slug", slugs())
def test_the_students_notebook_runs_and_counts_as_not_begun(course, slug):
    points, said = points_of(with_tests_of(read(course, "release", slug), read(course, "source", slug)))
    assert set(points.values()) == {0}
    assert all("nothing to check yet" in outcome for outcome in said.values()), said


@pytest.mark.parametrize("slug", slugs())
def test_students_get_no_solutions_and_no_hidden_tests(course, slug):
    release = "\n".join(cell.source for cell in read(course, "release", slug).cells)
    assert "seed=" not in release
    assert "HIDDEN" not in release
    assert "SOLUTION" not in release
    exercises = read_chapter(slug).exercises
    handed_out = "".join(each.starter + each.given + each.statement for each in exercises)
    for exercise in exercises:
        lines = [line.strip() for line in exercise.solution.splitlines()]
        told = [line for line in lines if len(line) > 12 and line not in handed_out]
        assert told, exercise.label
        assert not [line for line in told if line in release]


@pytest.mark.parametrize("slug", slugs())
def test_students_get_every_exercise_as_in_the_chapter(course, slug):
    cells = {cell.metadata.nbgrader["grade_id"]: cell.source for cell in read(course, "release", slug).cells}
    for exercise in read_chapter(slug).exercises:
        answer, check = cells[f"{exercise.label}-answer"], cells[f"{exercise.label}-check"]
        assert exercise.starter.split() == f"{answer} {check}".split()
        assert exercise.title in cells[exercise.label]
        assert cells.get(f"{exercise.label}-given", "").endswith(exercise.given)


@pytest.mark.parametrize("slug", slugs())
def test_every_cell_has_a_unique_and_stable_id(course, slug):
    def ids(notebook):
        return [(cell.id, cell.metadata.nbgrader["grade_id"]) for cell in notebook.cells]

    notebook = read(course, "source", slug)
    assert ids(notebook) == ids(make_assignment(slug, "another secret"))
    for names in zip(*ids(notebook), strict=True):
        assert len(set(names)) == len(notebook.cells)
    assert not re.search(r"\{[a-z]+\}`", "".join(cell.source for cell in notebook.cells))


def test_hidden_seeds_differ_by_exercise_and_secret():
    labels = [exercise.label for slug in slugs() for exercise in read_chapter(slug).exercises]
    seeds = [hidden_seed(secret, label) for secret in (SECRET, "nineteen") for label in labels]
    assert len({0, *seeds}) == 1 + 2 * len(labels)
    assert seeds[: len(labels)] == [hidden_seed(SECRET, label) for label in labels]


def test_the_gradebook_lists_the_points_of_every_assignment(course):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        known = {assignment.name: assignment.max_score for assignment in gradebook.assignments}
    assert known == {
        slug: sum(exercise.stars for exercise in read_chapter(slug).exercises) for slug in slugs()
    }


def test_a_rebuilt_course_keeps_its_secret_and_submissions(tmp_path):
    make_course(tmp_path, chapters=["scaling"])
    handed_in = tmp_path / "submitted" / "ada" / "scaling" / "scaling.ipynb"
    handed_in.parent.mkdir(parents=True)
    handed_in.write_text("mine")
    before = read(tmp_path, "source", "scaling")
    make_course(tmp_path, chapters=["scaling"])
    assert read(tmp_path, "source", "scaling") == before
    assert handed_in.read_text() == "mine"
    make_course(tmp_path, (tmp_path / "secret.txt").read_text(), ["scaling"])
    assert read(tmp_path, "source", "scaling") == before


def test_another_secret_is_refused_and_changes_nothing(course):
    def files():
        return {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}

    before = files()
    with pytest.raises(ValueError, match=rf"{course} has another secret.*omit SEED.*another folder"):
        make_course(course, "seven", ["scaling"])
    assert files() == before
    assert make_assignment("scaling", "seven") != make_assignment("scaling", SECRET)


def test_a_folder_with_other_files_and_unknown_chapters_are_refused(tmp_path):
    (tmp_path / "README.md").write_text("a book")
    with pytest.raises(ValueError, match="holds other files"):
        make_course(tmp_path, "seven", ["masks"])
    with pytest.raises(ValueError, match=r"chapters must be among .*, got course"):
        make_course(tmp_path / "new", "seven", ["course"])
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]

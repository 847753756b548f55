"""A class submits its notebooks; each one is graded in a real course."""

import copy
import csv
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from bookkit.chapters import read_chapter
from bookkit.course.build import make_course
from bookkit.course.grader.__main__ import _SAME_USER, LARGEST, main
from bookkit.course.grader.isolation import SCRATCH, runs_as_nobody
from bookkit.course.grader.judge import CRASHED, TIMED_OUT, run_referee

SLUG = "scaling"
EXERCISES = {exercise.label.removeprefix("scaling-"): exercise for exercise in read_chapter(SLUG).exercises}
POINTS = {name: str(exercise.stars) for name, exercise in EXERCISES.items()}
NOTHING = "no answer was submitted"

WRONG = {
    "scaled-scores": ("def NAME(query, key):\n    return query @ key.T", "unscaled"),
    "variance": ("NAME = 36", "16 of them"),
    "right-divisor": ("import numpy as np\ndef NAME(d_k, variance):\n    return np.sqrt(d_k)", "variance"),
}
CRASHING = {
    "scaled-scores": ("def NAME(query, key):\n    return query @ key", "in the line `return query @ key`"),
    "variance": ("NAME = (16", "the cell is not valid Python: '\\(' was never closed, in line 1$"),
    "mended-weights": ("NAME = undefined", "NameError: name 'undefined' is not defined"),
    "entropy": (
        "def NAME(weights):\n    import ctypes\n    ctypes.string_at(0)",
        "crashed Python",
    ),
    "right-divisor": ("import sys\ndef NAME(d_k, variance):\n    sys.exit(0)", "SystemExit"),
    "cosine-weights": ("wanted = NAME = None\ndel NAME", "is not defined"),
}
HOSTILE = {
    "scaled-scores": (
        "def NAME(query, key):\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass",
        "stopped: no answer within 3 seconds",
    ),
    "variance": (
        "hoard = []\nwhile True: hoard.append(bytearray(10**8))\nNAME = 576",
        "MemoryError: the limit is 256 MiB",
    ),
    "mended-weights": (
        "from glassformer import checking\n"
        "checking.Check.judge = lambda *given: checking.Verdict('mine', 'right')\n"
        "checking.Slip.__init__ = lambda *given, **named: None\n"
        "exercises.CHECK = lambda *given, **named: None\n"
        "def NAME(query, key): return query @ key.T",
        "",
    ),
    "entropy": (
        "def NAME(weights):\n    while True: print('x' * 10_000)",
        "stopped: no answer within 3 seconds",
    ),
    "right-divisor": (
        "def NAME(d_k, variance):\n    import os\n    os._exit(0)",
        "the cells ended Python before returning an answer",
    ),
    "cosine-weights": (  # what stops the referee depends on who runs the grader
        "def NAME(query, key, scale):\n    import os, signal\n    os.kill(os.getppid(), signal.SIGKILL)",
        "not judged: the referee crashed|PermissionError",
    ),
}


def hand_in(course, student, answers, change=lambda notebook: None, version="release"):
    notebook = nbformat.read(course / version / SLUG / f"{SLUG}.ipynb", as_version=4)
    for name, (code, _) in answers.items():
        exercise = EXERCISES[name]
        (cell,) = (each for each in notebook.cells if grade_id(each) == f"{exercise.label}-answer")
        cell.source = code.replace("NAME", exercise.attempt).replace("CHECK", exercise.check)
    change(notebook)
    path = course / "submitted" / student / SLUG / f"{SLUG}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def without_hard_tests(notebook):
    """Empty one test, delete another, and claim many points for a third."""
    for name, change in (("scaled-scores", "pass"), ("right-divisor", "print('right')")):
        (cell,) = (each for each in notebook.cells if grade_id(each) == f"scaling-{name}-check")
        cell.source = change
        cell.metadata.nbgrader["points"] = 1000
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) != "scaling-cosine-weights-check"]


def with_cells_copied_and_deleted(notebook):
    """Copy each answer, delete two tests, and write an answer into a cell that nbgrader does not know."""
    answers = [cell for cell in notebook.cells if grade_id(cell).endswith("-answer")]
    for cell in answers:
        notebook.cells.insert(notebook.cells.index(cell), copy.deepcopy(cell))
    deleted = {"scaling-entropy-check", "scaling-cosine-weights-check"}
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) not in deleted]
    for cell in notebook.cells:
        if grade_id(cell) == "scaling-entropy-answer":
            cell.metadata.pop("nbgrader")


def with_a_mark_cut_off(notebook):
    del notebook.cells[-1].metadata.nbgrader["grade"]


def as_another_chapter(notebook):
    for cell in notebook.cells:
        cell.metadata.nbgrader["grade_id"] = cell.metadata.nbgrader["grade_id"].replace(SLUG, "softmax")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A graded course of one chapter: its folder, the lines of grades.csv by student, and the output."""
    course = tmp_path_factory.mktemp("course")
    make_course(course, "twenty-three", [SLUG])
    config = course / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}c.Judge.seconds_per_call = 3\nc.Judge.memory = 256\n")
    hand_in(course, "ada", {}, with_cells_copied_and_deleted, version="source")
    hand_in(course, "bob", WRONG)
    hand_in(course, "cyd", {})
    hand_in(course, "dan", CRASHING)
    hand_in(course, "eve", HOSTILE, without_hard_tests)
    broken = course / "submitted" / "fay" / SLUG
    broken.mkdir(parents=True)
    (broken / f"{SLUG}.ipynb").write_text('{"no": "notebook"}')
    large = course / "submitted" / "gus" / SLUG
    large.mkdir(parents=True)
    (large / f"{SLUG}.ipynb").write_text("x" * (LARGEST + 1))
    (course / "submitted" / "hal" / SLUG).mkdir(parents=True)
    (course / "submitted" / "ivo" / "scales").mkdir(parents=True)
    hand_in(course, "noa", {}, with_a_mark_cut_off)
    hand_in(course, "jon", {}, as_another_chapter)
    (course / "submitted" / "kim").mkdir()
    (course / "submitted" / "kim" / f"{SLUG}.ipynb").write_text("in the wrong place")
    (course / "submitted" / "lea.ipynb").write_text("in the wrong place, too")
    (course / "submitted" / "mia").mkdir()
    (course / "submitted" / "ada" / ".hidden").write_text("the operating system's own")
    run = subprocess.run(
        [sys.executable, "-m", "grader"], cwd=course, capture_output=True, text=True, check=False
    )
    assert (course / "grades.csv").exists(), run.stderr
    with (course / "grades.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    grades = {student: {} for student in ["ada", "bob", "cyd", "dan", "eve", "fay", "gus", "hal"]}
    for line in lines:
        grades.setdefault(line["student"], {})
        grades[line["student"]][line["exercise"].removeprefix("scaling-")] = line
    return course, grades, run


def test_every_exercise_of_every_student_has_a_line_with_its_points(graded):
    for lines in graded[1].values():
        if "" not in lines:  # that is a line for an assignment that there is not
            assert {name: line["of"] for name, line in lines.items()} == POINTS


def test_a_right_submission_gets_all_points(graded):
    assert {name: line["points"] for name, line in graded[1]["ada"].items()} == POINTS
    assert not any(line["message"] for line in graded[1]["ada"].values())


@pytest.mark.parametrize(("student", "answers"), [("bob", WRONG), ("dan", CRASHING), ("eve", HOSTILE)])
def test_a_wrong_answer_gets_no_points_and_a_message(graded, student, answers):
    for name, line in graded[1][student].items():
        assert line["points"] == "0", name
        assert re.search(answers.get(name, ("", NOTHING))[1], line["message"])
        assert line["message"]


def test_an_empty_submission_counts_as_not_begun(graded):
    assert all(NOTHING in line["message"] for line in graded[1]["cyd"].values())
    assert {line["points"] for line in graded[1]["cyd"].values()} == {"0"}


def test_ungradable_submissions_are_reported_and_the_others_are_graded(graded):
    _, grades, run = graded
    lines = dict(re.findall(r"^(\w+) · \w+: (.+)", run.stdout, re.MULTILINE))
    assert lines["ada"] == "11 of 11 points"
    fell = "" if runs_as_nobody() else ", 1 of the exercises not judged: see the table"
    assert lines["eve"] == f"0 of 11 points{fell}"
    assert lines["fay"].startswith("scaling.ipynb is not a readable notebook")
    assert lines["gus"] == "scaling.ipynb is larger than 10 MiB"
    assert lines["hal"] == "expected scaling.ipynb, found nothing"
    assert lines["ivo"] == "the course has no such assignment, only scaling"
    assert lines["noa"].startswith("nbgrader could not grade it: ask for the answers in a fresh copy")
    assert "It says: RuntimeError: Inconsistent checksums" in lines["noa"]
    assert lines["jon"] == "scaling.ipynb is not the notebook of this chapter"
    misplaced = re.findall(
        r"^submitted/(\S+): not graded: expected submitted/<student>/", run.stdout, re.MULTILINE
    )
    assert misplaced == ["kim/scaling.ipynb", "lea.ipynb", "mia"]
    assert run.stdout.endswith("5 graded, 9 not: see above. Table: grades.csv\n")
    assert run.returncode == 1
    for student in ("fay", "gus", "hal", "ivo", "jon", "noa"):
        told = {(line["points"], line["message"]) for line in grades[student].values()}
        assert told == {("", lines[student])}
        assert ("" in grades[student]) == (student == "ivo")
    assert "Traceback" not in run.stdout + run.stderr


def test_changed_and_deleted_tests_are_restored(graded):
    course, _, _ = graded
    source = nbformat.read(course / "source" / SLUG / f"{SLUG}.ipynb", as_version=4)
    after = nbformat.read(course / "autograded" / "eve" / SLUG / f"{SLUG}.ipynb", as_version=4)
    sources = {grade_id(cell): cell.source for cell in after.cells}
    for cell in source.cells:
        if cell.metadata.nbgrader.grade:
            assert sources[grade_id(cell)].endswith(cell.source)


def test_learners_code_runs_only_in_the_referee(graded):
    after = nbformat.read(graded[0] / "autograded" / "eve" / SLUG / f"{SLUG}.ipynb", as_version=4)
    assert {grade_id(cell) for cell in after.cells if cell.get("outputs")} == {
        f"{exercise.label}-check" for exercise in EXERCISES.values()
    }


def job(*checks, seconds=60.0):
    exercise = {"trusted": [], "asked": [], "cells": [], "without": []}
    exercises = [exercise | {"grade_id": str(number), "check": check} for number, check in enumerate(checks)]
    return json.dumps({"exercises": exercises, "limits": {}, "seconds": seconds})


def test_a_crashed_referee_keeps_its_earlier_messages(monkeypatch, tmp_path):
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    if os.geteuid() == 0:  # only root can leave something there in nobody's name
        (tmp_path / "left").touch()
        os.chown(tmp_path / "left", pwd.getpwnam("nobody").pw_uid, -1)
    monkeypatch.setenv("TOKEN_OF_THE_TEACHER", "very secret")
    unseen = "import os; assert 'TOKEN_OF_THE_TEACHER' not in os.environ"
    unseen += f"; assert not os.listdir({str(tmp_path)!r})"
    checks = ["x = 1", "assert False, 'no'", "assert False", unseen, "import os; os._exit(7)", "x = 2"]
    told, reason = run_referee(job(*checks), 60)
    assert told == {"0": "", "1": "no", "2": "a test of the instructor fails", "3": ""}
    assert reason.startswith(CRASHED)


def test_a_referee_that_takes_too_long_is_stopped():
    told, reason = run_referee(job("import time; time.sleep(1000)"), 1)
    assert (told, reason) == ({}, TIMED_OUT)


@pytest.fixture
def next_week(graded, tmp_path, monkeypatch):
    """The course after its first grading, with nothing in submitted; the grader runs there."""
    course = tmp_path / "course"
    shutil.copytree(graded[0], course, ignore=shutil.ignore_patterns("submitted"))
    monkeypatch.chdir(course)
    return course


def test_without_submissions_the_grader_says_where_it_looked(next_week, capsys):
    assert main(["softmax"]) == 1
    assert "found no submitted/<student>/<assignment>/<assignment>.ipynb" in capsys.readouterr().out


def test_new_students_and_grades_without_submissions_are_reported(graded, next_week, capsys):
    assert "New since" not in graded[2].stdout
    assert "not in submitted" not in graded[2].stdout
    for student in ("ada", "bobb"):  # each folder is empty
        (next_week / "submitted" / student / SLUG).mkdir(parents=True)
    main([])
    said = capsys.readouterr().out
    gone = ", ".join(
        f"{student} · {SLUG}" for student in ("bob", "cyd", "dan", "eve", "fay", "gus", "hal", "jon", "noa")
    )
    assert "New since the last grading: bobb\n" in said
    assert f"In the table, but not in submitted: {gone}\n" in said
    with Path("grades.csv").open(newline="", encoding="utf-8") as file:
        told = {(line["student"], line["points"], line["message"]) for line in csv.DictReader(file)}
    assert ("ada", "", "expected scaling.ipynb, found nothing") in told
    assert {line for line in told if line[0] == "hal"} == {("hal", "", "not graded")}
    assert {line[1] for line in told if line[0] == "bob"} == {"0"}


def test_the_page_on_grading_states_the_points_of_its_example():
    page = (Path(__file__).parents[2] / "teach/grading.md").read_text(encoding="utf-8")
    points = sum(exercise.stars for exercise in read_chapter("masks").exercises)
    assert f"ada · masks: {points} of {points} points" in page
    assert _SAME_USER in page

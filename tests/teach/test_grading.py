"""A class of five hands in; each submission is really graded, in a course that is really made."""

import csv
import json
import re
import subprocess
import sys

import nbformat
import pytest

from chapters import read_exercises
from course import make_course
from grader.__main__ import LARGEST
from grader.judge import TIME_IS_UP, run_referee

SLUG = "scaling"
EXERCISES = {exercise.label.removeprefix("scaling-"): exercise for exercise in read_exercises(SLUG)}
POINTS = {name: str(exercise.stars) for name, exercise in EXERCISES.items()}
NOTHING = "nothing to check yet"

WRONG = {
    "scaled-scores": ("def NAME(query, key):\n    return query @ key.T", "unscaled"),
    "variance": ("NAME = 36", "16 of them"),
    "right-divisor": ("import numpy as np\ndef NAME(d_k, variance):\n    return np.sqrt(d_k)", "variance"),
}
CRASHING = {
    "scaled-scores": ("def NAME(query, key):\n    return query @ key", "in the line `return query @ key`"),
    "variance": ("NAME = (16", "the cell is no Python: '\\(' was never closed"),
    "mended-weights": ("NAME = undefined", "NameError: name 'undefined' is not defined"),
    "entropy": (
        "def NAME(weights):\n    import ctypes\n    ctypes.string_at(0)",
        "ended by the signal SIGSEGV",
    ),
    "right-divisor": ("import sys\ndef NAME(d_k, variance):\n    sys.exit(0)", "SystemExit"),
    "cosine-weights": ("wanted = NAME = None\ndel NAME", "there is no"),
}
HOSTILE = {
    "scaled-scores": (
        "def NAME(query, key):\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass",
        "stopped: no answer within 3 seconds",
    ),
    "variance": (
        "hoard = []\nwhile True: hoard.append(bytearray(10**8))\nNAME = 576",
        "MemoryError: 256 MiB are all there is",
    ),
    "mended-weights": (
        "from glassformer.exercises import checking, slips\n"
        "checking.Check.judge = lambda *given: checking.Verdict('mine', 'right')\n"
        "slips.Slip.__init__ = lambda *given, **named: None\n"
        "exercises.CHECK = lambda *given, **named: None\n"
        "def NAME(query, key): return query @ key.T",
        "",
    ),
    "entropy": (
        "def NAME(weights):\n    while True: print('x' * 10_000)",
        "stopped: no answer within 3 seconds",
    ),
    "right-divisor": ("def NAME(d_k, variance):\n    import os\n    os._exit(0)", "ended without an answer"),
    "cosine-weights": (  # what stops the referee depends on who runs the grader
        "def NAME(query, key, scale):\n    import os, signal\n    os.kill(os.getppid(), signal.SIGKILL)",
        "the referee fell at this exercise|PermissionError",
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
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def without_hard_tests(notebook):
    """Empty one test, delete another, and claim many points for a third."""
    for name, change in (("scaled-scores", "pass"), ("right-divisor", "print('right')")):
        (cell,) = (each for each in notebook.cells if grade_id(each) == f"scaling-{name}-check")
        cell.source = change
        cell.metadata.nbgrader["points"] = 1000
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) != "scaling-cosine-weights-check"]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The course of one chapter, graded: its folder, the lines of grades.csv by student, what was printed."""
    course = tmp_path_factory.mktemp("course")
    make_course(course, "twenty-three", [SLUG])
    config = course / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}c.Judge.seconds_a_call = 3\nc.Judge.memory = 256\n")
    hand_in(course, "ada", {}, version="source")
    hand_in(course, "bob", WRONG)
    hand_in(course, "cyd", {})
    hand_in(course, "dan", CRASHING)
    hand_in(course, "eve", HOSTILE, without_hard_tests)
    broken = course / "submitted" / "fay" / SLUG
    broken.mkdir(parents=True)
    (broken / f"{SLUG}.ipynb").write_text("no notebook")
    large = course / "submitted" / "gus" / SLUG
    large.mkdir(parents=True)
    (large / f"{SLUG}.ipynb").write_text("x" * (LARGEST + 1))
    (course / "submitted" / "hal" / SLUG).mkdir(parents=True)
    (course / "submitted" / "ivo" / "scales").mkdir(parents=True)
    hand_in(course, "jon", {}, lambda notebook: notebook.cells.clear())
    (course / "submitted" / "kim").mkdir()
    (course / "submitted" / "kim" / f"{SLUG}.ipynb").write_text("in the wrong place")
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
def test_a_wrong_answer_gets_no_point_and_is_told_what_was_wrong(graded, student, answers):
    for name, line in graded[1][student].items():
        assert line["points"] == "0", name
        assert re.search(answers.get(name, ("", NOTHING))[1], line["message"])
        assert line["message"]


def test_an_empty_submission_is_met_as_not_begun(graded):
    assert all(NOTHING in line["message"] for line in graded[1]["cyd"].values())
    assert {line["points"] for line in graded[1]["cyd"].values()} == {"0"}


def test_what_cannot_be_graded_is_reported_in_words_and_the_others_are_graded(graded):
    _, grades, run = graded
    lines = dict(re.findall(r"^(\w+) · \w+: (.+)", run.stdout, re.MULTILINE))
    assert lines["ada"] == "11 of 11 points"
    assert lines["eve"] == "0 of 11 points"
    assert lines["fay"].startswith("not graded: ")
    assert lines["gus"] == "scaling.ipynb is larger than 10 MiB"
    assert lines["hal"] == "wanted scaling.ipynb, found nothing"
    assert lines["ivo"] == "the course has no assignment of that name: wanted one of scaling"
    assert lines["jon"] == "scaling.ipynb is the notebook of another chapter, or of none"
    assert "submitted/kim/scaling.ipynb: not graded: wanted submitted/<student>/" in run.stdout
    assert run.stdout.endswith("5 graded, 6 not: see above. Table: grades.csv\n")
    assert run.returncode == 1
    for student in ("fay", "gus", "hal", "ivo", "jon"):
        told = {(line["points"], line["message"]) for line in grades[student].values()}
        assert told == {("", lines[student])}
    assert "Traceback" not in run.stdout + run.stderr


def test_tests_that_a_student_changed_or_deleted_are_put_back(graded):
    course, _, _ = graded
    source = nbformat.read(course / "source" / SLUG / f"{SLUG}.ipynb", as_version=4)
    after = nbformat.read(course / "autograded" / "eve" / SLUG / f"{SLUG}.ipynb", as_version=4)
    sources = {grade_id(cell): cell.source for cell in after.cells}
    for cell in source.cells:
        if cell.metadata.nbgrader.grade:
            assert sources[grade_id(cell)].endswith(cell.source)


def test_nothing_of_the_learners_was_run_outside_the_referee(graded):
    after = nbformat.read(graded[0] / "autograded" / "eve" / SLUG / f"{SLUG}.ipynb", as_version=4)
    assert {grade_id(cell) for cell in after.cells if cell.get("outputs")} == {
        f"{exercise.label}-check" for exercise in EXERCISES.values()
    }


def job(*checks, seconds=60.0):
    exercise = {"trusted": [], "asked": [], "cells": []}
    exercises = [exercise | {"grade_id": str(number), "check": check} for number, check in enumerate(checks)]
    return json.dumps({"exercises": exercises, "limits": {}, "seconds": seconds})


def test_a_referee_that_falls_has_said_what_it_knew_and_where_it_fell(monkeypatch):
    monkeypatch.setenv("TOKEN_OF_THE_TEACHER", "very secret")
    unseen = "import os; assert 'TOKEN_OF_THE_TEACHER' not in os.environ"
    checks = ["x = 1", "assert False, 'no'", "assert False", unseen, "import os; os._exit(7)", "x = 2"]
    told, reason = run_referee(job(*checks), 60)
    assert told == {"0": "", "1": "no", "2": "a test of the instructor's fails", "3": ""}
    assert reason.startswith("the referee fell at this exercise")


def test_a_referee_that_takes_too_long_is_stopped():
    told, reason = run_referee(job("import time; time.sleep(1000)"), 1)
    assert (told, reason) == ({}, TIME_IS_UP)


def test_where_nothing_was_handed_in_the_grader_says_what_it_wants(graded):
    command = [sys.executable, "-m", "grader", "softmax"]
    run = subprocess.run(command, cwd=graded[0], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "wanted submitted/<student>/<assignment>/<assignment>.ipynb, found none" in run.stdout

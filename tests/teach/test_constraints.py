import functools

import pytest

from bookkit.chapters import read_chapter, slugs
from bookkit.course.assignments import make_assignment
from bookkit.course.grader.constraints import find_forbidden_import, forbidden_packages
from bookkit.course.grader.isolation import Limits
from bookkit.course.grader.judge import exercises
from bookkit.course.grader.referee import Exercise, judge
from bookkit.course.grader.statements import read_statements

PACKAGE = "glassformer"
HELD = {
    "softmax-stable": "from glassformer.reference.softmax import softmax as stable_softmax",
    "masks-decoder": "import glassformer.reference.masks as m\ndecoder_mask = m.decoder_mask",
    "heads-merge": "def merge(x):\n    return merge_heads(x)",
    "positions-table": "position_table = sinusoidal_positions",
    "block-layer-norm": "def my_layer_norm(x, scale, shift):\n    import glassformer\n    return glassformer",
}


@functools.cache
def jobs(slug):
    notebook = make_assignment(slug, "seven")
    return {each["grade_id"].removesuffix("-check"): each for each in exercises(notebook, notebook)}


def taken(slug, label, own):
    exercise = next(each for each in read_chapter(slug).exercises if each.label == label)
    given = [statement for cell in jobs(slug)[label]["trusted"] for statement in read_statements(cell)]
    return find_forbidden_import(PACKAGE, {exercise.attempt}, read_statements(own), given)


def everywhere():
    return [(slug, exercise) for slug in slugs() for exercise in read_chapter(slug).exercises]


def test_every_exercise_that_forbids_the_package_is_tested():
    named = {each.label for _, each in everywhere() if f"`{PACKAGE}`" in each.statement}
    found = {label for slug in slugs() for label, job in jobs(slug).items() if PACKAGE in job["without"]}
    assert found == named == {*HELD}


@pytest.mark.parametrize(
    "text", ["Write it without `torch`.", "Do **not use\n`torch`**.", "Without `torch`, do it"]
)
def test_forbidden_packages_are_read_from_the_text(text):
    assert forbidden_packages(text) == ["torch"]


@pytest.mark.parametrize("text", ["You may use `torch`.", "without a loop: `x`", "within `torch`"])
def test_allowed_packages_are_not_forbidden(text):
    assert forbidden_packages(text) == []


@pytest.mark.parametrize("label", HELD)
def test_an_answer_from_the_package_is_found_and_the_books_solution_is_not(label):
    slug, exercise = next((slug, each) for slug, each in everywhere() if each.label == label)
    assert taken(slug, label, HELD[label]).startswith(PACKAGE)
    assert taken(slug, label, exercise.solution) is None


MINE = "def merge(x):\n    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)\n"
SOFTMAX = "from glassformer.reference.softmax import"


@pytest.mark.parametrize(
    "own",
    [
        MINE + "import glassformer\nwanted = merge_heads(x)\nassert (merge(x) == wanted).all()",
        MINE + "exercises.check_merge(merge)",
        "from glassformer.data.vocabulary import PAD_ID\ndef merge(x, pad=PAD_ID): return x",
        f"{SOFTMAX} softmax\ndef softmax(x): return x\n{MINE}y = softmax(x)",
        "def merge_heads(x): return x\ndef merge(x): return merge_heads(x)",
        f"{SOFTMAX} *\n{MINE}",
        f"{SOFTMAX} *\ndef merge(x): return broken_attend(x)",
        f"{SOFTMAX} *\nfrom numpy import *\ndef merge(x): return concatenate(x)",
        f"{SOFTMAX} *\nimport numpy as np\ndef merge(x): return np.array(list(x))",
        "def merge(x):\n    softmax = x + x\n    return softmax",
        "def merge(x):\n    return broken_attend(x)",
        "import numpy, torch\nmerge = torch.vstack",
    ],
    ids=[
        "compares", "checks", "takes a constant", "writes its own", "hides the given one",
        "imports all, takes nothing", "imports all, takes what is given", "imports all of two",
        "uses its own import",
        "names a local so", "uses a given function", "uses others",
    ],
)  # fmt: skip
def test_an_honest_answer_is_not_accused(own):
    assert taken("multi_head_attention", "heads-merge", own) is None


@pytest.mark.parametrize(
    "own",
    [
        "import glassformer\nmerge = glassformer.reference.heads.merge_heads",
        "from glassformer import reference\ndef merge(x): return reference.heads.merge_heads(x)",
        "def helper(x): return merge_heads(x)\ndef merge(x): return helper(x)",
        "from glassformer.reference.heads import *\nmerge = join_heads",
        "class A:\n    def f(self, x): return merge_heads(x)\nmerge = A().f",
        "merge = lambda x: merge_heads(x)",
        "try:\n    from glassformer.reference.heads import merge_heads as merge\nexcept ImportError: pass",
    ],
)
def test_an_answer_that_depends_on_the_package_is_found_by_any_route(own):
    assert taken("multi_head_attention", "heads-merge", own).startswith(PACKAGE)


def test_a_subpackage_can_be_forbidden_alone():
    own = read_statements("from numpy import linalg, fft\nx = linalg.norm(fft.fft(y))")
    assert find_forbidden_import("numpy.fft", {"x"}, own, []) == "numpy.fft"
    assert find_forbidden_import("numpy.ff", {"x"}, own, []) is None


def test_the_referee_names_the_import_unless_the_answer_is_wrong():
    job = jobs("softmax")["softmax-stable"]

    given = "def given(x): return softmax(x)"

    def verdict(own):
        trusted = [*job["trusted"], given]
        return judge(Exercise(**{**job, "trusted": trusted, "cells": [*trusted, own]}), Limits(seconds=5), 30)

    assert verdict("stable_softmax = softmax") == (
        "the answer must not use `glassformer`, but it imports `glassformer.reference.softmax`"
    )
    assert "must not use" not in verdict("def stable_softmax(x): return softmax(x, axis=0)") != ""
    assert (
        verdict(next(e for e in read_chapter("softmax").exercises if e.label == "softmax-stable").solution)
        == ""
    )
    assert verdict("stable_softmax = given") == ""

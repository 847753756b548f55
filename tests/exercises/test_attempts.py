import ast
import importlib
import itertools
import re
from pathlib import Path

import jaxtyping
import numpy as np
import pytest
import torch

from bookkit.chapters import read_chapter, slugs
from glassformer import exercises
from glassformer.exercises import CHAPTERS, judge, list_checks

SOURCES = Path(exercises.__file__).parent
EXERCISES = [(slug, name) for slug in CHAPTERS for name in list_checks(slug)]
SEEDS = (0, 6)
FORMS = {
    "float32": lambda array: array.astype(np.float32) if array.dtype.kind == "f" else array,
    "float16": lambda array: array.astype(np.float16) if array.dtype.kind == "f" else array,
    "bfloat16": lambda array: torch.tensor(array).bfloat16() if array.dtype.kind == "f" else array,
    "list": lambda array: array.tolist(),
    "tensor": torch.tensor,
}
every_chapter = pytest.mark.parametrize("slug", CHAPTERS)
every_exercise = pytest.mark.parametrize(("slug", "name"), EXERCISES)


@pytest.fixture(autouse=True)
def no_type_checks(monkeypatch):
    """Judge as in a notebook, without checking types, which would take longer than the checks."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def attempts(slug):
    return importlib.import_module(f"attempts.{slug}")


def converted(attempt, convert):
    def run(*arguments):
        answer = attempt(*arguments)
        if isinstance(answer, tuple):
            return tuple(convert(np.asarray(part)) for part in answer)
        return convert(answer) if isinstance(answer, np.ndarray) else answer

    return run


@every_exercise
def test_a_right_answer_passes_in_every_style_and_with_every_seed(slug, name):
    for seed, (number, attempt) in itertools.product(SEEDS, enumerate(attempts(slug).RIGHT[name])):
        verdict = judge(slug, name, attempt, seed)
        assert verdict.state == "right", f"variant {number}, seed {seed}: {verdict}"


@pytest.mark.parametrize("convert", FORMS.values(), ids=FORMS.keys())
@every_chapter
def test_a_right_answer_passes_in_every_precision_as_a_list_and_as_a_tensor(slug, convert):
    for name, (attempt, *_) in attempts(slug).RIGHT.items():
        if callable(attempt):
            verdict = judge(slug, name, converted(attempt, convert))
            assert verdict.state == "right", verdict


@pytest.mark.parametrize("seed", SEEDS)
@every_exercise
def test_each_wrong_answer_gets_its_own_message_with_every_seed(slug, name, seed):
    messages = set()
    for message, attempt in attempts(slug).WRONG[name].items():
        verdict = judge(slug, name, attempt, seed)
        assert verdict.state == "wrong", message
        assert message in verdict.slip.message, f"{message}: {verdict}"
        messages.add(verdict.slip.message)
    assert len(messages) == len(attempts(slug).WRONG[name])


@every_exercise
def test_every_check_is_tried_with_at_least_five_wrong_answers(slug, name):
    assert len(attempts(slug).WRONG[name]) >= 5


@every_chapter
def test_every_exercise_has_example_answers_in_the_chapters_order(slug):
    right, wrong = attempts(slug).RIGHT, attempts(slug).WRONG
    assert list(right) == list(wrong) == list(list_checks(slug))


@every_chapter
def test_every_chapter_has_at_least_ten_right_answers(slug):
    assert sum(map(len, attempts(slug).RIGHT.values())) >= 10


@every_exercise
def test_an_attempt_not_started_is_neither_right_nor_wrong(slug, name):
    assert judge(slug, name, ...).state == "not started"
    if callable(attempts(slug).RIGHT[name][0]):
        assert judge(slug, name, lambda *arguments: ...).state == "not started"


@every_chapter
def test_each_section_named_by_a_check_is_a_heading_of_the_chapter(slug):
    cells = [cell.source for cell in read_chapter(slug).cells if cell.cell_type == "markdown"]
    headings = re.findall(r"^#{2,3} (.+)$", "\n".join(cells), re.M)
    source = (SOURCES / f"{slug}.py").read_text(encoding="utf-8")
    sections = [node.value for node in ast.walk(ast.parse(source)) if getattr(node, "arg", "") == "see"]
    assert len(sections) >= len(list_checks(slug))
    for section in sections:
        assert isinstance(section, ast.Constant), ast.unparse(section)
        assert section.value in headings


@every_chapter
def test_a_check_draws_only_from_the_generator_that_it_is_given(slug):
    source = (SOURCES / f"{slug}.py").read_text(encoding="utf-8")
    assert "default_rng" not in source


def test_the_registry_lists_the_chapters_of_the_book_in_order():
    assert list(CHAPTERS) == slugs()


@every_chapter
def test_an_exercise_is_named_like_its_check(slug):
    assert [exercise.check for exercise in read_chapter(slug).exercises] == [
        f"check_{exercise.attempt}" for exercise in read_chapter(slug).exercises
    ]


@every_chapter
def test_checks_come_in_the_order_of_the_exercises(slug):
    assert [exercise.attempt for exercise in read_chapter(slug).exercises] == list(list_checks(slug))

import ast
import importlib
import itertools
import re
from pathlib import Path

import jaxtyping
import nbformat
import numpy as np
import pytest
import torch

from glassformer.exercises import CHAPTERS, judge, list_checks

ROOT = Path(__file__).parents[2]
MIGRATED = [slug for slug in CHAPTERS if (ROOT / f"tests/helpers/attempts/{slug}.py").exists()]
EXERCISES = [(slug, name) for slug in MIGRATED for name in list_checks(slug)]
SEEDS = (0, 6)
DRESSES = {
    "float32": lambda array: array.astype(np.float32) if array.dtype.kind == "f" else array,
    "float16": lambda array: array.astype(np.float16) if array.dtype.kind == "f" else array,
    "bfloat16": lambda array: torch.tensor(array).bfloat16() if array.dtype.kind == "f" else array,
    "list": lambda array: array.tolist(),
    "tensor": torch.tensor,
}


@pytest.fixture(autouse=True)
def unchecked(monkeypatch):
    """Judge as a learner is judged: without the types checked, which would take longer than the judgement."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def attempts(slug):
    return importlib.import_module(f"attempts.{slug}")


def in_dress(attempt, dressed):
    def run(*arguments):
        answer = attempt(*arguments)
        if isinstance(answer, tuple):
            return tuple(dressed(np.asarray(part)) for part in answer)
        return dressed(answer) if isinstance(answer, np.ndarray) else answer

    return run


def chapter(slug):
    (path,) = (ROOT / "chapters").glob(f"[0-9][0-9]_{slug}.ipynb")
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize(("slug", "name"), EXERCISES)
def test_a_right_answer_passes_however_it_is_written_and_whatever_is_drawn(slug, name):
    for seed, (number, attempt) in itertools.product(SEEDS, enumerate(attempts(slug).RIGHT[name])):
        verdict = judge(slug, name, attempt, seed)
        assert verdict.state == "right", f"variant {number}, seed {seed}: {verdict}"


@pytest.mark.parametrize("dressed", DRESSES.values(), ids=DRESSES.keys())
@pytest.mark.parametrize("slug", MIGRATED)
def test_a_right_answer_passes_in_any_precision_as_a_list_and_as_a_tensor(slug, dressed):
    for name, (attempt, *_) in attempts(slug).RIGHT.items():
        if callable(attempt):
            verdict = judge(slug, name, in_dress(attempt, dressed))
            assert verdict.state == "right", verdict


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("slug", "name"), EXERCISES)
def test_at_least_five_wrong_answers_are_met_each_with_its_own_message_whatever_is_drawn(slug, name, seed):
    told = set()
    for message, attempt in attempts(slug).WRONG[name].items():
        verdict = judge(slug, name, attempt, seed)
        assert verdict.state == "wrong", message
        assert message in verdict.slip.message, f"{message}: {verdict}"
        told.add(verdict.slip.message)
    assert len(told) == len(attempts(slug).WRONG[name]) >= 5


@pytest.mark.parametrize("slug", MIGRATED)
def test_every_exercise_has_its_answers_and_each_chapter_at_least_ten_right_ones(slug):
    right, wrong = attempts(slug).RIGHT, attempts(slug).WRONG
    assert list(right) == list(wrong) == list(list_checks(slug))
    assert sum(map(len, right.values())) >= 10


@pytest.mark.parametrize(("slug", "name"), EXERCISES)
def test_an_answer_not_begun_is_neither_right_nor_wrong(slug, name):
    assert judge(slug, name, ...).state == "not begun"
    if callable(attempts(slug).RIGHT[name][0]):
        assert judge(slug, name, lambda *arguments: ...).state == "not begun"


@pytest.mark.parametrize("slug", MIGRATED)
def test_each_section_to_look_at_again_is_a_heading_of_the_chapter(slug):
    headings = re.findall(
        r"^#{2,3} (.+)$", "\n".join(c.source for c in chapter(slug).cells if c.cell_type == "markdown"), re.M
    )
    source = (ROOT / f"src/glassformer/exercises/{slug}.py").read_text(encoding="utf-8")
    named = [node.value for node in ast.walk(ast.parse(source)) if getattr(node, "arg", "") == "see"]
    assert len(named) >= len(list_checks(slug))
    for section in named:
        assert isinstance(section, ast.Constant), ast.unparse(section)
        assert section.value in headings


@pytest.mark.parametrize("slug", MIGRATED)
def test_no_chance_is_left_to_a_module(slug):
    source = (ROOT / f"src/glassformer/exercises/{slug}.py").read_text(encoding="utf-8")
    assert "default_rng" not in source


def test_the_chapters_of_the_exercises_are_those_of_the_book():
    assert list(CHAPTERS) == [path.stem[3:] for path in sorted((ROOT / "chapters").glob("*.ipynb"))]


@pytest.mark.parametrize("slug", CHAPTERS)
def test_an_attempt_has_the_name_of_its_check_and_they_stand_in_the_order_of_the_chapter(slug):
    cells = [cell.source for cell in chapter(slug).cells if "exercise" in cell.metadata.get("tags", [])]
    calls = [re.search(r"exercises\.check_(\w+)\((\w+)\)$", source).groups() for source in cells]
    assert [check for check, _ in calls] == [attempt for _, attempt in calls]
    if slug in MIGRATED:
        assert [check for check, _ in calls] == list(list_checks(slug))

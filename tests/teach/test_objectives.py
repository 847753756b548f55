"""Every objective has an exercise, a quiz question and a slide; every exercise has an objective."""

import importlib
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from bookkit.chapters import read_chapter, slugs
from bookkit.objectives import SERVERS, exercise_titles, read_objectives, read_questions, slide_titles

ROOT = Path(__file__).parents[2]
FILE = ROOT / "teach/objectives.yml"
every_chapter = pytest.mark.parametrize("slug", slugs())


@cache
def objectives():
    return read_objectives(FILE)


def existing(slug):
    """Labels of the exercises, and ids of the questions and slides, of a chapter."""
    return {
        "exercises": {exercise.label for exercise in read_chapter(slug).exercises},
        "questions": {question.id for question in asked(slug)},
        "slides": set(slide_titles(slug)),
    }


def asked(slug):
    return importlib.import_module(f"glassformer.quizzes.{slug}").QUESTIONS


def test_the_objectives_are_in_the_order_of_the_chapters():
    assert list(objectives()) == slugs()


@every_chapter
def test_a_chapter_has_four_to_six_objectives_of_one_sentence(slug):
    assert 4 <= len(objectives()[slug]) <= 6
    for objective in objectives()[slug]:
        assert re.fullmatch(r"[A-Z][^.]*\.", objective.text), f"{objective.id}: {objective.text!r}"


def test_ids_are_unique():
    ids = [objective.id for chapter in objectives().values() for objective in chapter]
    assert sorted(set(ids)) == sorted(ids)


@every_chapter
def test_every_objective_has_an_existing_exercise_question_and_slide(slug):
    there = existing(slug)
    faults = []
    for objective in objectives()[slug]:
        for kind in SERVERS:
            named = getattr(objective, kind)
            if not named:
                faults.append(f"{objective.id} has no {kind}")
            faults += [
                f"{objective.id} names {id}, which is none of the {kind}" for id in set(named) - there[kind]
            ]
    assert not faults, "\n".join(faults)


@every_chapter
def test_every_exercise_and_every_question_serves_an_objective(slug):
    there = existing(slug)
    for kind in ("exercises", "questions"):
        named = {id for objective in objectives()[slug] for id in getattr(objective, kind)}
        assert not there[kind] - named, (
            f"{slug}: no objective is served by the {kind} {sorted(there[kind] - named)}"
        )


@every_chapter
def test_the_parsed_questions_are_those_of_the_quiz(slug):
    assert list(read_questions(slug).items()) == [(question.id, question.text) for question in asked(slug)]


@every_chapter
def test_the_target_of_a_question_link_exists_in_the_chapter(slug):
    assert any(cell.source.startswith("## Check yourself") for cell in read_chapter(slug).cells)


@every_chapter
def test_every_slide_has_a_title(slug):
    assert all(slide_titles(slug).values())


def test_displayed_titles_of_exercises_are_unique():
    titles = exercise_titles()
    assert len(set(titles.values())) == len(titles)
    assert titles["masks-pairs"] == "How many pairs?"


def test_a_title_that_two_chapters_share_is_followed_by_the_chapter(monkeypatch):
    chapters = [
        SimpleNamespace(number=number, exercises=[SimpleNamespace(label=label, title=title)])
        for number, label, title in ((4, "a", "Fix it"), (5, "b", "Fix it"), (6, "c", "Find it"))
    ]
    monkeypatch.setattr("bookkit.objectives.read_chapters", lambda: chapters)
    assert exercise_titles.__wrapped__() == {
        "a": "Fix it (chapter 4)",
        "b": "Fix it (chapter 5)",
        "c": "Find it",
    }


def test_an_incomplete_objective_is_refused(tmp_path):
    path = tmp_path / "objectives.yml"
    path.write_text("masks:\n  - {id: masks-build, text: Build masks., exercises: [], slides: []}\n")
    with pytest.raises(ValueError, match=r"objectives\.yml, masks: an objective must have .*questions"):
        read_objectives(path)

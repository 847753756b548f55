"""The notes for teachers: lesson plans with quiz, exercises and slides that fill the time."""

import re
from pathlib import Path

import pytest

from bookkit.chapters import CHAPTERS, read_chapter
from bookkit.lesson_plans import find_parts, read_plan
from bookkit.slides.scripts import list_scripts, read_slides

NOTES = Path(__file__).parents[2] / "teach/notes"
WORDS = {"two": 2, "three": 3, "four": 4}
every_chapter = pytest.mark.parametrize("chapter", sorted(path.stem for path in CHAPTERS.glob("*.ipynb")))


def parts(chapter):
    """The three parts of the notes: timing, discussion and difficulties."""
    text = (NOTES / f"{chapter}.md").read_text(encoding="utf-8")
    heads = re.findall(r"^#+ .*", text, re.MULTILINE)
    assert heads == ["## For teachers", "### Timing", "### To discuss", "### Where they will stumble"]
    return re.split(r"^### .*", text, flags=re.MULTILINE)[1:]


def test_every_chapter_has_notes_and_every_note_a_chapter():
    assert {path.stem for path in NOTES.iterdir()} == {path.stem for path in CHAPTERS.glob("*.ipynb")}


def slug_of(chapter):
    return chapter.split("_", 1)[1]


@every_chapter
def test_the_parts_fill_each_lesson_of_the_plan(chapter):
    many, minutes = re.search(r"A plan for (\w+) lessons of (\d+) minutes", parts(chapter)[0]).groups()
    plan = read_plan(slug_of(chapter))
    assert len(plan) == WORDS[many]
    for lesson in plan:
        assert sum(part.minutes for part in lesson.parts) == lesson.minutes == int(minutes), lesson.name


@every_chapter
def test_the_plan_is_read_to_its_last_row(chapter):
    rows = re.findall(r"^\| .*\d.*", parts(chapter)[0], re.MULTILINE)
    assert len(rows) == sum(1 + len(lesson.parts) for lesson in read_plan(slug_of(chapter)))


@every_chapter
def test_the_last_lesson_opens_with_the_quiz_and_has_exercises_of_the_chapter(chapter):
    *before, last = read_plan(slug_of(chapter))
    assert (last.parts[0].name, last.parts[0].minutes) == ("the quiz", 5)
    assert not any(part.exercises for lesson in before for part in lesson.parts)
    minutes = {exercise.label: exercise.minutes for exercise in read_chapter(slug_of(chapter)).exercises}
    (practice,) = (part for part in last.parts if part.exercises)
    assert practice.minutes == sum(minutes[label] for label in practice.exercises)


def deck_of(chapter):
    (script,) = (path for path in list_scripts() if path.stem == chapter)
    return script


@every_chapter
def test_the_deck_follows_the_plan_slide_by_slide(chapter):
    shown = [id for lesson in read_plan(slug_of(chapter)) for part in lesson.parts for id in part.slides]
    assert shown == [slide.id for slide in read_slides(deck_of(chapter))]


@every_chapter
def test_a_part_has_at_least_the_minutes_of_its_slides(chapter):
    needs = {slide.id: slide.minutes for slide in read_slides(deck_of(chapter))}
    for lesson in read_plan(slug_of(chapter)):
        for part in lesson.parts:
            assert sum(needs[id] for id in part.slides) <= part.minutes, part.name


@every_chapter
def test_the_exercise_of_the_deck_is_one_for_the_class(chapter):
    (label,) = re.findall(r"\{exercise\} ([\w-]+)", deck_of(chapter).read_text(encoding="utf-8"))
    assert label in {label for part in read_plan(slug_of(chapter))[-1].parts for label in part.exercises}


@every_chapter
def test_a_single_lesson_has_at_most_45_minutes(chapter):
    (taken,) = re.findall(r"With one lesson only: \{parts\}`([^`]+)`", parts(chapter)[0])
    assert taken.startswith(f"{slug_of(chapter)}: ")
    assert 30 <= sum(part.minutes for part in find_parts(taken)) <= 45


def test_an_unknown_part_is_named():
    with pytest.raises(ValueError, match=r"plan of masks has no part 'the clock'"):
        find_parts("masks: the prediction; the clock")
    with pytest.raises(ValueError, match=r"no notes for teachers on 'mask'"):
        find_parts("mask: the prediction")


@every_chapter
def test_the_stated_minutes_are_those_of_the_chapter(chapter):
    stated = re.search(r"about (\d+) minutes, all exercises (\d+)", parts(chapter)[0])
    reading, exercises = map(int, stated.groups())
    told = read_chapter(slug_of(chapter))
    assert reading == told.stated_minutes
    assert exercises == sum(exercise.minutes for exercise in told.exercises)


@every_chapter
def test_three_or_four_discussion_prompts_each_have_an_answer(chapter):
    prompts = re.split(r"^- ", parts(chapter)[1], flags=re.MULTILINE)[1:]
    assert 3 <= len(prompts) <= 4
    for prompt in prompts:
        asked, found = re.match(r"\*\*(.+?)\*\*(.+)", prompt, re.DOTALL).groups()
        assert asked.endswith((".", "?"))
        assert len(found.split()) > 10


@every_chapter
def test_the_difficulties_follow_the_chapters_exercises(chapter):
    named = re.findall(r"^\{ref\}`([\w-]+)`\n: ", parts(chapter)[2], re.MULTILINE)
    assert named == [exercise.label for exercise in read_chapter(slug_of(chapter)).exercises]


@every_chapter
def test_the_notes_are_neither_short_nor_long(chapter):
    lines = (NOTES / f"{chapter}.md").read_text(encoding="utf-8").splitlines()
    assert 40 <= len(lines) <= 80

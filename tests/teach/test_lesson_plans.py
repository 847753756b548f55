"""The notes for teachers on each chapter: a plan that fills two lessons, and all of its exercises."""

import re
from pathlib import Path

import pytest

from chapters import CHAPTERS, read_exercises

NOTES = Path(__file__).parents[2] / "teach/notes"
LESSONS = 2 * 45
every_chapter = pytest.mark.parametrize("chapter", sorted(path.stem for path in CHAPTERS.glob("*.ipynb")))


def parts(chapter):
    """The notes' timing, what is to be discussed, and where learners stumble."""
    text = (NOTES / f"{chapter}.md").read_text(encoding="utf-8")
    heads = re.findall(r"^#+ .*", text, re.MULTILINE)
    assert heads == ["## For teachers", "### Timing", "### To discuss", "### Where they will stumble"]
    return re.split(r"^### .*", text, flags=re.MULTILINE)[1:]


def test_every_chapter_has_notes_and_there_are_no_others():
    assert {path.stem for path in NOTES.iterdir()} == {path.stem for path in CHAPTERS.glob("*.ipynb")}


@every_chapter
def test_the_plan_fills_two_lessons(chapter):
    minutes = [int(row) for row in re.findall(r"^\| [^|]+ \| (\d+) \|", parts(chapter)[0], re.MULTILINE)]
    assert sum(minutes) == LESSONS


@every_chapter
def test_the_minutes_of_reading_and_of_the_exercises_are_those_of_the_chapter(chapter):
    stated = re.search(r"about (\d+) minutes, all exercises (\d+)", parts(chapter)[0])
    reading, exercises = map(int, stated.groups())
    text = (CHAPTERS / f"{chapter}.ipynb").read_text(encoding="utf-8")
    assert reading == int(re.search(r"\*\*About (\d+) minutes", text)[1])
    assert exercises == sum(exercise.minutes for exercise in read_exercises(chapter.split("_", 1)[1]))


@every_chapter
def test_three_or_four_things_are_to_be_discussed_each_with_what_a_good_discussion_finds(chapter):
    prompts = re.split(r"^- ", parts(chapter)[1], flags=re.MULTILINE)[1:]
    assert 3 <= len(prompts) <= 4
    for prompt in prompts:
        asked, found = re.match(r"\*\*(.+?)\*\*(.+)", prompt, re.DOTALL).groups()
        assert asked.endswith((".", "?"))
        assert len(found.split()) > 10


@every_chapter
def test_the_difficulties_are_those_of_the_chapters_exercises_in_their_order(chapter):
    named = re.findall(r"^\{ref\}`([\w-]+)`\n: ", parts(chapter)[2], re.MULTILINE)
    assert named == [exercise.label for exercise in read_exercises(chapter.split("_", 1)[1])]


@every_chapter
def test_the_notes_are_neither_thin_nor_long(chapter):
    lines = (NOTES / f"{chapter}.md").read_text(encoding="utf-8").splitlines()
    assert 40 <= len(lines) <= 80

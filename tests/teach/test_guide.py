"""The example of a first lesson fits its time, and what the guide counts is right."""

import importlib
import re
from pathlib import Path

from bookkit.chapters import all_exercises, read_chapters, slugs
from bookkit.lesson_plans import find_parts, read_plan

PAGE = (Path(__file__).parents[2] / "teach/guide.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.split("\n## A first lesson, as an example\n")[1].split("\n## ")[0]


def test_the_first_lesson_fits_45_minutes_and_follows_the_plan():
    (name,) = {name.split(":")[0] for name in re.findall(r"\{parts\}`([^`]+)`", EXAMPLE)}
    taken = [part for text in re.findall(r"\{parts\}`([^`]+)`", EXAMPLE) for part in find_parts(text)]
    exercises = re.search(r"\{exercises\}`([^`]+)`", EXAMPLE)[1].split()
    minutes = sum(all_exercises()[label].minutes for label in exercises)
    assert 40 <= sum(part.minutes for part in taken) + minutes <= 45
    planned = [part for lesson in read_plan(name) for part in lesson.parts]
    assert taken == [part for part in planned if part in taken]


def test_plans_have_three_lessons_except_in_the_two_named_chapters():
    short = {str(chapter.number) for chapter in read_chapters() if len(read_plan(chapter.slug)) == 2}
    assert all(len(read_plan(slug)) in (2, 3) for slug in slugs())
    assert set(re.search(r"\(two in chapters (\d+) and (\d+)\)", PAGE).groups()) == short


def test_a_quiz_has_five_or_six_questions():
    assert "five or six questions" in PAGE
    counts = {len(importlib.import_module(f"glassformer.quizzes.{slug}").QUESTIONS) for slug in slugs()}
    assert counts == {5, 6}

"""The three courses: no gaps, plans that fit their time, and every exercise used once."""

import re
from pathlib import Path

import pytest

from bookkit.chapters import all_exercises, read_chapters
from bookkit.lesson_plans import find_parts, read_plan

PAGE = (Path(__file__).parents[2] / "teach/syllabus.md").read_text(encoding="utf-8")
DAY, WEEKS, TERM = (
    PAGE.split(f"\n## {course}\n")[1].split("```")[1] for course in ("One day", "Four weeks", "Twelve weeks")
)
EXERCISES = all_exercises()


def rows(table):
    """The body rows of a list-table as lists of cells."""
    return [re.split(r"\n  - ?", row) for row in table.split("\n* - ")[2:]]


def labels(text):
    return [label for role in re.findall(r"\{exercises\}`([^`]+)`", text) for label in role.split()]


def minutes(text):
    return sum(EXERCISES[label].minutes for label in labels(text))


def parts_in(text):
    return [part for role in re.findall(r"\{parts\}`([^`]+)`", text) for part in find_parts(role)]


def minutes_of_parts(text):
    return sum(part.minutes for part in parts_in(text))


def minutes_of(slug, *parts):
    """The minutes of those parts of a chapter's last lesson whose names begin with a prefix."""
    return sum(part.minutes for part in read_plan(slug)[-1].parts if part.name.startswith(parts))


def left_out():
    """Labels of the exercises that the four weeks leave out."""
    patterns = re.search(r"\{minutes\}`(begin-\* [^`]+)`", PAGE)[1].split()
    return {label for label in EXERCISES if any(re.fullmatch(p.replace("*", ".*"), label) for p in patterns)}


def test_the_table_of_chapters_lists_them_in_order_with_their_times():
    table = PAGE.split("\n## The chapters at a glance\n")[1].split("```")[1]
    *chapters, total = rows(table)
    assert len(chapters) == len(read_chapters())
    for (name, _, needs, minutes), chapter in zip(chapters, read_chapters(), strict=True):
        assert name == f"{chapter.number}. {{doc}}`../{chapter.docname}`"
        assert all(int(number) < chapter.number for number in re.findall(r"\d+", needs))
        slug, prefix = re.fullmatch(
            r"reading \{reading\}`(\w+)`, exercises \{minutes\}`([\w-]+)\*`", minutes
        ).groups()
        assert slug == chapter.slug
        own = {exercise.label for exercise in chapter.exercises}
        assert {label for label in EXERCISES if label.startswith(prefix)} == own
    assert total[-1].strip() == "reading {reading}`*`, exercises {minutes}`*`"


def test_the_day_has_no_gaps():
    clock = None
    for at, length, *_ in rows(DAY):
        hours, past = map(int, at.split(":"))
        assert clock in (None, 60 * hours + past), at
        clock = 60 * hours + past + int(length)
    assert clock == 17 * 60


def test_the_parts_and_the_exercises_of_a_lesson_of_the_day_fit_its_minutes():
    for at, length, lesson, exercises in rows(DAY):
        assert minutes_of_parts(lesson) + minutes(exercises) <= int(length), at
        assert bool(labels(exercises)) == ("{parts}" in lesson), at


def test_at_most_half_of_a_lesson_of_the_day_is_exercises():
    for at, length, *cells in rows(DAY):
        assert 2 * minutes(cells[-1]) <= int(length), at


def test_the_day_says_how_many_minutes_are_exercises():
    stated = PAGE.split("## One day")[1].split("{minutes}`")[1].split("`")[0].split()
    assert sorted(stated) == sorted(labels(DAY))


def test_a_lesson_of_the_four_weeks_has_at_most_30_minutes_of_exercises_and_45_of_homework():
    for lesson, _, exercises in rows(WEEKS):
        in_class, homework = exercises.split("*At home:*")
        assert minutes(in_class) <= 30, lesson
        assert minutes(homework) <= 45, lesson


def test_the_quiz_the_parts_and_the_exercises_of_a_lesson_of_the_four_weeks_fit_90_minutes():
    assert len(rows(WEEKS)) == 8
    for lesson, chapters, exercises in rows(WEEKS):
        slugs = re.findall(r"chapters/\d\d_(\w+)>`", chapters)
        assert slugs == re.findall(r"\{parts\}`(\w+):", chapters), lesson
        in_class = minutes(exercises.split("*At home:*")[0])
        assert minutes_of(slugs[0], "the quiz") + minutes_of_parts(chapters) + in_class <= 90, lesson


@pytest.mark.parametrize("course", [DAY, WEEKS], ids=["day", "weeks"])
def test_no_part_is_used_twice(course):
    assert len(set(parts_in(course))) == len(parts_in(course)) > 0


def test_the_four_weeks_list_every_exercise_once_as_planned_or_omitted():
    planned = labels(WEEKS)
    assert len(set(planned)) == len(planned)
    assert set(planned) | left_out() == set(EXERCISES)
    assert not set(planned) & left_out()


def test_the_twelve_weeks_hold_every_exercise_once():
    assert sorted(labels(TERM)) == sorted(EXERCISES)


@pytest.mark.parametrize("row", rows(TERM), ids=lambda row: f"week {row[0]}")
def test_a_week_keeps_to_its_chapter_and_leaves_time_in_the_lab(row):
    week, chapter, exercises = row
    lab, homework = exercises.split("*At home:*")
    slug = re.search(r"chapters/(\d\d_\w+)`", chapter)[1]
    assert slug.startswith(f"{int(week):02}_")
    given = labels(lab) + labels(homework)
    prefixes = {label.split("-")[0] for label in given}
    assert len(prefixes) == 1
    assert len(given) == sum(label.split("-")[0] in prefixes for label in EXERCISES)
    assert minutes(lab) <= 45
    assert minutes(homework) <= 45


@pytest.mark.parametrize("row", rows(TERM), ids=lambda row: f"week {row[0]}")
def test_a_lecture_takes_two_lessons_of_the_plan_and_the_lab_the_third(row):
    week, chapter, exercises = row
    slug = re.search(r"chapters/\d\d_(\w+)`", chapter)[1]
    *lecture, last = read_plan(slug)
    lab = exercises.split("*At home:*")[0]
    assert sum(lesson.minutes for lesson in lecture) == (45 if week in ("0", "13") else 90)
    assert {label for part in last.parts for label in part.exercises} <= set(labels(lab))
    assert minutes_of(slug, "the quiz", "one question", "take-aways") + 1.5 * minutes(lab) <= 90


def test_two_chapters_fit_the_week_that_replaces_a_lost_one():
    told = PAGE.split("*If a week is lost*")[1].split("If two weeks")[0]
    assert minutes_of_parts(told) <= 90
    quizzes = minutes_of("scaling", "the quiz") + minutes_of("softmax", "the quiz")
    assert quizzes + 1.5 * minutes(told) <= 90

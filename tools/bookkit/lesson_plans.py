"""Read the lesson plans: the tables in ``teach/notes/NN_<slug>.md`` with each lesson's parts and minutes."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from bookkit.chapters import ROOT

NOTES = ROOT / "teach/notes"

_LESSON = re.compile(r"\*\*(.+)\*\*")


@dataclass(frozen=True)
class Part:
    """A part of a lesson, with its minutes, the ids of its slides and the labels of its exercises."""

    name: str
    minutes: int
    slides: tuple[str, ...]
    exercises: tuple[str, ...]


@dataclass(frozen=True)
class Lesson:
    """A lesson of a plan, with the minutes stated for it."""

    name: str
    minutes: int
    parts: list[Part] = field(default_factory=list)


def read_plan(slug: str) -> list[Lesson]:
    """Read the plan of a chapter's lessons.

    Raises:
        ValueError: the chapter has no notes, or its first row is not a lesson.
    """
    path = _notes_on(slug)
    lessons: list[Lesson] = []
    for name, minutes, slides, _ in _rows(path):
        if bold := _LESSON.fullmatch(name):
            lessons.append(Lesson(bold[1], int(minutes.strip("*"))))
        elif not lessons:
            raise ValueError(f"{path.name}: the first row must be a lesson, got {name!r}")
        else:
            part = Part(name, int(minutes), _named("slides", slides), _named("exercises", name))
            lessons[-1].parts.append(part)
    return lessons


def find_parts(text: str) -> list[Part]:
    """Find parts of a plan by name, as in ``masks: the prediction; combining masks``.

    Raises:
        ValueError: the chapter's plan has no part of such a name.
    """
    slug, _, names = text.partition(": ")
    parts = {part.name: part for lesson in read_plan(slug) for part in lesson.parts}
    requested = [name.strip() for name in names.split(";")]
    if missing := [name for name in requested if name not in parts]:
        raise ValueError(f"the plan of {slug} has no part {missing[0]!r}, only {'; '.join(parts)}")
    return [parts[name] for name in requested]


def _notes_on(slug: str) -> Path:
    found = [path for path in NOTES.glob("*.md") if path.stem.split("_", 1)[1] == slug]
    if not found:
        raise ValueError(f"there are no notes for teachers on {slug!r}")
    return found[0]


def _rows(path: Path) -> list[list[str]]:
    """Return the cells of the plan's table without its head."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


def _named(role: str, text: str) -> tuple[str, ...]:
    found = re.search(rf"\{{{role}\}}`([^`]+)`", text)
    return tuple(found[1].split()) if found else ()

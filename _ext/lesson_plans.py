"""The plans of lessons in the notes for teachers, and what the courses take from them.

A plan is the table in ``teach/notes/NN_<slug>.md``: lessons, their parts, the minutes and the slides of each.

- ``{parts}`masks: the prediction; masks that join` `` becomes the names of these parts of a chapter's plan,
  and the minutes that they take together.
- ``{slides}`masks-join masks-edit` `` becomes the numbers of these slides in their deck.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

sys.path.append(str(Path(__file__).parents[1] / "teach/kit"))  # where the one reader of slides lives

from slide_scripts import SCRIPTS, list_scripts, read_slides

logger = logging.getLogger(__name__)

NOTES = SCRIPTS.parent / "notes"
TABLE_CLASS = "stacked"  # on a telephone, a row becomes a paragraph for each cell

_LESSON = re.compile(r"\*\*(.+)\*\*")


@dataclass(frozen=True)
class Part:
    """A part of a lesson: what it is about, how long it takes, and by which slides and exercises."""

    name: str
    minutes: int
    slides: tuple[str, ...]
    exercises: tuple[str, ...]


@dataclass(frozen=True)
class Lesson:
    """A lesson of a plan, with the minutes that it says it has."""

    name: str
    minutes: int
    parts: list[Part] = field(default_factory=list)


def read_plan(slug: str) -> list[Lesson]:
    """Read the plan of a chapter's lessons.

    Raises:
        ValueError: there are no notes on such a chapter, or a part stands before the first lesson.
    """
    path = _notes_on(slug)
    lessons: list[Lesson] = []
    for name, minutes, slides, _ in _rows(path):
        if bold := _LESSON.fullmatch(name):
            lessons.append(Lesson(bold[1], int(minutes.strip("*"))))
        elif not lessons:
            raise ValueError(f"{path.name}: wanted a row with a lesson first, got {name!r}")
        else:
            part = Part(name, int(minutes), _named("slides", slides), _named("exercises", name))
            lessons[-1].parts.append(part)
    return lessons


def _notes_on(slug: str) -> Path:
    found = [path for path in NOTES.glob("*.md") if path.stem.split("_", 1)[1] == slug]
    if not found:
        raise ValueError(f"there are no notes for teachers on {slug!r}")
    return found[0]


def _rows(path: Path) -> list[list[str]]:
    """The cells of the plan's table, without its head."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


def _named(role: str, text: str) -> tuple[str, ...]:
    found = re.search(rf"\{{{role}\}}`([^`]+)`", text)
    return tuple(found[1].split()) if found else ()


def taken_parts(text: str) -> list[Part]:
    """Find the parts that a course takes: ``masks: the prediction; masks that join``.

    Raises:
        ValueError: the chapter's plan has no part of such a name.
    """
    slug, _, names = text.partition(": ")
    parts = {part.name: part for lesson in read_plan(slug) for part in lesson.parts}
    wanted = [name.strip() for name in names.split(";")]
    if missing := [name for name in wanted if name not in parts]:
        raise ValueError(f"the plan of {slug} has no part {missing[0]!r}, only {'; '.join(parts)}")
    return [parts[name] for name in wanted]


class PartsRole(SphinxRole):
    """Parts of a chapter's plan by their names, and the minutes that they take together."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Set the names and the sum."""
        for path in NOTES.glob("*.md"):
            self.env.note_dependency(str(path))
        try:
            parts = taken_parts(self.text)
        except ValueError as error:
            logger.warning("%s", error, location=self.get_location())
            return [], []
        names = "; ".join(part.name for part in parts)
        return [nodes.Text(f"{names} ({sum(part.minutes for part in parts)} minutes)")], []


class SlidesRole(SphinxRole):
    """The numbers of slides in the deck that has them."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Set the numbers."""
        numbers: dict[str, int] = {}
        for script in list_scripts():
            self.env.note_dependency(str(script))
            numbers |= {slide.id: number for number, slide in enumerate(read_slides(script), 1)}
        ids = self.text.split()
        if missing := [id for id in ids if id not in numbers]:
            logger.warning("there is no slide %r", missing[0], location=self.get_location())
            return [], []
        return [nodes.Text(_ranges([numbers[id] for id in ids]))], []


def _ranges(numbers: list[int]) -> str:
    """Write 3, 4, 5, 8 as 3–5, 8."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def stack_plans(app: Sphinx, doctree: nodes.document) -> None:
    """Let the tables of the notes become paragraphs on a telephone."""
    for section in doctree.findall(nodes.section):
        if "for-teachers" in section["ids"]:
            for table in section.findall(nodes.table):
                table["classes"] += [TABLE_CLASS, "plan"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the roles, and mark the plans."""
    app.add_role("parts", PartsRole())
    app.add_role("slides", SlidesRole())
    app.connect("doctree-read", stack_plans)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""What a learner can do after each chapter, what serves it, and exercises with their minutes added up.

- ``{objectives}`` becomes, from ``teach/objectives.yml``, a section a chapter: each objective with the
  exercises, quiz questions and slides that serve it.
- ``{exercises}`masks-pairs masks-decoder` `` becomes links to these exercises, and the minutes they take.
- ``{minutes}`masks-* scaling-variance` `` becomes the minutes of all exercises whose labels match.

Nothing is typed twice: titles and minutes are those of the chapters. A label that is gone fails the build.
"""

import functools
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

sys.path.append(str(Path(__file__).parents[1] / "teach/kit"))  # where the one reader of chapters lives

from chapters import CHAPTERS, Exercise, read_chapter, read_exercises, slugs

logger = logging.getLogger(__name__)

SERVERS = ("exercises", "questions", "slides")


@dataclass(frozen=True)
class Objective:
    """Something that a learner can do after a chapter, and by what it is practised, asked and told."""

    id: str
    text: str
    exercises: tuple[str, ...]
    questions: tuple[str, ...]
    slides: tuple[str, ...]


def read_objectives(path: Path) -> dict[str, list[Objective]]:
    """Read the objectives of each chapter.

    Raises:
        ValueError: an objective does not have exactly its five parts.
    """
    chapters = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {slug: [_objective(path, slug, parts) for parts in given] for slug, given in chapters.items()}


def _objective(path: Path, slug: str, parts: dict[str, Any]) -> Objective:
    wanted = {"id", "text", *SERVERS}
    if set(parts) != wanted:
        raise ValueError(f"{path.name}, {slug}: wanted {sorted(wanted)}, got {sorted(parts)}")
    return Objective(parts["id"], parts["text"], *(tuple(parts[name]) for name in SERVERS))


@functools.cache
def all_exercises() -> dict[str, Exercise]:
    """Return every exercise of the book by its label."""
    return {exercise.label: exercise for slug in slugs() for exercise in read_exercises(slug)}


class ObjectivesTable(SphinxDirective):
    """A section a chapter, with a row for each objective."""

    def run(self) -> list[nodes.Node]:
        """Build the sections."""
        path = Path(self.env.srcdir) / "teach/objectives.yml"
        self.env.note_dependency(str(path))
        exercises = _noted_exercises(self)
        return [
            self._section(number, slug, objectives, exercises)
            for number, (slug, objectives) in enumerate(read_objectives(path).items(), 1)
        ]

    def _section(
        self, number: int, slug: str, objectives: list[Objective], exercises: dict[str, Exercise]
    ) -> nodes.section:
        title = next(line[2:] for cell in read_chapter(slug).cells for line in cell.source.splitlines()[:1])
        target = f"/chapters/{number:02}_{slug}"
        link = _reference("doc", target, f"{number}. {title}")
        rows = [_row(objective, exercises) for objective in objectives]
        section = nodes.section("", nodes.title("", "", link), _table(rows))
        section["names"] = [nodes.fully_normalize_name(title)]
        self.state.document.note_implicit_target(section, section)
        return section


class ExercisesRole(SphinxRole):
    """Exercises by label, and the minutes that they take together."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Set the links and the sum."""
        exercises = _noted_exercises(self)
        shown: list[nodes.Node] = []
        for label in self.text.split():
            if label not in exercises:
                logger.warning("there is no exercise %r", label, location=self.get_location())
                return [], []
            shown += [_link(exercises[label]), nodes.Text(", ")]
        minutes = sum(exercises[label].minutes for label in self.text.split())
        return [*shown[:-1], nodes.Text(f" ({minutes} minutes)")], []


class MinutesRole(SphinxRole):
    """The minutes of all exercises whose labels match one of the patterns."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Set the sum."""
        exercises, matching = _noted_exercises(self), set()
        for pattern in self.text.split():
            found = {label for label in exercises if fnmatchcase(label, pattern)}
            if not found:
                logger.warning("no exercise matches %r", pattern, location=self.get_location())
            matching |= found
        return [nodes.Text(str(sum(exercises[label].minutes for label in matching)))], []


def _noted_exercises(asker: SphinxDirective | SphinxRole) -> dict[str, Exercise]:
    """All exercises; a page that shows some is read anew when a chapter changes."""
    for path in CHAPTERS.glob("*.ipynb"):
        asker.env.note_dependency(str(path))
    return all_exercises()


def _row(objective: Objective, exercises: dict[str, Exercise]) -> nodes.row:
    links = [_link(exercises[label]) for label in objective.exercises if label in exercises]
    told = {"Quiz": objective.questions, "Slides": objective.slides}
    others = [nodes.Text(f"{kind}: {', '.join(ids)}") for kind, ids in told.items() if ids]
    columns = (nodes.paragraph("", objective.text), _lines(links), _lines(others))
    return nodes.row("", *(nodes.entry("", column) for column in columns), ids=[f"objective-{objective.id}"])


def _lines(entries: Iterable[nodes.Node]) -> nodes.line_block:
    return nodes.line_block("", *(nodes.line("", "", entry) for entry in entries))


def _link(exercise: Exercise) -> pending_xref:
    return _reference("ref", exercise.label, exercise.title)


def _reference(kind: str, target: str, text: str) -> pending_xref:
    return pending_xref(
        "",
        nodes.inline("", text),
        refdomain="std",
        reftype=kind,
        reftarget=target,
        refexplicit=True,
        refwarn=True,
    )


def _table(rows: list[nodes.row]) -> nodes.table:
    heads = ("After the chapter a learner can …", "Exercises", "Quiz and slides")
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (42, 26, 32)), cols=len(heads))
    group += nodes.thead("", nodes.row("", *(nodes.entry("", nodes.paragraph("", head)) for head in heads)))
    group += nodes.tbody("", *rows)
    return nodes.table("", group, classes=["stacked", "colwidths-given"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive and the roles."""
    app.add_directive("objectives", ObjectivesTable)
    app.add_role("exercises", ExercisesRole())
    app.add_role("minutes", MinutesRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}

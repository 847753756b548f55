"""What a learner can do after each chapter, what serves it, and exercises with their minutes added up.

- ``{objectives}`` becomes, from ``teach/objectives.yml``, a section a chapter: each objective with the
  exercises, the questions of the quiz and the slides that serve it.
- ``{exercises}`masks-pairs masks-decoder` `` becomes links to these exercises, and the minutes they take.
- ``{question}`masks-joined` `` becomes the number of this question, with a link to the quiz it belongs to.
- ``{minutes}`masks-* scaling-variance` `` becomes the minutes of all exercises whose labels match.

Nothing is typed twice: titles and minutes are those of the chapters, questions those of the quizzes. Their
files are read and not run, for the site is built without torch. A label or id that is gone fails the build.
"""

import ast
import functools
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import shorten
from typing import Any

import yaml
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

sys.path.append(str(Path(__file__).parents[1] / "teach/kit"))  # where the one reader of chapters lives

from chapters import CHAPTERS, Exercise, read_chapter, read_exercises, slugs
from slide_scripts import list_scripts, read_slides, slug_of

logger = logging.getLogger(__name__)

SERVERS = ("exercises", "questions", "slides")
QUIZZES = CHAPTERS.parent / "src/glassformer/quizzes"
QUESTION_WIDTH = 72  # characters of a question that are shown


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


@functools.cache
def titles_in_book() -> dict[str, str]:
    """Return the title of each exercise by its label, with its chapter if another has the same title."""
    often = Counter(exercise.title for exercise in all_exercises().values())
    return {
        exercise.label: exercise.title
        if often[exercise.title] == 1
        else f"{exercise.title} (chapter {number})"
        for number, slug in enumerate(slugs(), 1)
        for exercise in read_exercises(slug)
    }


def read_questions(slug: str) -> dict[str, str]:
    """Return the text of each question of a chapter's quiz by its id, in their order."""
    calls = ast.walk(ast.parse((QUIZZES / f"{slug}.py").read_text(encoding="utf-8")))
    found = {}
    for call in calls:
        match call:
            case ast.Call(
                ast.Name("OneOf" | "SeveralOf" | "Number"),
                [ast.Constant(str(id)), ast.Constant(str(text)), *_],
            ):
                found[id] = text
    return found


def slide_titles(slug: str) -> dict[str, str]:
    """Return the title of each slide of a chapter by its id; the first has none of its own."""
    (script,) = (path for path in list_scripts() if slug_of(path) == slug)
    return {slide.id: slide.title or "the opening" for slide in read_slides(script)}


@dataclass(frozen=True)
class Chapter:
    """Where a chapter stands, and what can serve its objectives, by label or id."""

    title: str
    docname: str
    exercises: dict[str, Exercise]
    questions: dict[str, str]
    slides: dict[str, str]


def read_served_chapter(number: int, slug: str) -> Chapter:
    """Read what the objectives of a chapter can be served by."""
    title = next(line[2:] for cell in read_chapter(slug).cells for line in cell.source.splitlines()[:1])
    docname = f"chapters/{number:02}_{slug}"
    return Chapter(title, docname, all_exercises(), read_questions(slug), slide_titles(slug))


class ObjectivesTable(SphinxDirective):
    """A section a chapter, with a row for each objective."""

    def run(self) -> list[nodes.Node]:
        """Build the sections."""
        path = Path(self.env.srcdir) / "teach/objectives.yml"
        for read in (path, *CHAPTERS.glob("*.ipynb"), *QUIZZES.glob("*.py"), *list_scripts()):
            self.env.note_dependency(str(read))
        return [
            self._section(number, read_served_chapter(number, slug), objectives)
            for number, (slug, objectives) in enumerate(read_objectives(path).items(), 1)
        ]

    def _section(self, number: int, chapter: Chapter, objectives: list[Objective]) -> nodes.section:
        link = _reference("doc", f"/{chapter.docname}", f"{number}. {chapter.title}")
        rows = [self._row(objective, chapter) for objective in objectives]
        section = nodes.section("", nodes.title("", "", link), _table(rows))
        section["names"] = [nodes.fully_normalize_name(chapter.title)]
        self.state.document.note_implicit_target(section, section)
        return section

    def _row(self, objective: Objective, chapter: Chapter) -> nodes.row:
        """Set an objective beside what serves it."""
        cells: list[list[nodes.Node]] = []
        for kind in SERVERS:
            named, known = getattr(objective, kind), getattr(chapter, kind)
            for id in set(named) - known.keys():
                logger.warning("%s: none of the %s is called %r", objective.id, kind, id)
            cells.append([_server(kind, id, chapter) for id in named if id in known])
        columns = (nodes.paragraph("", objective.text), *map(_lines, cells))
        entries = [nodes.entry("", column) for column in columns]
        return nodes.row("", *entries, ids=[f"objective-{objective.id}"])


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
            shown += [_link(exercises[label], titles_in_book()[label]), nodes.Text(", ")]
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


class QuestionRole(SphinxRole):
    """A question of a quiz by its number, with a link to the quiz."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Set the link."""
        for path in QUIZZES.glob("*.py"):
            self.env.note_dependency(str(path))
        for chapter, slug in enumerate(slugs(), 1):
            for number, id in enumerate(read_questions(slug), 1):
                if id == self.text:
                    told = f"question {number} of chapter {chapter}"
                    return [_quiz_link(f"chapters/{chapter:02}_{slug}", told)], []
        logger.warning("no quiz has a question %r", self.text, location=self.get_location())
        return [], []


def _noted_exercises(asker: SphinxDirective | SphinxRole) -> dict[str, Exercise]:
    """All exercises; a page that shows some is read anew when a chapter changes."""
    for path in CHAPTERS.glob("*.ipynb"):
        asker.env.note_dependency(str(path))
    return all_exercises()


def _server(kind: str, id: str, chapter: Chapter) -> nodes.Node:
    """Show an exercise or a question as a link, a slide by its title: the site has no page for slides."""
    if kind == "exercises":
        return _link(chapter.exercises[id], chapter.exercises[id].title)
    if kind == "slides":
        return nodes.Text(f"{list(chapter.slides).index(id) + 1}. {chapter.slides[id]}")
    question = shorten(chapter.questions[id].replace("`", ""), QUESTION_WIDTH, placeholder=" …")
    number = list(chapter.questions).index(id) + 1
    return _quiz_link(chapter.docname, f"{number}. {question}")


def _quiz_link(docname: str, text: str) -> pending_xref:
    return pending_xref(
        "",
        nodes.inline("", text),
        refdomain="doc",
        reftype="myst",
        reftarget=docname,
        reftargetid="check-yourself",
        refexplicit=True,
    )


def _lines(entries: Iterable[nodes.Node]) -> nodes.line_block:
    return nodes.line_block("", *(nodes.line("", "", entry) for entry in entries))


def _link(exercise: Exercise, title: str) -> pending_xref:
    return _reference("ref", exercise.label, title)


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
    heads = ("After the chapter a learner can …", "Exercises", "Questions of the quiz", "Slides")
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (30, 20, 28, 22)), cols=len(heads))
    group += nodes.thead("", nodes.row("", *(nodes.entry("", nodes.paragraph("", head)) for head in heads)))
    group += nodes.tbody("", *rows)
    return nodes.table("", group, classes=["stacked", "objectives-table", "colwidths-given"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive and the roles."""
    app.add_directive("objectives", ObjectivesTable)
    app.add_role("exercises", ExercisesRole())
    app.add_role("minutes", MinutesRole())
    app.add_role("question", QuestionRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The table of objectives, and roles that name exercises and quiz questions.

- ``{objectives}`` becomes a section for each chapter, from ``teach/objectives.yml``: each objective with the
  exercises, quiz questions and slides that serve it.
- ``{exercises}`masks-pairs masks-decoder` `` becomes links to these exercises and the sum of their minutes.
- ``{question}`masks-joined` `` becomes the question's number, with a link to its quiz.
- ``{minutes}`masks-* scaling-variance` `` becomes the minutes of all exercises whose labels match.
- ``{reading}`masks softmax` `` becomes these chapters' reading time in minutes, ``{reading}`*` `` of all.

Titles and minutes come from the chapters, questions from the quizzes. An unknown label or id fails the build.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from textwrap import shorten
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from bookkit.chapters import CHAPTERS, Chapter, Exercise, all_exercises, read_chapter, read_chapters
from bookkit.objectives import (
    OBJECTIVES,
    QUIZZES,
    SERVERS,
    Objective,
    exercise_titles,
    read_objectives,
    read_questions,
    slide_titles,
)
from bookkit.slides.scripts import list_scripts
from bookkit.tables import build_row, build_table

logger = logging.getLogger(__name__)

QUESTION_WIDTH = 72  # characters of a question in the table
HEADS = ("After the chapter a learner can …", "Exercises", "Questions of the quiz", "Slides")
Servers = dict[str, dict[str, nodes.Node]]  # by kind, then by label or id


class ObjectivesTable(SphinxDirective):
    """A section for each chapter, with a row for each objective."""

    def run(self) -> list[nodes.Node]:
        """Build the sections."""
        for path in (OBJECTIVES, *CHAPTERS.glob("*.ipynb"), *QUIZZES.glob("*.py"), *list_scripts()):
            self.env.note_dependency(str(path))
        return [self._section(read_chapter(slug), each) for slug, each in read_objectives().items()]

    def _section(self, chapter: Chapter, objectives: list[Objective]) -> nodes.section:
        link = _reference("doc", f"/{chapter.docname}", chapter.name)
        servers = _servers(chapter)
        table = build_table(
            HEADS,
            [_row(objective, servers) for objective in objectives],
            ["stacked", "objectives-table", "colwidths-given"],
            (30, 20, 28, 22),
        )
        section = nodes.section("", nodes.title("", "", link), table)
        section["names"] = [nodes.fully_normalize_name(chapter.title)]
        self.state.document.note_implicit_target(section, section)
        return section


class ExercisesRole(SphinxRole):
    """Links to exercises, and the sum of their minutes."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the links and the sum."""
        exercises, titles = _noted_exercises(self), exercise_titles()
        shown: list[nodes.Node] = []
        for label in self.text.split():
            if label not in exercises:
                logger.warning("there is no exercise %r", label, location=self.get_location())
                return [], []
            shown += [_reference("ref", label, titles[label]), nodes.Text(", ")]
        minutes = sum(exercises[label].minutes for label in self.text.split())
        return [*shown[:-1], nodes.Text(f" ({minutes} minutes)")], []


class MinutesRole(SphinxRole):
    """The minutes of all exercises whose labels match a pattern."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the sum."""
        exercises, matching = _noted_exercises(self), set()
        for pattern in self.text.split():
            found = {label for label in exercises if fnmatchcase(label, pattern)}
            if not found:
                logger.warning("no exercise matches %r", pattern, location=self.get_location())
            matching |= found
        return [nodes.Text(str(sum(exercises[label].minutes for label in matching)))], []


class ReadingRole(SphinxRole):
    """The reading time of chapters, as they state it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the sum of their minutes."""
        chapters, matching = read_chapters(), set()
        for chapter in chapters:
            self.env.note_dependency(str(chapter.path))
        for pattern in self.text.split():
            found = {chapter.slug for chapter in chapters if fnmatchcase(chapter.slug, pattern)}
            if not found:
                logger.warning("no chapter matches %r", pattern, location=self.get_location())
            matching |= found
        return [nodes.Text(str(sum(each.stated_minutes for each in chapters if each.slug in matching)))], []


class QuestionRole(SphinxRole):
    """The number of a quiz question, with a link to the quiz."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link."""
        for path in QUIZZES.glob("*.py"):
            self.env.note_dependency(str(path))
        for chapter in read_chapters():
            for number, id in enumerate(read_questions(chapter.slug), 1):
                if id == self.text:
                    text = f"question {number} of chapter {chapter.number}"
                    return [_quiz_link(chapter, text)], []
        logger.warning("no quiz has a question %r", self.text, location=self.get_location())
        return [], []


def _noted_exercises(asker: SphinxRole) -> dict[str, Exercise]:
    """Return all exercises; the page is rebuilt when a chapter changes."""
    for path in CHAPTERS.glob("*.ipynb"):
        asker.env.note_dependency(str(path))
    return all_exercises()


def _row(objective: Objective, servers: Servers) -> nodes.row:
    cells: list[nodes.Node] = []
    for kind in SERVERS:
        named = getattr(objective, kind)
        for id in set(named) - servers[kind].keys():
            logger.warning("%s: none of the %s is called %r", objective.id, kind, id)
        cells.append(_lines(servers[kind][id].deepcopy() for id in named if id in servers[kind]))
    return build_row([objective.text, *cells], ids=[f"objective-{objective.id}"])


def _servers(chapter: Chapter) -> Servers:
    """Show an exercise and a question as a link, a slide as its title: the site has no page for slides."""
    questions = enumerate(read_questions(chapter.slug).items(), 1)
    slides = enumerate(slide_titles(chapter.slug).items(), 1)
    return {
        "exercises": {
            label: _reference("ref", label, exercise.title) for label, exercise in all_exercises().items()
        },
        "questions": {
            id: _quiz_link(chapter, f"{number}. {_shorten(question)}") for number, (id, question) in questions
        },
        "slides": {id: nodes.Text(f"{number}. {title}") for number, (id, title) in slides},
    }


def _shorten(question: str) -> str:
    return shorten(question.replace("`", ""), QUESTION_WIDTH, placeholder=" …")


def _quiz_link(chapter: Chapter, text: str) -> pending_xref:
    link = {
        "refdomain": "doc",
        "reftype": "myst",
        "reftarget": chapter.docname,
        "reftargetid": "check-yourself",
    }
    return pending_xref("", nodes.inline("", text), **link, refexplicit=True)


def _lines(entries: Iterable[nodes.Node]) -> nodes.line_block:
    return nodes.line_block("", *(nodes.line("", "", entry) for entry in entries))


def _reference(kind: str, target: str, text: str) -> pending_xref:
    link = {"refdomain": "std", "reftype": kind, "reftarget": target}
    return pending_xref("", nodes.inline("", text), **link, refexplicit=True, refwarn=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive and the roles."""
    app.add_directive("objectives", ObjectivesTable)
    app.add_role("exercises", ExercisesRole())
    app.add_role("minutes", MinutesRole())
    app.add_role("reading", ReadingRole())
    app.add_role("question", QuestionRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Roles that take parts and slides from the lesson plans.

- ``{parts}`masks: the prediction; combining masks` `` becomes the names of these parts of a chapter's plan
  and the sum of their minutes.
- ``{slides}`masks-join masks-edit` `` becomes the numbers of these slides in their deck.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from bookkit.lesson_plans import NOTES, find_parts
from bookkit.slides.scripts import list_scripts, read_slides

logger = logging.getLogger(__name__)

TABLE_CLASSES = ["stacked", "plan"]  # on narrow screens, each cell of a row becomes a paragraph


class PartsRole(SphinxRole):
    """The names of parts of a chapter's plan, and the sum of their minutes."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the names and the sum."""
        for path in NOTES.glob("*.md"):
            self.env.note_dependency(str(path))
        try:
            parts = find_parts(self.text)
        except ValueError as error:
            logger.warning("%s", error, location=self.get_location())
            return [], []
        names = "; ".join(part.name for part in parts)
        return [nodes.Text(f"{names} ({sum(part.minutes for part in parts)} minutes)")], []


class SlidesRole(SphinxRole):
    """The numbers of slides in their deck."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the numbers."""
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
    """Mark the tables of the notes for narrow screens."""
    for section in doctree.findall(nodes.section):
        if "for-teachers" in section["ids"]:
            for table in section.findall(nodes.table):
                table["classes"] += TABLE_CLASSES


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the roles, and mark the plans."""
    app.add_role("parts", PartsRole())
    app.add_role("slides", SlidesRole())
    app.connect("doctree-read", stack_plans)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

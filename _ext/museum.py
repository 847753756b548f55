"""The ``{museum}`` directive: a table of all bugs, then a section for each, chapter by chapter.

The effect of each bug comes from the stored result of ``benchmarks/museum_symptoms.py``. A bug without a
result is a warning, which fails the build.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from bookkit.chapters import Chapter, read_chapters
from bookkit.museum import Bug, read_bugs
from bookkit.symptoms import Symptoms
from bookkit.tables import build_row, build_table

logger = logging.getLogger(__name__)
RESULT = "benchmarks/results/museum_symptoms.json"


class Museum(SphinxDirective):
    """Show all bugs: an overview table, then the chapters with a section for each bug."""

    def run(self) -> list[nodes.Node]:
        """Build the table and the sections."""
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / RESULT))
        self.symptoms = Symptoms(root / RESULT)
        bugs = []
        for bug in read_bugs(root / "museum"):
            self.env.note_dependency(str(root / "museum" / f"{bug.id}.md"))
            if bug.id in self.symptoms.measured:
                bugs.append(bug)
            else:
                logger.warning(
                    "no symptoms were measured for the bug %r", bug.id, location=self.get_location()
                )
        chapters = {
            chapter: [bug for bug in bugs if bug.chapter == chapter.slug]
            for chapter in read_chapters(root / "chapters")
        }
        text = (
            f"The museum has {len(bugs)} bugs, each measured with {self.symptoms.seeds} seeds. "
            "The table shows the range over the seeds, without the bug → with the bug."
        )
        sections = [self._chapter(chapter, own) for chapter, own in chapters.items() if own]
        return [nodes.paragraph("", text), self._overview(chapters), *sections]

    def _overview(self, chapters: dict[Chapter, list[Bug]]) -> nodes.table:
        rows = []
        for bug in (bug for bugs in chapters.values() for bug in bugs):
            link = nodes.reference("", "", nodes.inline("", bug.title), refid=bug.id, internal=True)
            rows.append(build_row([link, self.symptoms.headline(bug)]))
        return build_table(("Bug", "Effect"), rows, ["stacked"])

    def _chapter(self, chapter: Chapter, bugs: list[Bug]) -> nodes.section:
        section = self._section(f"bugs-{chapter.slug.replace('_', '-')}", chapter.name)
        section += self._parsed(f"[](/{chapter.docname}.ipynb) explains the correct way.")
        section += [self._bug(bug) for bug in bugs]
        return section

    def _bug(self, bug: Bug) -> nodes.section:
        section = self._section(bug.id, bug.title)
        section += self._parsed(bug.story)
        section += nodes.literal_block(bug.patch, bug.patch, language="diff")
        seen = f"[{bug.source.name}]({bug.source.link})"
        catches = "; ".join(f"{{test}}`{killer}`" for killer in bug.killers)
        section += self._parsed(
            f"**Seen in** {seen}. {bug.source.seen}\n\n**Caught by** the test: {catches}."
        )
        rows = map(build_row, self.symptoms.rows(bug))
        section += build_table(("Measure", "Without the bug", "With the bug"), rows, ["measured"])
        return section

    def _section(self, id: str, title: str) -> nodes.section:
        section = nodes.section("", nodes.title("", title), ids=[id], names=[nodes.fully_normalize_name(id)])
        self.state.document.note_explicit_target(section, section)
        return section

    def _parsed(self, text: str) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), source=self.env.docname), 0, parent)
        return parent.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("museum", Museum)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The museum's page: every bug with its patch, where it was seen, what it does, and the test that catches it.

``{museum}`` becomes a table of all bugs and a section each, chapter by chapter. What a bug does is read from
the result of ``benchmarks/museum_symptoms.py``. A bug without a result is a warning, which fails the build.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from bugs import Bug, read_bugs
from claims_ledger import Chapter, ClaimsDomain

logger = logging.getLogger(__name__)
RESULT = "benchmarks/results/museum_symptoms.json"
Numbers = list[float | None]


def shown(numbers: Numbers, kind: str) -> str:
    """Write what the seeds gave: the one number, or the least and the greatest."""
    if any(number is None for number in numbers):
        return "not finite"
    written = [_written(number, kind) for number in (min(numbers), max(numbers))]  # type: ignore[type-var]
    low, high = (text.removesuffix(" %") for text in written)
    return written[1] if low == high else f"{low} to {written[1]}"


def _written(number: float | None, kind: str) -> str:
    assert number is not None
    if kind == "%":
        return f"{100 * number:.1f} %"
    written = f"{int(number):,}" if number == int(number) else f"{number:.3g}"
    return written.replace("-", "−")


def apart(healthy: Numbers, patched: Numbers, seed_by_seed: bool = False) -> bool:
    """Whether a bug shows: it moves every seed out of the range of those without it.

    Seed by seed, it is enough that it moves every one in the same direction.
    """
    if None in healthy or None in patched:
        return (None in healthy) != (None in patched)
    if seed_by_seed:
        pairs = list(zip(healthy, patched, strict=True))
        return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)  # type: ignore[operator]
    low, high = min(healthy), max(healthy)  # type: ignore[type-var]
    return max(patched) < low or min(patched) > high  # type: ignore[operator,type-var]


def same_training(own: dict[str, Any]) -> bool:
    """Whether a bug left the trained numbers alone, so that each seed can be compared with itself."""
    told = [name for name in ("unseen_loss", "greedy_exact_match") if name in own["healthy"]]
    return bool(told) and all(own["healthy"][name] == own["patched"].get(name) for name in told)


class Symptoms:
    """What was measured of all bugs."""

    def __init__(self, path: Path) -> None:
        result = json.loads(path.read_text(encoding="utf-8"))
        self.measures: dict[str, list[str]] = result["settings"]["measures"]
        self.measured: dict[str, dict[str, Any]] = result["measured"]
        self.seeds: int = result["settings"]["seeds"]

    def headline(self, bug: Bug) -> str:
        """Say in a few words what a bug does: the first of its measures that it changes."""
        own = self.measured[bug.id]
        if "error" in own["patched"]:
            return "it stops"
        for name in bug.measured.shows:
            healthy, patched = own["healthy"][name], own["patched"][name]
            if apart(healthy, patched, same_training(own)):
                words, kind = self.measures[name]
                return f"{words}: {shown(healthy, kind)} → {shown(patched, kind)}"
        return "nothing that would show in these numbers"

    def rows(self, bug: Bug) -> Iterator[tuple[str, str, str]]:
        """Give each measure in words, without the bug and with it."""
        own = self.measured[bug.id]
        stopped = [text for text in own["patched"].get("error", []) if text]
        for name in bug.measured.shows:
            words, kind = self.measures[name]
            with_it = stopped[0] if stopped else shown(own["patched"][name], kind)
            yield words, shown(own["healthy"][name], kind), with_it


class Museum(SphinxDirective):
    """All bugs: a table to jump from, then the chapters with a section a bug."""

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
                logger.warning("nothing was measured of the bug %r", bug.id, location=self.get_location())
        domain = self.env.get_domain(ClaimsDomain.name)
        assert isinstance(domain, ClaimsDomain)
        chapters = {
            chapter: [bug for bug in bugs if chapter.docname.split("_", 1)[1] == bug.chapter]
            for chapter in domain.chapters
        }
        text = (
            f"{len(bugs)} bugs; seeds with which each was measured: {self.symptoms.seeds}. "
            "The table tells what changed: without the bug → with it."
        )
        sections = [self._chapter(chapter, own) for chapter, own in chapters.items() if own]
        return [nodes.paragraph("", text), self._overview(chapters), *sections]

    def _overview(self, chapters: dict[Chapter, list[Bug]]) -> nodes.table:
        rows = []
        for bug in (bug for bugs in chapters.values() for bug in bugs):
            link = nodes.reference("", "", nodes.inline("", bug.title), refid=bug.id, internal=True)
            rows.append(_row(link, nodes.Text(self.symptoms.headline(bug))))
        return _table("stacked", ("Bug", "What it does"), rows)

    def _chapter(self, chapter: Chapter, bugs: list[Bug]) -> nodes.section:
        section = self._section(f"bugs-{bugs[0].chapter.replace('_', '-')}", chapter.name)
        section += self._parsed(f"What is right, and why, is in [](/{chapter.docname}.ipynb).")
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
        rows = [_row(*map(nodes.Text, row)) for row in self.symptoms.rows(bug)]
        section += _table("measured", ("Measured on the grammar", "without the bug", "with it"), rows)
        return section

    def _section(self, id: str, title: str) -> nodes.section:
        section = nodes.section("", nodes.title("", title), ids=[id], names=[nodes.fully_normalize_name(id)])
        self.state.document.note_explicit_target(section, section)
        return section

    def _parsed(self, text: str) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), source=self.env.docname), 0, parent)
        return parent.children


def _table(kind: str, heads: tuple[str, ...], rows: list[nodes.row]) -> nodes.table:
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in heads), cols=len(heads))
    group += nodes.thead("", _row(*map(nodes.Text, heads)))
    group += nodes.tbody("", *rows)
    return nodes.table("", group, classes=[kind])


def _row(*cells: nodes.Node) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("museum", Museum)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

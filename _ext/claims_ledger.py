"""The claims ledger: marks in the prose and the table they lead to, read from the chapters' stored outputs.

- ``{claim}`the-id` `` behind a sentence becomes a small mark that links to its row in the ledger.
- ``{claims-ledger}`` becomes the ledger: what holds, chapter by chapter, and the folklore that does not.

A mark without a measurement, a measurement without a mark, and an id used twice are warnings,
which fail the build.
"""

import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

from glassformer.claims import Claim, parse_line

logger = logging.getLogger(__name__)


class Chapter(NamedTuple):
    """A chapter of the book with the claims that its cells printed when it was last run."""

    docname: str
    title: str
    claims: tuple[Claim, ...]


def read_chapter(path: Path, source_dir: Path) -> Chapter:
    """Read a chapter's title and claims from its notebook as it is stored."""
    notebook = nbformat.read(path, as_version=4)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    title = next((line[2:] for line in prose.splitlines() if line.startswith("# ")), path.stem)
    docname = path.relative_to(source_dir).with_suffix("").as_posix()
    return Chapter(docname, title, tuple(_printed_claims(notebook)))


def _printed_claims(notebook: nbformat.NotebookNode) -> Iterator[Claim]:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stdout":
                yield from filter(None, map(parse_line, output.text.splitlines()))


class ClaimsDomain(Domain):
    """Knows the book's claims, where each is marked, and on which page the ledger stands."""

    name = "claims"
    label = "Claims"
    initial_data = {"marks": {}, "ledger": None}  # noqa: RUF012 (the base class declares it so)

    @functools.cached_property
    def chapters(self) -> list[Chapter]:
        """The chapters of the table of contents, in their order."""
        site_map = self.env.external_site_map  # type: ignore[attr-defined]  # sphinx-external-toc sets it
        docnames = [name for name in site_map if name.startswith("chapters/")]
        paths = [Path(self.env.doc2path(name)) for name in docnames]
        return [read_chapter(path, Path(self.env.srcdir)) for path in paths if path.suffix == ".ipynb"]

    @functools.cached_property
    def claims(self) -> dict[str, Claim]:
        """Every claim by its id."""
        return {claim.id: claim for chapter in self.chapters for claim in chapter.claims}

    def resolve_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        typ: str,
        target: str,
        node: pending_xref,
        contnode: nodes.Element,
    ) -> nodes.reference | None:
        """Lead from a mark to its row, and from a row back to its mark."""
        docname = self.data["ledger"] if typ == "row" else self.data["marks"].get(target)
        if docname is None:
            return None
        return make_refnode(builder, fromdocname, docname, f"{typ}-{target}", contnode)

    def resolve_any_xref(self, *_: Any) -> list[Any]:
        """Claims are never meant by an unspecific reference."""
        return []

    def clear_doc(self, docname: str) -> None:
        """Forget the marks of a page that is read anew."""
        self.data["marks"] = {id: page for id, page in self.data["marks"].items() if page != docname}

    def merge_domaindata(self, docnames: Iterable[str], otherdata: dict[str, Any]) -> None:
        """Join what another process has read."""
        self.data["marks"].update(
            {id: page for id, page in otherdata["marks"].items() if page in set(docnames)}
        )
        self.data["ledger"] = self.data["ledger"] or otherdata["ledger"]


class ClaimMark(SphinxRole):
    """The mark behind a sentence that was measured."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Set the mark, and an anchor for the ledger's way back at the first one of an id."""
        domain = self.env.get_domain(ClaimsDomain.name)
        assert isinstance(domain, ClaimsDomain)
        claim = domain.claims.get(self.text)
        if claim is None:
            logger.warning("no executed cell makes the claim %r", self.text, location=self.get_location())
            return [], []
        mark = nodes.inline(classes=["claim-mark", claim.verdict.replace(" ", "-")])
        mark += nodes.inline("", _verdict_mark(claim))
        mark += nodes.inline("", f" measured: {claim.measured}", classes=["visually-hidden"])
        link = _reference("row", claim.id, mark)
        if claim.id not in domain.data["marks"]:
            domain.data["marks"][claim.id] = self.env.docname
            anchor = nodes.target(ids=[f"mark-{claim.id}"], names=[f"mark-{claim.id}"])
            self.inliner.document.note_explicit_target(anchor)
            return [anchor, link], []
        return [link], []


class ClaimsLedger(SphinxDirective):
    """All claims of the book in tables: refuted folklore first, then chapter by chapter."""

    def run(self) -> list[nodes.Node]:
        """Build one section a table."""
        domain = self.env.get_domain(ClaimsDomain.name)
        assert isinstance(domain, ClaimsDomain)
        domain.data["ledger"] = self.env.docname
        everything = [(claim, chapter.title) for chapter in domain.chapters for claim in chapter.claims]
        for id, count in Counter(claim.id for claim, _ in everything).items():
            if count > 1:
                logger.warning("the claim %r is made more than once", id, location=self.get_location())
        refuted = [
            (claim, f"{title} ({claim.source})" if claim.source else title)
            for claim, title in everything
            if claim.verdict == "does not hold"
        ]
        sections = [self._section("Often said, and not so", "Chapter", refuted)]
        for chapter in domain.chapters:
            kept = [
                (claim, claim.source or "this book") for claim in chapter.claims if claim.verdict == "holds"
            ]
            sections.append(self._section(chapter.title, "Source", kept))
        return [section for section in sections if section is not None]

    def _section(self, title: str, origin: str, claims: list[tuple[Claim, str]]) -> nodes.section | None:
        """Build a section from claims, each with what stands in its last column, headed `origin`."""
        if not claims:
            return None
        section = nodes.section("", nodes.title("", title), _table(origin, claims))
        section["names"] = [nodes.fully_normalize_name(title)]
        self.state.document.note_implicit_target(section, section)
        return section


def _table(origin: str, claims: list[tuple[Claim, str]]) -> nodes.table:
    columns = ("What was claimed", "What was measured", origin)
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (5, 4, 2)), cols=len(columns))
    group += nodes.thead("", nodes.row("", *(nodes.entry("", nodes.paragraph("", name)) for name in columns)))
    group += nodes.tbody("", *(_row(claim, text) for claim, text in claims))
    return nodes.table("", group, classes=["claims-ledger"])


def _row(claim: Claim, origin: str) -> nodes.row:
    back = _reference("mark", claim.id, nodes.inline("", claim.statement))
    mark = nodes.inline("", f"{_verdict_mark(claim)} ", classes=["verdict"])
    statement = nodes.paragraph("", "", mark, back)
    measured, last = (nodes.paragraph("", text) for text in (claim.measured, origin))
    cells = [nodes.entry("", cell) for cell in (statement, measured, last)]
    return nodes.row("", *cells, ids=[f"row-{claim.id}"], classes=[claim.verdict.replace(" ", "-")])


def _verdict_mark(claim: Claim) -> str:
    return "✔" if claim.verdict == "holds" else "✘"


def _reference(kind: str, id: str, content: nodes.Element) -> pending_xref:
    """A link into the ledger (to a row) or out of it (to a mark); one that leads nowhere fails the build."""
    return pending_xref(
        "", content, refdomain=ClaimsDomain.name, reftype=kind, reftarget=id, refexplicit=True, refwarn=True
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the role, the directive and what joins them."""
    app.add_domain(ClaimsDomain)
    app.add_role("claim", ClaimMark())
    app.add_directive("claims-ledger", ClaimsLedger)
    return {"parallel_read_safe": False, "parallel_write_safe": True}

"""The claims ledger: marks in the prose and the table they lead to, read from the chapters' stored outputs.

- ``{claim}`the-id` `` behind a sentence becomes a small mark that links to its row in the ledger.
- ``{claims-ledger}`` becomes the ledger: how many there are, the folklore that does not hold, and what holds,
  chapter by chapter, each with its verdict, what was measured, and who said it first.

A mark without a measurement, a measurement without a mark, and an id used twice are warnings,
which fail the build.
"""

import functools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

from bookkit.chapters import Chapter, read_chapters
from bookkit.tables import build_row, build_table
from glassformer.claims import Claim

logger = logging.getLogger(__name__)


class ClaimsDomain(Domain):
    """Knows the book's claims, where each is marked, and on which page the ledger stands."""

    name = "claims"
    label = "Claims"
    initial_data = {"marks": {}, "ledger": None}  # noqa: RUF012 (the base class declares it so)

    @functools.cached_property
    def chapters(self) -> list[Chapter]:
        """Chapters in reading order."""
        return read_chapters(Path(self.env.srcdir, "chapters"))

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
        """Set the mark, and an anchor for the ledger's way back at a chapter's first one of an id."""
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
        in_chapter = self.env.docname.startswith("chapters/")
        if in_chapter and claim.id not in domain.data["marks"]:
            domain.data["marks"][claim.id] = self.env.docname
            anchor = nodes.target(ids=[f"mark-{claim.id}"], names=[f"mark-{claim.id}"])
            self.inliner.document.note_explicit_target(anchor)
            return [anchor, link], []
        return [link], []


class ClaimsLedger(SphinxDirective):
    """All claims of the book in tables: a summary, refuted folklore, then chapter by chapter."""

    def run(self) -> list[nodes.Node]:
        """Build the summary and one section a table."""
        domain = self.env.get_domain(ClaimsDomain.name)
        assert isinstance(domain, ClaimsDomain)
        domain.data["ledger"] = self.env.docname
        everything = [claim.id for chapter in domain.chapters for claim in chapter.claims]
        for id, count in Counter(everything).items():
            if count > 1:
                logger.warning("the claim %r is made more than once", id, location=self.get_location())
        refuted = [
            _row(claim, _link_to(chapter), nodes.Text(f" ({claim.source})" if claim.source else ""))
            for chapter in domain.chapters
            for claim in chapter.claims_with("does not hold")
        ]
        held = {
            chapter: self._section(
                chapter.name,
                "Source",
                [
                    _row(claim, nodes.Text(claim.source or "this book"))
                    for claim in chapter.claims_with("holds")
                ],
            )
            for chapter in domain.chapters
        }
        sections = [self._section("Often said, and not so", "Chapter", refuted), *held.values()]
        return [*_summary(held), *(section for section in sections if section is not None)]

    def _section(self, title: str, origin: str, rows: list[nodes.row]) -> nodes.section | None:
        """Build a section from rows, the last column of which is headed `origin`."""
        if not rows:
            return None
        heads = ("What was claimed", "What was measured", origin)
        table = build_table(heads, rows, ["claims-ledger", "stacked"], (5, 4, 2))
        section = nodes.section("", nodes.title("", title), table)
        section["names"] = [nodes.fully_normalize_name(title)]
        self.state.document.note_implicit_target(section, section)
        return section


def _summary(held: dict[Chapter, nodes.section | None]) -> list[nodes.Node]:
    """Count the claims in a sentence, and by chapter in a table that leads to the sections."""
    kept, refuted = (
        [len(chapter.claims_with(verdict)) for chapter in held] for verdict in ("holds", "does not hold")
    )
    text = f"{sum(kept) + sum(refuted)} sentences were measured: {sum(kept)} hold, {sum(refuted)} do not."
    rows = []
    for (chapter, section), holds, fails in zip(held.items(), kept, refuted, strict=True):
        name = nodes.inline("", chapter.name)
        link = (
            name if section is None else nodes.reference("", "", name, refid=section["ids"][0], internal=True)
        )
        rows.append(build_row([link, str(holds), str(fails)]))
    heads = ("Chapter", "✔ holds", "✘ does not hold")
    return [nodes.paragraph("", text), build_table(heads, rows, ["claims-summary"], (6, 2, 2))]


def _row(claim: Claim, *origin: nodes.Node) -> nodes.row:
    back = _reference("mark", claim.id, nodes.inline("", claim.statement))
    mark = nodes.inline("", f"{_verdict_mark(claim)} ", classes=["verdict"])
    mark += nodes.inline("", f"{claim.verdict}: ", classes=["visually-hidden"])
    statement, last = nodes.paragraph("", "", mark, back), nodes.paragraph("", "", *origin)
    classes = [claim.verdict.replace(" ", "-")]
    return build_row([statement, claim.measured, last], ids=[f"row-{claim.id}"], classes=classes)


def _link_to(chapter: Chapter) -> pending_xref:
    name = nodes.inline("", f"chapter {chapter.number}")
    target = {"refdomain": "std", "reftype": "doc", "reftarget": f"/{chapter.docname}"}
    return pending_xref("", name, **target, refexplicit=True, refwarn=True)


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

"""The claims ledger: marks in the text, and a table of all claims from the chapters' stored outputs.

- ``{claim}`the-id` `` after a sentence becomes a small mark that links to the cell that measures it, or on
  other pages to its row in the ledger.
- ``{claims-ledger}`` becomes the ledger: a count, the folklore that does not hold, and the claims that hold,
  chapter by chapter, each with its verdict, its measurement, and
  what became of it with other seeds and in broken worlds.

A mark without a measurement, a measurement without a mark, and a duplicate id are warnings, which fail the
build.
"""

import functools
import html
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml
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

SEEDS = 5  # other sets of seeds in benchmarks/claims_under_fire.py


class UnderFire(NamedTuple):
    """Result of `benchmarks/claims_under_fire.py` for a claim.

    Attributes:
        seeds: number of other sets of seeds with which the claim holds.
        noticed: broken worlds in which it fails.
        worlds: number of broken worlds in which its chapter ran.
        reason: the reason, if it fails in none of them.
    """

    seeds: int
    noticed: list[str]
    worlds: int
    reason: str


class ClaimsDomain(Domain):
    """The book's claims, the page that marks each of them, and the page of the ledger."""

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

    @functools.cached_property
    def tested(self) -> dict[str, UnderFire]:
        """The claims under fire, by id, of the chapters whose code has not changed since."""
        benchmarks = Path(self.env.srcdir, "benchmarks")
        path = benchmarks / "results/claims_under_fire.json"
        stored = json.loads(path.read_text(encoding="utf-8"))["measured"] if path.exists() else {}
        reasons = yaml.safe_load((benchmarks / "unbreakable_claims.yml").read_text(encoding="utf-8"))
        return {
            id: UnderFire(found["seeds"], found["noticed"], len(result["worlds"]), reasons.get(id, ""))
            for chapter in self.chapters
            if (result := stored.get(chapter.slug)) and result["code"] == chapter.code_digest
            for id, found in result["claims"].items()
        }

    def claims_of(self, docname: str) -> tuple[Claim, ...]:
        """Return the claims that a page measures."""
        return next((chapter.claims for chapter in self.chapters if chapter.docname == docname), ())

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
        """Link a mark to its row, and a row back to its mark."""
        docname = self.data["ledger"] if typ == "row" else self.data["marks"].get(target)
        if docname is None:
            return None
        return make_refnode(builder, fromdocname, docname, f"{typ}-{target}", contnode)

    def resolve_any_xref(self, *_: Any) -> list[Any]:
        """Return nothing: unspecific references never mean claims."""
        return []

    def clear_doc(self, docname: str) -> None:
        """Forget the marks of a page that is read again."""
        self.data["marks"] = {id: page for id, page in self.data["marks"].items() if page != docname}

    def merge_domaindata(self, docnames: Iterable[str], otherdata: dict[str, Any]) -> None:
        """Merge the marks that another process has read."""
        self.data["marks"].update(
            {id: page for id, page in otherdata["marks"].items() if page in set(docnames)}
        )
        self.data["ledger"] = self.data["ledger"] or otherdata["ledger"]


class ClaimMark(SphinxRole):
    """The mark after a sentence that was measured."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the mark; the first mark of a claim in the chapters also gets an anchor."""
        domain = self.env.get_domain(ClaimsDomain.name)
        assert isinstance(domain, ClaimsDomain)
        claim = domain.claims.get(self.text)
        if claim is None:
            logger.warning("no executed cell prints the claim %r", self.text, location=self.get_location())
            return [], []
        mark = nodes.inline(classes=["claim-mark", claim.verdict.replace(" ", "-")])
        mark += nodes.inline("", _verdict_mark(claim))
        mark += nodes.inline("", f" measured: {claim.measured}", classes=["visually-hidden"])
        if claim in domain.claims_of(self.env.docname):
            link = nodes.reference("", "", mark, refid=f"claim-{claim.id}", internal=True)
        else:
            link = _reference("row", claim.id, mark)
        in_chapter = self.env.docname.startswith("chapters/")
        if in_chapter and claim.id not in domain.data["marks"]:
            domain.data["marks"][claim.id] = self.env.docname
            anchor = nodes.target(ids=[f"mark-{claim.id}"], names=[f"mark-{claim.id}"])
            self.inliner.document.note_explicit_target(anchor)
            return [anchor, link], []
        return [link], []


class ClaimsLedger(SphinxDirective):
    """All claims of the book: a summary, refuted folklore, and the claims of each chapter."""

    def run(self) -> list[nodes.Node]:
        """Build the summary and a section for each table."""
        domain = self.env.get_domain(ClaimsDomain.name)
        assert isinstance(domain, ClaimsDomain)
        domain.data["ledger"] = self.env.docname
        everything = [claim.id for chapter in domain.chapters for claim in chapter.claims]
        for id, count in Counter(everything).items():
            if count > 1:
                logger.warning("the claim %r is printed more than once", id, location=self.get_location())
        held = {
            chapter: self._section(chapter.name, [self._row(claim) for claim in chapter.claims_with("holds")])
            for chapter in domain.chapters
        }
        refuted = [
            self._row(claim, nodes.inline("", f" (chapter {chapter.number})"))
            for chapter in domain.chapters
            for claim in chapter.claims_with("does not hold")
        ]
        sections = [self._section("Often said, but wrong", refuted), *held.values()]
        fire = _fire_summary(domain.chapters, domain.tested)
        return [*_summary(held), *fire, *(section for section in sections if section is not None)]

    def _section(self, title: str, rows: list[nodes.row]) -> nodes.section | None:
        if not rows:
            return None
        heads = ("Claim", "Measurement", "Other seeds", "Broken worlds")
        table = build_table(heads, rows, ["claims-ledger", "stacked"], (5, 4, 2, 2))
        section = nodes.section("", nodes.title("", title), table)
        section["names"] = [nodes.fully_normalize_name(title)]
        self.state.document.note_implicit_target(section, section)
        return section

    def _row(self, claim: Claim, *origin: nodes.Node) -> nodes.row:
        """Build a row: the claim, its measurement, and how it fared with other seeds and in broken worlds."""
        back = _reference("mark", claim.id, nodes.inline("", claim.statement))
        mark = nodes.inline("", f"{_verdict_mark(claim)} ", classes=["verdict"])
        mark += nodes.inline("", f"{claim.verdict}: ", classes=["visually-hidden"])
        statement = nodes.paragraph("", "", mark, back, *origin)
        notes = {"stored, by": claim.stored, "source:": claim.source}
        measured = "; ".join([claim.measured, *(f"{name} {text}" for name, text in notes.items() if text)])
        domain = self.env.get_domain(ClaimsDomain.name)
        assert isinstance(domain, ClaimsDomain)
        cells = [statement, measured, *_fire(domain.tested.get(claim.id))]
        return build_row(cells, ids=[f"row-{claim.id}"], classes=[claim.verdict.replace(" ", "-")])


def _fire(found: UnderFire | None) -> tuple[nodes.Node | str, nodes.Node | str]:
    """Return the cells for other seeds and for broken worlds. The latter opens to names or a reason."""
    if found is None:
        return "not yet tested", "not yet tested"
    count = f"{len(found.noticed)} of {found.worlds}"
    more = html.escape(", ".join(found.noticed) or found.reason)
    fold = nodes.raw("", f"<details><summary>{count}</summary>{more}</details>", format="html")
    return f"{found.seeds} of {SEEDS}", fold


def _fire_summary(chapters: list[Chapter], tested: dict[str, UnderFire]) -> list[nodes.Node]:
    """Say which chapters ran with other seeds and in broken worlds, and how their claims fared."""
    run = [chapter for chapter in chapters if any(claim.id in tested for claim in chapter.claims)]
    found = [tested[claim.id] for chapter in run for claim in chapter.claims if claim.id in tested]
    if not found:
        text = "At present, no chapter has a valid test with other seeds and in broken worlds."
        return [nodes.paragraph("", text)]
    steady = sum(each.seeds == SEEDS for each in found)
    alert = sum(bool(each.noticed) for each in found)
    text = (
        f"Run with {SEEDS} other sets of seeds and in broken worlds so far: {len(run)} of {len(chapters)} "
        f"chapters ({', '.join(str(chapter.number) for chapter in run)}). Of their {len(found)} claims, "
        f"{steady} hold with all seeds, and {alert} fail in at least one broken world."
    )
    return [nodes.paragraph("", text)]


def _summary(held: dict[Chapter, nodes.section | None]) -> list[nodes.Node]:
    """Count the claims, in total and by chapter; the chapters link to their sections."""
    kept, refuted = (
        [len(chapter.claims_with(verdict)) for chapter in held] for verdict in ("holds", "does not hold")
    )
    text = f"{sum(kept) + sum(refuted)} claims were measured: {sum(kept)} hold, {sum(refuted)} do not."
    rows = []
    for (chapter, section), holds, fails in zip(held.items(), kept, refuted, strict=True):
        name = nodes.inline("", chapter.name)
        link = (
            name if section is None else nodes.reference("", "", name, refid=section["ids"][0], internal=True)
        )
        rows.append(build_row([link, str(holds), str(fails)]))
    heads = ("Chapter", "✔ holds", "✘ does not hold")
    return [nodes.paragraph("", text), build_table(heads, rows, ["claims-summary"], (6, 2, 2))]


def _verdict_mark(claim: Claim) -> str:
    return "✔" if claim.verdict == "holds" else "✘"


def _reference(kind: str, id: str, content: nodes.Element) -> pending_xref:
    """Return a link to a row of the ledger or to a mark; a dead link fails the build."""
    return pending_xref(
        "", content, refdomain=ClaimsDomain.name, reftype=kind, reftarget=id, refexplicit=True, refwarn=True
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the domain, the role and the directive."""
    app.add_domain(ClaimsDomain)
    app.add_role("claim", ClaimMark())
    app.add_directive("claims-ledger", ClaimsLedger)
    return {"parallel_read_safe": False, "parallel_write_safe": True}

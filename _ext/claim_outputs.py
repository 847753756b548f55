"""Fold each cell that measures a claim under one line: the verdict and the measurement."""

import html
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

from glassformer.claims import Claim, parse_line


class FoldedClaim(nodes.Element):
    """A cell whose code appears when a reader opens the line with its measurement."""


class ClaimOutputs(SphinxTransform):
    """Fold the cells whose printed output is claims only; other outputs of such a cell stay below."""

    default_priority = 899  # before hidden_code, which merges hidden cells

    def apply(self, **_: Any) -> None:
        """Fold the cells."""
        for output in list(self.document.findall(_is_stream)):
            lines = [parse_line(line) for line in output.astext().splitlines() if line.strip()]
            claims = [claim for claim in lines if claim is not None]
            if claims and len(claims) == len(lines):
                _fold(output, claims)


def _is_stream(node: nodes.Node) -> bool:
    return isinstance(node, nodes.literal_block) and "stream" in node["classes"]


def _fold(output: nodes.Element, claims: list[Claim]) -> None:
    outputs = output.parent
    cell = outputs.parent
    outputs.remove(output)
    if not outputs.children:
        cell.remove(outputs)
    code = [child for child in cell if child.get("nb_element") == "cell_code_source"]
    for child in code:
        cell.remove(child)
    cell.attributes.pop("hide_mode", None)
    cell.insert(0, FoldedClaim("", *code, claims=claims))


def _visit(self: HTML5Translator, node: FoldedClaim) -> None:
    classes = " ".join(dict.fromkeys(claim.verdict.replace(" ", "-") for claim in node["claims"]))
    self.body.append(f'<details class="claim {classes}"><summary>')
    self.body += map(_line, node["claims"])
    self.body.append("</summary>")


def _depart(self: HTML5Translator, node: FoldedClaim) -> None:
    self.body.append("</details>")


def _line(claim: Claim) -> str:
    mark = "✔" if claim.verdict == "holds" else "✘"
    label = "Measured" if claim.stored is None else "Stored"
    text = html.escape(f"{label}: {claim.measured}", quote=False)
    if claim.stored is not None:
        text += f" · from <code>{html.escape(claim.stored)}</code>"
    if claim.source is not None:
        text += f" · source: {html.escape(claim.source, quote=False)}"
    return f'<span id="claim-{claim.id}"><span class="verdict">{mark}</span> {text}</span>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the transform and its node."""
    app.add_node(FoldedClaim, html=(_visit, _depart))
    app.add_transform(ClaimOutputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

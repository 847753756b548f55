"""Show printed claims as sentences with their measurements instead of terminal output."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from glassformer.claims import Claim, parse_line


class ClaimOutputs(SphinxTransform):
    """Replace printed outputs that contain only claims."""

    default_priority = 900

    def apply(self, **_: Any) -> None:
        """Replace the outputs of all cells."""
        for output in list(self.document.findall(_is_stream)):
            claims = [parse_line(line) for line in output.astext().splitlines() if line.strip()]
            if claims and all(claims):
                output.parent.replace(output, [_show(claim) for claim in claims if claim is not None])


def _is_stream(node: nodes.Node) -> bool:
    return isinstance(node, nodes.literal_block) and "stream" in node["classes"]


def _show(claim: Claim) -> nodes.container:
    mark = nodes.inline("", "✔ " if claim.verdict == "holds" else "✘ ", classes=["verdict"])
    verdict = nodes.strong("", f"{claim.kind} {claim.verdict}: ".capitalize())
    statement = nodes.paragraph("", "", mark, verdict, nodes.Text(claim.statement))
    measured = nodes.paragraph("", f"Measured: {claim.measured}", classes=["measured"])
    if claim.source is not None:
        measured += nodes.Text(f" · source: {claim.source}")
    classes = ["claim-output", claim.verdict.replace(" ", "-")]
    return nodes.container("", statement, measured, classes=classes, is_div=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the transform."""
    app.add_transform(ClaimOutputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

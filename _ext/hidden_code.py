"""Merge adjacent hidden code cells, so that a reader opens them together."""

from itertools import pairwise
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class HiddenCode(SphinxTransform):
    """Append a hidden cell to the hidden cell before it, if that one has no output."""

    default_priority = 900

    def apply(self, **_: Any) -> None:
        """Merge the cells from last to first."""
        cells = [node for node in self.document.findall(nodes.container) if node.get("hide_mode") == "input"]
        for cell, following in reversed([*pairwise(cells)]):
            if len(cell) == 1 and following is cell.next_node(descend=False, siblings=True):
                code, *outputs = following
                cell[0].extend(code.children)
                cell.extend(outputs)
                following.parent.remove(following)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the transform."""
    app.add_transform(HiddenCode)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Merge adjacent hidden code cells, so that a reader opens them together, and announce solutions as such."""

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


class HiddenSolutions(SphinxTransform):
    """Ask readers whether to show a solution, not code."""

    default_priority = HiddenCode.default_priority

    def apply(self, **_: Any) -> None:
        """Replace the prompts of the cells with the tag ``solution``."""
        for cell in self.document.findall(nodes.container):
            if "tag_solution" in cell["classes"] and "hide_mode" in cell:
                cell["prompt_show"], cell["prompt_hide"] = "Show a solution", "Hide the solution"


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the transforms."""
    app.add_transform(HiddenCode)
    app.add_transform(HiddenSolutions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

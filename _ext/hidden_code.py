"""Code that is hidden over several cells is opened at one place: a reader opens all of it or none."""

from itertools import pairwise
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class HiddenCode(SphinxTransform):
    """Put the code of a hidden cell behind that of the hidden cell before it, if that shows nothing."""

    default_priority = 900

    def apply(self, **_: Any) -> None:
        """Look through the cells from the last to the first."""
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

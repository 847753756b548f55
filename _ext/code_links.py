"""Roles that link to the code and its tests by name; the line is found when the site is built.

- ``{source}`glassformer.reference.softmax.softmax` `` links to the definition of that name.
- ``{test}`reference/test_softmax.py::test_a_constant_added_to_all_scores_changes_nothing` `` links to a test
  and shows its name as a sentence; ``{test}`other words <...>` `` shows other words.

A name that does not exist is a warning, which fails the build.
"""

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole

from bookkit.definitions import find_source, find_test

logger = logging.getLogger(__name__)
_SPELLING = {"pytorch": "PyTorch", "pytorchs": "PyTorch’s", "bleu": "BLEU", "papers": "paper’s"}


class CodeRole(ReferenceRole):
    """A link to a line of the book's repository, or a warning."""

    kind: str

    def find(self, root: Path) -> tuple[Path, int] | None:
        """Find the file and line."""
        raise NotImplementedError

    def show(self) -> nodes.Node:
        """Return the text of the link."""
        raise NotImplementedError

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link."""
        root = Path(self.env.srcdir)
        found = self.find(root)
        if found is None:
            logger.warning("there is no %s %r", self.kind, self.target, location=self.get_location())
            return [nodes.Text(self.title)], []
        path, line = found
        self.env.note_dependency(str(path))
        options = self.config.html_theme_options
        where = f"{options['repository_url']}/blob/{options['repository_branch']}"
        address = f"{where}/{path.relative_to(root).as_posix()}#L{line}"
        shown = nodes.inline("", self.title) if self.has_explicit_title else self.show()
        return [nodes.reference("", "", shown, refuri=address, internal=False, classes=[self.kind])], []


class SourceRole(CodeRole):
    """A link to a definition in the package."""

    kind = "source"

    def find(self, root: Path) -> tuple[Path, int] | None:
        """Find the definition."""
        return find_source(root, self.target)

    def show(self) -> nodes.Node:
        """Show the name without that of the package; lines may break at its dots."""
        name = re.sub(r"\.", ".<wbr>", html.escape(self.target.split(".", 1)[-1]))
        code = f'<code class="docutils literal notranslate">{name}</code>'
        return nodes.raw("", code, format="html")


class CodeTestRole(CodeRole):
    """A link to a test; its name is a sentence."""

    kind = "test"

    def find(self, root: Path) -> tuple[Path, int] | None:
        """Find the test."""
        return find_test(root, self.target)

    def show(self) -> nodes.Node:
        """Show the name as a sentence."""
        words = self.target.split("::")[-1].removeprefix("test_").split("_")
        return nodes.inline("", " ".join(_SPELLING.get(word, word) for word in words))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the roles."""
    app.add_role("source", SourceRole())
    app.add_role("test", CodeTestRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}

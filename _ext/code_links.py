"""Links from a page into the code and its tests, which name what they mean and find its line at build time.

- ``{source}`glassformer.reference.softmax.softmax` `` leads to the line where that name is defined.
- ``{test}`reference/test_softmax.py::test_a_constant_added_to_all_scores_changes_nothing` `` leads to a test,
  and shows its name as the sentence that it is. ``{test}`other words <...>` `` shows other words.

What does not exist is a warning, which fails the build. Nothing is imported: the files are only parsed.
"""

import ast
import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole

logger = logging.getLogger(__name__)


def line_of(path: Path, names: Iterable[str]) -> int | None:
    """Return the line on which a name is defined in a file, each name inside the one before."""
    node: ast.AST = ast.parse(path.read_text(encoding="utf-8"))
    for name in names:
        found = next((each for each in getattr(node, "body", []) if name in _defines(each)), None)
        if found is None:
            return None
        node = found
    return getattr(node, "lineno", 1)


def _defines(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign():
            return [target.id for target in node.targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def find_source(root: Path, dotted_name: str) -> tuple[Path, int] | None:
    """Find the file and the line of a name such as ``package.module.Class.method``."""
    parts = dotted_name.split(".")
    for end in range(len(parts), 0, -1):
        path = root.joinpath("src", *parts[:end]).with_suffix(".py")
        if path.is_file():
            line = line_of(path, parts[end:])
            return None if line is None else (path, line)
    return None


def find_test(root: Path, test_id: str) -> tuple[Path, int] | None:
    """Find the file and the line of a test such as ``modules/test_heads.py::test_it_works``."""
    file, *names = test_id.split("::")
    path = root / "tests" / file
    line = line_of(path, names) if path.is_file() and names else None
    return None if line is None else (path, line)


class CodeRole(ReferenceRole):
    """What both roles share: a link to a line of the book's repository, or a warning."""

    kind: str

    def find(self, root: Path) -> tuple[Path, int] | None:
        """Find what the role names."""
        raise NotImplementedError

    def show(self) -> nodes.Node:
        """Show it in its own words."""
        raise NotImplementedError

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Set the link."""
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
    """A definition of the package."""

    kind = "source"

    def find(self, root: Path) -> tuple[Path, int] | None:
        """Find the definition."""
        return find_source(root, self.target)

    def show(self) -> nodes.Node:
        """Show the name without that of the package; it may be broken where its words end."""
        name = re.sub(r"\.", ".<wbr>", html.escape(self.target.split(".", 1)[-1]))
        code = f'<code class="docutils literal notranslate">{name}</code>'
        return nodes.raw("", code, format="html")


class CodeTestRole(CodeRole):
    """A test, whose name is the sentence that would be false if it failed."""

    kind = "test"

    def find(self, root: Path) -> tuple[Path, int] | None:
        """Find the test."""
        return find_test(root, self.target)

    def show(self) -> nodes.Node:
        """Show the name as a sentence."""
        name = self.target.split("::")[-1].removeprefix("test_")
        return nodes.inline("", name.replace("_", " "))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the roles."""
    app.add_role("source", SourceRole())
    app.add_role("test", CodeTestRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}

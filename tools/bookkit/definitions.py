"""Find the file and line of a definition or a test by name; files are parsed, not imported."""

import ast
from collections.abc import Iterable
from pathlib import Path


def find_source(root: Path, dotted_name: str) -> tuple[Path, int] | None:
    """Find the file and line of a name such as ``package.module.Class.method``."""
    parts = dotted_name.split(".")
    for end in range(len(parts), 0, -1):
        module = root.joinpath("src", *parts[:end])
        for path in (module.with_suffix(".py"), module / "__init__.py"):
            if path.is_file():
                line = line_of(path, parts[end:])
                return None if line is None else (path, line)
    return None


def find_test(root: Path, test_id: str) -> tuple[Path, int] | None:
    """Find the file and line of a test such as ``modules/test_heads.py::test_it_works``."""
    file, *names = test_id.split("::")
    path = root / "tests" / file
    line = line_of(path, names) if path.is_file() and names else None
    return None if line is None else (path, line)


def line_of(path: Path, names: Iterable[str]) -> int | None:
    """Return the line of a file that defines a name; each name is nested in the one before."""
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

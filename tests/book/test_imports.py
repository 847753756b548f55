"""Chapters, benchmarks and teaching material import the package through its faces."""

import ast
import re

import pytest

from bookkit.chapters import ROOT, read_chapters

CODE = [path for folder in ("benchmarks", "tools", "_ext") for path in sorted((ROOT / folder).rglob("*.py"))]
TEXTS = sorted((ROOT / "teach").rglob("*.md"))
MOST_NAMES = 8


def too_deep(code):
    """Imports from below a package's face: a face is `glassformer` or `glassformer.<package>`."""
    found = re.findall(r"^\s*(?:from|import) (glassformer[\w.]*)", code, re.MULTILINE)
    return [module for module in found if module.count(".") > 1]


def opening_names(chapter):
    """Names that a chapter's first cell with imports takes from inside the package."""
    cells = [cell.source for cell in chapter.cells if cell.cell_type == "code"]
    opening = next(code for code in cells if re.search(r"^(?:from|import) glassformer", code, re.MULTILINE))
    return [
        alias.name
        for node in ast.walk(ast.parse(opening))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("glassformer")
        for alias in node.names
    ]


def code_in(path):
    text = path.read_text(encoding="utf-8")
    return text if path.suffix == ".py" else "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("from glassformer.modules import Transformer\nimport glassformer as gf", []),
        ("from glassformer.exercises import masks", []),
        ("    from glassformer.modules.layers import Residual", ["glassformer.modules.layers"]),
        ("import glassformer.modules.layers as layers", ["glassformer.modules.layers"]),
    ],
)
def test_an_import_from_below_a_face_is_found(code, modules):
    assert too_deep(code) == modules


@pytest.mark.parametrize("path", CODE + TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_tools_benchmarks_and_teaching_material_import_from_faces(path):
    assert too_deep(code_in(path)) == []


@pytest.mark.parametrize("chapter", read_chapters(), ids=lambda chapter: chapter.slug)
def test_a_chapter_imports_from_faces(chapter):
    assert too_deep("\n".join(cell.source for cell in chapter.cells if cell.cell_type == "code")) == []


@pytest.mark.parametrize("chapter", read_chapters(), ids=lambda chapter: chapter.slug)
def test_a_chapter_opens_with_at_most_eight_names_from_the_package(chapter):
    assert len(opening_names(chapter)) <= MOST_NAMES

"""Docstrings name the thing that an argument is: they open with a noun, not with a question word."""

import ast
import re
from pathlib import Path

import docstring_parser
import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(
    path
    for folder in ("src", "tools", "_ext", "benchmarks", "teach")
    for path in (ROOT / folder).rglob("*.py")
)
QUESTION_WORD = re.compile(r"(what|how|where|whether|which|who|whose|whom|when|why)\b", re.IGNORECASE)


def descriptions(source):
    """Yield each documented argument or attribute: its owner, its name and its description."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            continue
        docstring = docstring_parser.parse(
            ast.get_docstring(node) or "", docstring_parser.DocstringStyle.GOOGLE
        )
        for parameter in docstring.params:
            yield getattr(node, "name", "module"), parameter.arg_name, parameter.description or ""


def questions(source):
    return [
        f"{owner}({name}): {description[:60]}"
        for owner, name, description in descriptions(source)
        if QUESTION_WORD.match(description)
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_argument_descriptions_open_with_a_noun(path):
    assert not questions(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("opening", ["what looks", "How many heads", "whether to mask", "where to"])
def test_a_question_word_is_found(opening):
    source = f'def attend(query):\n    """Attend.\n\n    Args:\n        query: {opening}.\n    """\n'
    assert questions(source) == [f"attend(query): {opening}."]

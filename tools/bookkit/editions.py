"""Edit the source of a page for an edition of the book: the reader's, the students' or the teacher's.

- A cell tagged ``solution`` is folded for readers, removed for students, and open for teachers.
- A block ``:::{teacher}`` is kept for teachers only. The content of ``:::{student}`` is for students only,
  that of ``:::{reader}`` for everyone else; the fences of these two are always removed.
- A cell tagged ``colab`` clones the book's repository; for students it clones their course, or is removed.
- For teachers, the notes on a chapter are appended to it.
"""

import json
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

Cell = dict[str, Any]
BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)(?:"
    r"(?P<ticks>`{3,})(?P<info>[^`\n]*)\n(?P<code>.*?)^[ \t]*(?P=ticks)`*|"
    r"(?P<fence>:{3,})\{(?P<kind>teacher|student|reader)\}[^\n]*\n(?P<body>.*?)^(?P=indent)(?P=fence):*"
    r")[ \t]*(?:\n|\Z)",
    flags=re.DOTALL | re.MULTILINE,
)
SHOWN_IN = {"teacher": {"teacher"}, "student": {"student"}, "reader": {"reader", "teacher"}}


@dataclass(frozen=True)
class Edition:
    """An edition: reader, student or teacher, and the repositories of the book and the course."""

    name: str
    repository: str
    course_repository: str = ""

    @property
    def is_for_students(self) -> bool:
        """True if the edition hides solutions."""
        return self.name == "student"

    @property
    def is_for_teachers(self) -> bool:
        """True if the edition shows everything."""
        return self.name == "teacher"


def edit_page(source: str, path: PurePath, edition: Edition, notes: str = "") -> str:
    """Edit the source of a page for an edition.

    Args:
        source: content of the file.
        path: path of the file, a notebook or a Markdown page.
        edition: edition to build.
        notes: text to append for teachers.

    Raises:
        ValueError: a block inside another begins with too many colons.
    """
    if path.suffix == ".ipynb":
        return _edit_notebook(source, edition, notes)
    return _edit_text(source, edition) + (f"\n{notes}" if edition.is_for_teachers and notes else "")


def _edit_text(text: str, edition: Edition) -> str:
    def keep(block: re.Match[str]) -> str:
        if block["ticks"]:  # a code block stays as it is, unless it is a directive
            is_directive = block["info"].startswith("{")
            edited = _edit_text(block["code"], edition) if is_directive else block["code"]
            return block[0].replace(block["code"], edited, 1)
        kind, body, fence = block["kind"], block["body"], block["fence"]
        if re.search(rf"^[ \t]*{fence}:*\{{", body, flags=re.MULTILINE):
            raise ValueError(f"a block inside {fence}{{{kind}}} must begin with fewer colons than it has")
        if edition.name not in SHOWN_IN[kind]:
            return ""
        return block[0] if kind == "teacher" else body

    return BLOCK.sub(keep, text)


def _edit_notebook(source: str, edition: Edition, notes: str) -> str:
    notebook = json.loads(source)
    notebook["cells"] = [
        _edit_cell(cell, edition) for cell in notebook["cells"] if _is_kept(_tags(cell), edition)
    ]
    if edition.is_for_teachers and notes:
        cell = {"cell_type": "markdown", "id": "for-teachers", "metadata": {}, "source": notes}
        notebook["cells"].append(cell)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _is_kept(tags: list[str], edition: Edition) -> bool:
    if not edition.is_for_students:
        return True
    return "solution" not in tags and ("colab" not in tags or bool(edition.course_repository))


def _edit_cell(cell: Cell, edition: Edition) -> Cell:
    tags, text = _tags(cell), "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        text = _edit_text(text, edition)
    if edition.is_for_students and "colab" in tags:
        text = text.replace(edition.repository, edition.course_repository)
    if edition.is_for_teachers and "solution" in tags:
        tags = [tag for tag in tags if tag != "hide-cell"]
    metadata = cell["metadata"] | ({"tags": tags} if tags else {})
    return cell | {"source": text.splitlines(keepends=True), "metadata": metadata}


def _tags(cell: Cell) -> list[str]:
    return list(cell["metadata"].get("tags", []))

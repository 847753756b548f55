"""A figure that is alive in the reader's browser: numbers and a table from Python, drawn by a script."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent
SHARED = ("figures.css", "figures.js", "matrices.js")
EXTRA = {  # scripts of several figures, by the figures that need them
    "beam": ("engine/*.js",),
    "block": ("normals.js",),
    "grammar": ("word_diff.js", "engine/*.js"),
    "hero": ("engine/*.js",),
    "scaling": ("normals.js",),
    "translate": ("word_diff.js", "engine/*.js"),
}


def files_of(name: str) -> list[str]:
    """List the style sheets and scripts of a figure, relative to `SCRIPTS`, in loading order."""
    folder = f"figures/{name}"
    found = [
        path for pattern in (*EXTRA.get(name, ()), f"{folder}/*.js") for path in sorted(SCRIPTS.glob(pattern))
    ]
    parts = [path.relative_to(SCRIPTS).as_posix() for path in found if path.stem != "figure"]
    return [*SHARED, *parts, f"{folder}/figure.css", f"{folder}/figure.js"]


def read_files(name: str, ending: str) -> str:
    """Concatenate all style sheets of a figure, or all scripts."""
    files = (file for file in files_of(name) if file.endswith(ending))
    return "\n".join((SCRIPTS / file).read_text(encoding="utf-8") for file in files)


def copy_scripts(folder: Path) -> None:
    """Copy the style sheets and scripts of all figures into a folder, under their names in `files_of`."""
    for path in (*SCRIPTS.rglob("*.css"), *SCRIPTS.rglob("*.js")):
        copy = folder / path.relative_to(SCRIPTS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


class Table:
    """What a figure shows at its start, in words and numbers: for paper, and where no script runs.

    Args:
        caption: what the numbers are.
        head: a word for each column.
        rows: what stands in the columns, the first a word for the row.
    """

    def __init__(self, caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        widths = {len(head), *map(len, rows)}
        if len(widths) != 1:
            raise ValueError(f"head and rows must be equally long, got lengths {sorted(widths)}")
        self.caption, self.head, self.rows = caption, head, rows

    def to_html(self) -> str:
        """Write the table."""
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in self.head)
        body = "".join(
            f'<tr><th scope="row">{escape(first)}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
            + "</tr>"
            for first, *rest in self.rows
        )
        return (
            f'<table class="table"><caption>{escape(self.caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


class LiveFigure:
    """One figure: what it starts from, and the table that stands in its place without a script.

    On the book's pages the scripts are loaded by the page. In a notebook they come with the output, unless
    the environment says ``GLASSFORMER_SCRIPTS=page``, as it does where outputs are stored or compared.

    Args:
        name: folder of its scripts, ``figures/<name>``.
        label: what the figure is, for those who hear it.
        data: what the script starts from: numbers, words, lists and mappings.
        table: what the figure shows at its start.
        heights: the room that the page keeps for it, in rem: where it is 40 rem wide, and on a telephone.

    Raises:
        ValueError: there is no such script, or ``data`` holds NaN or infinity, which JSON does not know.
    """

    def __init__(
        self,
        name: str,
        *,
        label: str,
        data: Mapping[str, Any],
        table: Table,
        heights: tuple[float | int, float | int],
    ) -> None:
        known = sorted(path.parent.name for path in SCRIPTS.glob("figures/*/figure.js"))
        if name not in known:
            raise ValueError(f"name must be a figure's, one of {', '.join(known)}, got {name!r}")
        self.name, self.label, self.table, self.heights = name, label, table, heights
        self.json = json.dumps(data, allow_nan=False, ensure_ascii=False).replace("</", "<\\/")

    def __repr__(self) -> str:
        return f"LiveFigure({self.name!r})"

    def to_html(self) -> str:
        """Write the figure without its scripts."""
        wide, narrow = self.heights
        return (
            f'<glass-figure name="{self.name}" role="group" aria-label="{escape(self.label)}" '
            f'style="--wide: {wide:g}rem; --narrow: {narrow:g}rem">'
            f'<script type="application/json">{self.json}</script>{self.table.to_html()}</glass-figure>'
        )

    def _repr_html_(self) -> str:
        html = self.to_html()
        if os.environ.get("GLASSFORMER_SCRIPTS") == "page":
            return html
        sheets, scripts = read_files(self.name, ".css"), read_files(self.name, ".js")
        return f"{html}<style>{sheets}</style><script>{scripts}</script>"

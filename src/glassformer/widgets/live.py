"""An interactive figure in the browser: data and a table from Python, drawn by a script."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent
SHARED = ("figures.css", "figures.js", "matrices.js")
EXTRA = {  # additional scripts by figure
    "beam": ("engine/*.js",),
    "block": ("normals.js",),
    "grammar": ("word_diff.js", "engine/*.js"),
    "hero": ("engine/*.js",),
    "scaling": ("normals.js",),
    "train": ("engine/random.js", "engine/positions.js", "engine/scheduling.js", "learning/*.js"),
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


def show_numbers(*numbers: float) -> str:
    """Format numbers with two decimals, as the figures do."""
    return " ".join(f"{number + 0:.2f}".replace("-", "−") for number in numbers)


def copy_scripts(folder: Path) -> None:
    """Copy the style sheets and scripts of all figures into a folder, under their names in `files_of`."""
    for path in (*SCRIPTS.rglob("*.css"), *SCRIPTS.rglob("*.js")):
        copy = folder / path.relative_to(SCRIPTS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


class Table:
    """Static table that replaces a figure in print and without JavaScript; it shows the initial state.

    Args:
        caption: caption of the table.
        head: column headings.
        rows: cells of each row; the first is the row's heading.
    """

    def __init__(self, caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        widths = {len(head), *map(len, rows)}
        if len(widths) != 1:
            raise ValueError(f"head and rows must have the same length, got {sorted(widths)}")
        self.caption, self.head, self.rows = caption, head, rows

    def to_html(self) -> str:
        """Render the table as HTML."""
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
    """A figure with its initial data and a static table.

    On the book's pages the page loads the scripts. In a notebook they come with the output, unless the
    environment variable ``GLASSFORMER_SCRIPTS`` is ``page``, as it is when outputs are stored or compared.

    Args:
        name: folder of its scripts, ``figures/<name>``.
        label: accessible name.
        data: initial data of the script, serializable as JSON.
        table: static table of the initial state.
        heights: height that the page reserves, in rem: at a width of 40 rem, and on a phone.

    Raises:
        ValueError: ``name`` is not a figure, or ``data`` holds NaN or infinity, which JSON does not allow.
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
            raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}")
        self.name, self.label, self.table, self.heights = name, label, table, heights
        self.json = json.dumps(data, allow_nan=False, ensure_ascii=False).replace("</", "<\\/")

    def __repr__(self) -> str:
        return f"LiveFigure({self.name!r})"

    def to_html(self) -> str:
        """Render the figure as HTML without its scripts."""
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

"""Write the size of every image into the page, so that the layout does not shift while images load.

All images of an article but the first load lazily.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from PIL import Image
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

PICTURE = re.compile(r'<img(?![^>]*\swidth=")[^>]*?\ssrc="([^"]+)"')
VIEW_BOX = re.compile(r'viewBox="[\d.]+[ ,]+[\d.]+[ ,]+([\d.]+)[ ,]+([\d.]+)"')


def size_of(file: Path) -> tuple[int, int] | None:
    """Return the width and height of an image, if known."""
    if file.suffix == ".svg":
        box = VIEW_BOX.search(file.read_text(encoding="utf-8"))
        return None if box is None else (round(float(box[1])), round(float(box[2])))
    with Image.open(file) as picture:
        return picture.size


def add_sizes(text: str, page: Path) -> str:
    """Add the sizes of images to the HTML of a page."""
    first = PICTURE.search(text, max(text.find("<article"), 0))

    def add_size(found: re.Match[str]) -> str:
        address = urlsplit(found[1])
        file = page.parent / unquote(address.path)
        size = None if address.scheme or not file.is_file() else size_of(file)
        if size is None:
            return found[0]
        later = ' loading="lazy"' if first is not None and found.start() > first.start() else ""
        return f'{found[0]} width="{size[0]}" height="{size[1]}"{later}'

    return PICTURE.sub(add_size, text)


def update_pages(app: Sphinx, exception: Exception | None) -> None:
    """Update every written page."""
    if exception is None and isinstance(app.builder, StandaloneHTMLBuilder):
        for docname in [*app.env.found_docs, "genindex", "search"]:
            page = Path(app.builder.get_outfilename(docname))
            page.write_text(add_sizes(page.read_text(encoding="utf-8"), page), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Update the pages at the end of the build."""
    app.connect("build-finished", update_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

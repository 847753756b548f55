"""Draw the preview image of each page: its title over a drawing.

Run ``python -m bookkit.print.previews _build/html _static/previews`` (needs Chromium). The images are stored,
so a build needs no browser. Each image stores its title, so a test can tell that it is out of date.
"""

import html
import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urljoin

from bs4 import BeautifulSoup
from PIL import Image, PngImagePlugin
from playwright.sync_api import Page

from bookkit.print.chromium import open_chromium
from bookkit.print.pdf import read_book

COLOURS = 128
LOOK = """
@font-face { font-family: "Source Serif"; font-weight: 200 900; src: url("%s"); }
* { box-sizing: border-box; margin: 0; }
body { display: flex; flex-direction: column; width: 1200px; height: 630px; padding: 50px 72px 34px; }
.logo { align-self: flex-start; height: 56px; }
h1 { margin-top: 30px; color: #1d2128; font: 620 54px/1.14 "Source Serif", serif; letter-spacing: -0.015em; }
h1 { text-wrap: balance; }
h1 .section-number { color: #5b3cc4; }
.drawing { flex: 1; min-height: 0; margin-top: 26px; object-fit: contain; object-position: left; }
"""


def compose(site: Path, docname: str) -> tuple[str, str]:
    """Return the title of a page, and an HTML document with the title over the page's first drawing."""
    address = (site / f"{docname}.html").as_uri()
    page = BeautifulSoup((site / f"{docname}.html").read_text(encoding="utf-8"), "html.parser")
    heading = page.select_one("article h1")
    if heading is None:
        raise ValueError(f"{docname}.html has no title")
    for link in heading.select(".headerlink"):
        link.decompose()
    title = " ".join(heading.get_text().split())
    first = page.select_one("article section > .cell img") if docname.startswith("chapters/") else None
    drawing = urljoin(address, str(first["src"])) if first else (site / "_static/transformer.svg").as_uri()
    shown = heading.decode_contents() if title != "Glassformer" else "A Transformer you can see through"
    font = (site / "_static/source-serif/source-serif-4-latin-wght-normal.woff2").as_uri()
    logo = (site / "_static/logo.svg").as_uri()
    body = (
        f'<img class="logo" src="{logo}"><h1>{shown}</h1><img class="drawing" src="{html.escape(drawing)}">'
    )
    return title, f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><style>{LOOK % font}</style>{body}'


def draw(page: Page, document: str, title: str, output: Path) -> None:
    """Draw one preview with a reduced palette, and store its title in the file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "preview.html")
        file.write_text(document, encoding="utf-8")
        page.goto(file.as_uri())
        page.evaluate("() => document.fonts.ready.then(() => true)")
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    text = PngImagePlugin.PngInfo()
    text.add_itxt("Title", title)
    output.parent.mkdir(parents=True, exist_ok=True)
    few = picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(output, optimize=True, pnginfo=text)


def main(arguments: Sequence[str]) -> None:
    """Draw the pages of the built site (first argument) into a folder (second argument)."""
    site, folder = Path(arguments[0]).resolve(), Path(arguments[1])
    with open_chromium() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 630})
        for docname in read_book(site).docnames:
            title, document = compose(site, docname)
            draw(page, document, title, folder / f"{docname}.png")


if __name__ == "__main__":
    main(sys.argv[1:])

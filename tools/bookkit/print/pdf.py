"""Print the whole book: join the built pages into one document and print it with Chromium.

Run ``python -m bookkit.print.pdf _build/html _build/glassformer.pdf`` (needs the built website and Chromium).

Dropdowns are open in print. Solutions move to the end of their chapter, so a reader does not see them beside
the exercise; code that only imports or plots is left out. The document is printed at least twice: the first
print yields the page on which each chapter begins, and the next one shows these numbers in its contents.
"""

import html
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser, Page
from pypdf import PdfReader

from bookkit.chapters import ROOT
from bookkit.print.chromium import open_chromium

LOOK = Path(__file__).with_suffix(".css")
TIMEOUT = 600_000  # milliseconds; hundreds of pages take long on a slow machine
LEFT_OUT = ", ".join(
    [
        ".headerlink",
        ".cell.tag_hide-input .above-input",
        "details.claim > .cell_input",
        ".tag_exercise .cell_output",
        ".tag_solution .stream",
        "glass-figure > script",
        ".sd-summary-state-marker",
    ]
)
ID_REFERENCES = ("for", "aria-labelledby", "aria-describedby")  # attributes that refer to ids


class Part(NamedTuple):
    """A part of the book with its pages; the first part has no caption."""

    caption: str | None
    docnames: tuple[str, ...]


class Book(NamedTuple):
    """A book to print: the folder of the built site, the parts, and the web address of the site."""

    site: Path
    parts: tuple[Part, ...]
    address: str

    @property
    def docnames(self) -> list[str]:
        """Pages in reading order."""
        return [docname for part in self.parts for docname in part.docnames]


def read_book(site: Path) -> Book:
    """Read the pages of the book from its table of contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    parts = [
        Part(part.get("caption"), tuple(each["file"] for each in part["chapters"])) for part in toc["parts"]
    ]
    return Book(site, (Part(None, (toc["root"],)), *parts), config["html"]["baseurl"])


# ---- From a page of the site to a section of the document ----


def name_of(docname: str, place: str = "") -> str:
    """Return the unique id of a page in the document, or of an element in it."""
    return "--".join(filter(None, [docname.replace("/", "-"), place]))


def read_page(book: Book, docname: str) -> BeautifulSoup:
    """Read a page of the site."""
    return BeautifulSoup((book.site / f"{docname}.html").read_text(encoding="utf-8"), "html.parser")


def read_article(book: Book, docname: str) -> Tag:
    """Read the article of a page and prepare it for print.

    Raises:
        ValueError: the page has no article.
    """
    page = read_page(book, docname)
    article = page.select_one("article.bd-article")
    if article is None:
        raise ValueError(f"{docname}.html has no article")
    for element in article.select(LEFT_OUT):
        element.decompose()
    for link in article.select("a.image-reference"):
        link.unwrap()
    for details in article.select("details.sd-dropdown"):
        details["open"] = ""
    for figure in article.select("glass-figure"):
        figure.insert_after(_website_note(page, f"{book.address}{docname}.html"))
    move_solutions(page, article)
    for heading in article.select("h1, h2, h3"):
        keep_spaces(page, heading)
    prefix_ids(article, docname)
    for link in article.select("a[href]"):
        link["href"] = resolve_link(book, docname, str(link["href"]))
    for picture in article.select("img[src]"):
        picture["src"] = file_of(book, docname, str(picture["src"]))
        del picture["loading"]
    return article


def _website_note(page: BeautifulSoup, address: str) -> Tag:
    note = page.new_tag("p", attrs={"class": "on-the-website"})
    link = page.new_tag("a", attrs={"href": address})
    link.string = "on the website"
    note.extend(["This figure is interactive ", link, "."])
    return note


def move_solutions(page: BeautifulSoup, article: Tag) -> None:
    """Move the solutions of the exercises to the end of the chapter."""
    cells = article.select(".tag_solution")
    if not cells:
        return
    solutions = page.new_tag("section", attrs={"class": "solutions"})
    heading = page.new_tag("h2")
    heading.string = "Solutions"
    solutions.append(heading)
    for cell in cells:
        exercise = cell.find_previous("div", class_="exercise")
        title = exercise.select_one(".admonition-title") if exercise is not None else None
        for fold in cell.select("details"):
            if (summary := fold.find("summary")) is not None:
                summary.decompose()
            fold.unwrap()
        if exercise is not None and title is not None:
            link = page.new_tag("a", attrs={"href": f"#{exercise['id']}"})
            link.string = " ".join(title.get_text().split())
            paragraph = page.new_tag("p", attrs={"class": "solved"})
            paragraph.append(link)
            solutions.append(paragraph)
        solutions.append(cell.extract())
    article.append(solutions)


def keep_spaces(page: BeautifulSoup, heading: Tag) -> None:
    """Keep the spaces of a heading in its PDF bookmark: Chromium drops a space at the end of a line."""
    for text in heading.find_all(string=True):
        for word in re.split(r"(?<=\s)", text):
            text.insert_before(re.sub(r"\s", "\N{NO-BREAK SPACE}", word), page.new_tag("wbr"))
        text.extract()


def prefix_ids(article: Tag, docname: str) -> None:
    """Make every id unique in the document."""
    for element in article.select("[id]"):
        element["id"] = name_of(docname, str(element["id"]))
    for attribute in ID_REFERENCES:
        for element in article.select(f"[{attribute}]"):
            names = str(element[attribute]).split()
            element[attribute] = " ".join(name_of(docname, name) for name in names)


def resolve_link(book: Book, docname: str, link: str) -> str:
    """Resolve a link to an id in the document, or to the website."""
    if urlsplit(link).scheme:
        return link
    parts = urlsplit(urljoin(f"/{docname}.html", link))
    target = parts.path.removeprefix("/")
    if (name := target.removesuffix(".html")) in book.docnames:
        return f"#{name_of(name, parts.fragment)}"
    return urljoin(book.address, parts._replace(path=target).geturl())


def file_of(book: Book, docname: str, link: str) -> str:
    """Return the ``file:`` address of a file of the site."""
    path = urlsplit(urljoin(f"/{docname}.html", link)).path
    return (book.site / path.removeprefix("/")).as_uri()


# ---- The document ----


class Leaf(NamedTuple):
    """A page of the site in the document."""

    docname: str
    title: str
    content: str


def read_leaf(book: Book, docname: str) -> Leaf:
    """Read the article and the title of a page."""
    article = read_article(book, docname)
    heading = article.find("h1")
    title = docname if heading is None else " ".join(heading.get_text().split())
    return Leaf(docname, title, article.decode())


def compose(book: Book, leaves: dict[str, Leaf], first_pages: dict[str, int]) -> str:
    """Write the document: title page, contents with the known page numbers, and all pages."""
    body = [_title_page(book), _contents(book, leaves, first_pages)]
    for part in book.parts:
        if part.caption is not None:
            body.append(f'<section class="part"><h1>{html.escape(part.caption)}</h1></section>')
        for leaf in (leaves[docname] for docname in part.docnames):
            name = name_of(leaf.docname)
            body.append(f'<section class="leaf" id="{name}" style="page: {name}">{leaf.content}</section>')
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="light"><head><meta charset="utf-8"><title>Glassformer</title>
{_head(book)}<style>{LOOK.read_text(encoding="utf-8")}{"".join(map(_running_head, leaves.values()))}</style>
</head><body class="bd-content">{"".join(body)}</body></html>"""


def _head(book: Book) -> str:
    """Return the style sheets of all pages and the scripts that typeset formulas."""
    sheets, scripts = {}, {}
    for docname in book.docnames:
        page = read_page(book, docname)
        for sheet in page.select("link[rel=stylesheet]"):
            address = file_of(book, docname, str(sheet["href"]))
            sheets[address] = f'<link rel="stylesheet" href="{address}">'
        for script in page.select("head script"):
            if "MathJax" in script.get_text() or "mathjax" in str(script.get("src", "")):
                if script.has_attr("src"):
                    script["src"] = file_of(book, docname, str(script["src"]))
                scripts[script.decode()] = script.decode()
    # The book's own style sheet comes last, as on each page.
    ordered = sorted(sheets.values(), key=lambda sheet: "book.css" in sheet)
    return "\n".join([*ordered, *scripts.values()])


def _running_head(leaf: Leaf) -> str:
    title = leaf.title.replace("\\", r"\\").replace('"', r"\"")
    return f'@page {name_of(leaf.docname)} {{ @top-right {{ content: "{title}"; }} }}\n'


def _title_page(book: Book) -> str:
    drawing = (book.site / "_static/transformer.svg").as_uri()
    return f"""<section class="title-page">
<h1>Glassformer</h1><p class="subtitle">A Transformer you can see through</p>
<img src="{drawing}" alt="A drawing of the whole Transformer.">
<p>On the website the figures are interactive, and every chapter is a notebook that you can run:<br>
<a href="{book.address}">{book.address}</a></p>
<p>Text and figures: CC BY 4.0. Code: BSD-3-Clause.</p></section>"""


def _contents(book: Book, leaves: dict[str, Leaf], first_pages: dict[str, int]) -> str:
    lines = []
    for part in book.parts:
        lines += [f'<p class="caption">{html.escape(part.caption)}</p>'] if part.caption else []
        for docname in part.docnames:
            name = name_of(docname)
            number = first_pages.get(name, "")
            title = html.escape(leaves[docname].title)
            lines.append(f'<p><a href="#{name}"><span>{title}</span><span>{number}</span></a></p>')
    return f'<section class="contents"><h1>Contents</h1>{"".join(lines)}</section>'


# ---- Printing ----


def print_book(browser: Browser, book: Book, output: Path) -> None:
    """Print the book repeatedly until the page numbers in its contents are correct.

    Raises:
        RuntimeError: the page numbers do not converge.
    """
    leaves = {docname: read_leaf(book, docname) for docname in book.docnames}
    first_pages: dict[str, int] = {}
    for _ in range(5):
        previous = first_pages
        _print(browser, compose(book, leaves, previous), output)
        first_pages = pages_of(output, map(name_of, leaves))
        if first_pages == previous:
            return
    raise RuntimeError(f"{output}: the page numbers change with every print")


def _print(browser: Browser, document: str, output: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(TIMEOUT)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "book.html")
        file.write_text(document, encoding="utf-8")
        open_for_paper(page, file)
        page.pdf(path=output, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    page.close()


def open_for_paper(page: Page, file: Path) -> None:
    """Open the document in print layout, and wait for formulas and fonts."""
    page.emulate_media(media="print")
    page.goto(file.as_uri())
    page.evaluate("() => MathJax.startup.promise.then(() => true)")
    # Fonts used only in print would otherwise load too late.
    page.evaluate("() => Promise.all([...document.fonts].map((font) => font.load())).then(() => true)")


def pages_of(file: Path, names: Iterable[str]) -> dict[str, int]:
    """Return the page number, from 1, of each id in a printed book."""
    reader = PdfReader(file)
    places = reader.named_destinations
    pages = {name: reader.get_destination_page_number(places[f"/{name}"]) for name in names}
    return {name: page + 1 for name, page in pages.items() if page is not None}


def main(arguments: Sequence[str]) -> None:
    """Print the built site (first argument) to a file (second argument)."""
    site, output = Path(arguments[0]).resolve(), Path(arguments[1])
    with open_chromium() as browser:
        print_book(browser, read_book(site), output)
    print(f"Printed the book: {output}")


if __name__ == "__main__":
    main(sys.argv[1:])

"""The whole book on paper: the built pages become one document, which Chromium prints.

``python -m bookkit.print.pdf _build/html _build/glassformer.pdf`` needs the built website and a Chromium.

On paper nothing unfolds. Derivations stand open where they belong; solutions stand at the end of their
chapter, out of sight of whoever reads the exercise; code that only draws or imports is left to the notebooks.
The document is printed twice: the first print tells on which page each chapter begins, the second has these
numbers in its table of contents.
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
PATIENCE = 600_000  # milliseconds: hundreds of pages take a slow machine long
LEFT_OUT = ", ".join(
    [
        ".headerlink",
        ".cell.tag_hide-input .above-input",
        ".tag_exercise .cell_output",
        ".tag_solution .stream",
        "glass-figure > script",
        ".sd-summary-state-marker",
    ]
)
NAMES_OF_OTHERS = ("for", "aria-labelledby", "aria-describedby")  # attributes that hold ids


class Part(NamedTuple):
    """Pages of the book that stand together; the first ones have no caption."""

    caption: str | None
    docnames: tuple[str, ...]


class Book(NamedTuple):
    """What there is to be printed: a built site, which of its pages, and where they are read online."""

    site: Path
    parts: tuple[Part, ...]
    address: str

    @property
    def docnames(self) -> list[str]:
        """Its pages in their order."""
        return [docname for part in self.parts for docname in part.docnames]


def read_book(site: Path) -> Book:
    """Read from the table of contents which pages the book has."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    parts = [
        Part(part.get("caption"), tuple(each["file"] for each in part["chapters"])) for part in toc["parts"]
    ]
    return Book(site, (Part(None, (toc["root"],)), *parts), config["html"]["baseurl"])


# ---- One page of the site becomes a part of the document ----


def name_of(docname: str, place: str = "") -> str:
    """Return the one name in the document of a page, or of a place in it."""
    return "--".join(filter(None, [docname.replace("/", "-"), place]))


def read_page(book: Book, docname: str) -> BeautifulSoup:
    """Read a page of the site."""
    return BeautifulSoup((book.site / f"{docname}.html").read_text(encoding="utf-8"), "html.parser")


def read_article(book: Book, docname: str) -> Tag:
    """Read what a page says, made ready for paper."""
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
        figure.insert_after(_note_of_life(page, f"{book.address}{docname}.html"))
    move_solutions(page, article)
    for heading in article.select("h1, h2, h3"):
        keep_spaces(page, heading)
    rename_places(article, docname)
    for link in article.select("a[href]"):
        link["href"] = lead(book, docname, str(link["href"]))
    for picture in article.select("img[src]"):
        picture["src"] = file_of(book, docname, str(picture["src"]))
        del picture["loading"]
    return article


def _note_of_life(page: BeautifulSoup, address: str) -> Tag:
    note = page.new_tag("p", attrs={"class": "on-the-website"})
    link = page.new_tag("a", attrs={"href": address})
    link.string = "on the website"
    note.extend(["This figure is alive ", link, "."])
    return note


def move_solutions(page: BeautifulSoup, article: Tag) -> None:
    """Gather what solves the exercises at the end of the chapter."""
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
    """Let a bookmark keep the words of its heading apart: Chromium forgets the space at the end of a line."""
    for text in heading.find_all(string=True):
        for word in re.split(r"(?<=\s)", text):
            text.insert_before(re.sub(r"\s", "\N{NO-BREAK SPACE}", word), page.new_tag("wbr"))
        text.extract()


def rename_places(article: Tag, docname: str) -> None:
    """Give every place a name that no other page of the book has."""
    for element in article.select("[id]"):
        element["id"] = name_of(docname, str(element["id"]))
    for attribute in NAMES_OF_OTHERS:
        for element in article.select(f"[{attribute}]"):
            names = str(element[attribute]).split()
            element[attribute] = " ".join(name_of(docname, name) for name in names)


def lead(book: Book, docname: str, link: str) -> str:
    """Lead a link to its place in the document, or to where the site is online."""
    if urlsplit(link).scheme:
        return link
    parts = urlsplit(urljoin(f"/{docname}.html", link))
    target = parts.path.removeprefix("/")
    if (name := target.removesuffix(".html")) in book.docnames:
        return f"#{name_of(name, parts.fragment)}"
    return urljoin(book.address, parts._replace(path=target).geturl())


def file_of(book: Book, docname: str, link: str) -> str:
    """Return the address of a file of the site on this machine."""
    path = urlsplit(urljoin(f"/{docname}.html", link)).path
    return (book.site / path.removeprefix("/")).as_uri()


# ---- The document ----


class Leaf(NamedTuple):
    """A page of the site in the document."""

    docname: str
    title: str
    content: str


def read_leaf(book: Book, docname: str) -> Leaf:
    """Read a page with its title."""
    article = read_article(book, docname)
    heading = article.find("h1")
    title = docname if heading is None else " ".join(heading.get_text().split())
    return Leaf(docname, title, article.decode())


def compose(book: Book, leaves: dict[str, Leaf], first_pages: dict[str, int]) -> str:
    """Write the document: a title, the contents with their page numbers if these are known, and all pages."""
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
    """The style sheets of all pages, and what typesets their formulas."""
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
    # The book's own sheet has the last word, as on each page.
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
<p>On the website the figures are alive, and every chapter is a notebook that you can run:<br>
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
    """Print the book to a file, until the page numbers in its contents are those that it has.

    Raises:
        RuntimeError: the pages go on changing.
    """
    leaves = {docname: read_leaf(book, docname) for docname in book.docnames}
    first_pages: dict[str, int] = {}
    for _ in range(5):
        told = first_pages
        _print(browser, compose(book, leaves, told), output)
        first_pages = pages_of(output, map(name_of, leaves))
        if first_pages == told:
            return
    raise RuntimeError(f"{output}: the page numbers change with every print")


def _print(browser: Browser, document: str, output: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "book.html")
        file.write_text(document, encoding="utf-8")
        open_for_paper(page, file)
        page.pdf(path=output, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    page.close()


def open_for_paper(page: Page, file: Path) -> None:
    """Open the document as paper shows it, with its formulas typeset and all fonts there."""
    page.emulate_media(media="print")
    page.goto(file.as_uri())
    page.evaluate("() => MathJax.startup.promise.then(() => true)")
    # What only paper asks for would come too late.
    page.evaluate("() => Promise.all([...document.fonts].map((font) => font.load())).then(() => true)")


def pages_of(file: Path, names: Iterable[str]) -> dict[str, int]:
    """Find on which pages of a printed book named places stand; the first page has the number 1."""
    reader = PdfReader(file)
    places = reader.named_destinations
    pages = {name: reader.get_destination_page_number(places[f"/{name}"]) for name in names}
    return {name: page + 1 for name, page in pages.items() if page is not None}


def main(arguments: Sequence[str]) -> None:
    """Print the built site that the first argument names to the file that the second names."""
    site, output = Path(arguments[0]).resolve(), Path(arguments[1])
    with open_chromium() as browser:
        print_book(browser, read_book(site), output)
    print(f"The book is printed: {output}")


if __name__ == "__main__":
    main(sys.argv[1:])

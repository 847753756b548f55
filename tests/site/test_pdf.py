"""The printed book: formulas typeset, contents that are right, links that lead, and nothing cut off."""

import re
from pathlib import Path

import pytest
from pypdf import PdfReader
from pypdf.generic import Destination

from bookkit.print import pdf

SITE = Path(__file__).parents[2] / "_build/html"
SCALING, NOTATION = "chapters/03_scaling", "appendix/notation"
TITLES = {SCALING: "3. Why scores are scaled", NOTATION: "Notation"}
A4 = (595, 842)  # points
TEXT_WIDTH = 162 / 25.4 * 96  # CSS pixels between the margins


@pytest.fixture(scope="module")
def book():
    if not (SITE / "index.html").exists():
        pytest.fail("the website is not built: make book")
    parts = pdf.Part("Part I", (SCALING,)), pdf.Part("Appendix", (NOTATION,))
    return pdf.read_book(SITE)._replace(parts=parts)


@pytest.fixture(scope="module")
def printed(browser, book, tmp_path_factory):
    file = tmp_path_factory.mktemp("print") / "book.pdf"
    pdf.print_book(browser, book, file)
    return file


@pytest.fixture(scope="module")
def paper(printed):
    return PdfReader(printed)


def text_of(paper, page):
    return " ".join(paper.pages[page - 1].extract_text().split())


def bookmarks(paper):
    """The titles of all bookmarks with the numbers of their pages."""
    flat, waiting = {}, list(paper.outline)
    while waiting:
        match waiting.pop():
            case Destination() as mark:
                flat[" ".join(mark.title.split())] = paper.get_destination_page_number(mark) + 1
            case list() as deeper:
                waiting += deeper
    return flat


def test_every_page_is_a_sheet_of_paper(paper):
    assert len(paper.pages) > 10
    for page in paper.pages:
        assert (page.mediabox.width, page.mediabox.height) == pytest.approx(A4, abs=1)


def test_bookmarks_and_contents_lead_to_the_pages_of_the_chapters(book, printed, paper):
    marks = bookmarks(paper)
    assert {"3.1. What if we leave out the divisor?", "Solutions"} <= marks.keys()
    first_pages = pdf.pages_of(printed, map(pdf.name_of, book.docnames))
    contents = text_of(paper, 2)
    for docname, title in TITLES.items():
        page = first_pages[pdf.name_of(docname)]
        assert marks[title] == page
        assert f"{title} {page}" in contents
        assert title in text_of(paper, page)


def test_formulas_are_typeset(paper):
    start = bookmarks(paper)["Notation"]
    text = " ".join(text_of(paper, page) for page in (5, 6, 7, start, start + 1))
    assert "variance" in text
    assert re.findall(r"\\\(|\\\[|\\frac|\\sqrt|\\mathbf|\\cdot|\\q", text) == []
    fonts = [font.get_object() for font in paper.pages[start - 1]["/Resources"]["/Font"].values()]
    names = [str(font["/FontDescriptor"]["/FontName"]) for font in fonts if "/FontDescriptor" in font]
    assert any("MathJax" in name for name in names)
    assert any("SourceSerif" in name for name in names)


def test_links_lead_into_the_book_or_to_its_website_but_to_no_file(paper):
    links = [note.get_object() for page in paper.pages for note in page.get("/Annots", [])]
    inside = {link["/Dest"] for link in links if "/Dest" in link}
    outside = {link["/A"]["/URI"] for link in links if "/URI" in link.get("/A", {})}
    assert len(inside) > 5
    assert inside <= paper.named_destinations.keys()
    assert len(outside) > 10
    assert [address for address in outside if not address.startswith("https://")] == []


def test_a_solution_stands_at_the_end_of_its_chapter_and_not_beside_the_exercise(book):
    article = pdf.read_article(book, SCALING)
    exercises, solved = article.select(".exercise"), article.select(".solutions .solved a")
    assert [link["href"] for link in solved] == [f"#{exercise['id']}" for exercise in exercises]
    assert len(article.select(".solutions .tag_solution")) == len(exercises) > 0
    assert article.select(".tag_solution details, section:not(.solutions) > .tag_solution") == []


def test_nothing_is_wider_than_the_paper_and_figures_are_tables(page, book, tmp_path):
    leaves = {docname: pdf.read_leaf(book, docname) for docname in book.docnames}
    file = tmp_path / "book.html"
    file.write_text(pdf.compose(book, leaves, {}), encoding="utf-8")
    page.set_viewport_size({"width": int(TEXT_WIDTH), "height": 900})
    pdf.open_for_paper(page, file)
    wide = page.evaluate("""() => {
        const end = (element) => {
            const { left, right } = element.getBoundingClientRect();
            return Math.max(right, left + element.scrollWidth);
        };
        return [...document.querySelectorAll("pre, img, table, mjx-container, p")]
            .filter((element) => end(element) > document.documentElement.clientWidth + 1)
            .map((element) => element.outerHTML.slice(0, 200));
    }""")
    assert wide == []
    assert page.locator("glass-figure > table").count() == page.locator("glass-figure").count() > 0
    assert all(table.is_visible() for table in page.locator("glass-figure > table").all())

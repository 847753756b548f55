"""Every deck in Chromium, from the file system, at the size of a projector."""

import re
from pathlib import Path

import nbformat
import pytest
from pypdf import PdfReader

from bookkit.print.slides import print_deck
from bookkit.slides.build import build
from bookkit.slides.scripts import list_scripts, read_slides, slug_of

ROOT = Path(__file__).parents[2]
DECKS = [slug_of(script) for script in list_scripts()]
FIGURE = re.compile(r'<glass-figure name="(\w+)"')
SCRIPT = ROOT / "teach/slides/05_masks.md"
MEASURE = (ROOT / "tests/helpers/measure_slides.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("slides") / "made"
    build(made)
    return made


@pytest.fixture(scope="module")
def projector(browser):
    """One page for all decks, and all that they ask for or complain of."""
    page = browser.new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    page.asked, page.complaints = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    page.close()


@pytest.mark.parametrize("deck", DECKS)
def test_a_deck_needs_no_network_and_can_be_read_from_the_last_row(projector, folder, deck):
    projector.asked.clear()
    projector.complaints.clear()
    projector.goto((folder / f"{deck}.html").as_uri())
    projector.wait_for_function("globalThis.deck?.isReady()")
    slides = projector.evaluate(MEASURE)
    assert projector.complaints == []
    assert [url for url in projector.asked if not url.startswith((folder.as_uri(), "data:", "blob:"))] == []
    assert 10 <= len(slides) <= 16
    assert {slide["id"]: slide["faults"] for slide in slides if slide["faults"]} == {}


def test_every_live_figure_of_a_chapter_comes_with_its_slides(folder):
    for script in list_scripts():
        deck = (folder / f"{slug_of(script)}.html").read_text(encoding="utf-8")
        cells = nbformat.read(ROOT / f"chapters/{script.stem}.ipynb", as_version=4).cells
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        shown = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
        figures = [name for name in FIGURE.findall("".join(shown)) if name != "quiz"]  # that is for home
        assert FIGURE.findall(deck) == figures, script.stem


def test_keys_belong_to_a_figure_until_escape_gives_them_back(projector, folder):
    projector.goto(f"{(folder / 'masks.html').as_uri()}#/masks-live")
    folded = projector.locator("glass-figure details")
    folded.locator("summary").focus()
    projector.keyboard.press("Space")
    assert folded.evaluate("(details) => details.open")
    assert projector.evaluate("deck.getCurrentSlide().id") == "masks-live"
    projector.keyboard.press("Escape")
    projector.keyboard.press("Space")
    assert projector.evaluate("[deck.getCurrentSlide().id, deck.isOverview()]") == ["masks-join", False]


def test_the_key_shows_the_answer_then_goes_on_and_back_again(projector, folder):
    projector.goto(f"{(folder / 'masks.html').as_uri()}#/masks-by-hand")
    projector.reload()
    projector.wait_for_function("globalThis.deck?.isReady()")
    answer = projector.locator("#masks-by-hand.present .later pre")
    seen = [("masks-by-hand", answer.is_visible())]
    for key in ("Space", "Space", "ArrowLeft", "ArrowLeft"):
        projector.keyboard.press(key)
        seen.append((projector.evaluate("deck.getCurrentSlide().id"), answer.is_visible()))
    assert seen == [
        ("masks-by-hand", False),
        ("masks-by-hand", True),
        ("masks-formula", False),
        ("masks-by-hand", True),
        ("masks-by-hand", False),
    ]


def test_without_scripts_every_slide_and_every_answer_is_seen(browser, folder):
    page = browser.new_page(java_script_enabled=False)
    page.goto((folder / "masks.html").as_uri())
    parts = page.locator(".part:not(:has(template))").all()
    seen = [part.is_visible() for part in parts]
    page.close()
    assert len(seen) > len(read_slides(SCRIPT))
    assert all(seen)


def test_a_printed_deck_has_a_page_for_each_slide_with_its_formulas_and_figures(projector, folder):
    print_deck(projector, folder / "masks.html", folder / "masks.pdf")
    pages = {}
    for page, slide in zip(PdfReader(folder / "masks.pdf").pages, read_slides(SCRIPT), strict=True):
        pages[slide.id] = page.extract_text()
        assert slide.title.split(" ")[0].strip("“”") in pages[slide.id]
    assert "softmax" in pages["masks-formula"]
    assert "compare" in pages["masks-live"]
    assert "outputs by hand" in pages["masks-by-hand"]  # it waits for the key on the screen
    assert "under a causal mask" not in pages["masks-live"]  # in the figure's table, for where no script runs

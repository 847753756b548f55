"""Print every deck, one slide per page.

Run ``python -m bookkit.print.slides _build/slides`` (needs Chromium).
"""

import sys
from pathlib import Path

from playwright.sync_api import Page, ViewportSize

from bookkit.print.chromium import open_chromium

TIMEOUT = 120_000  # milliseconds
SCREEN: ViewportSize = {"width": 1280, "height": 720}


def print_deck(page: Page, deck: Path, output: Path) -> None:
    """Print a deck; live figures appear in their initial state."""
    page.goto(f"{deck.resolve().as_uri()}?print-pdf", timeout=TIMEOUT)
    page.locator("html[data-printable]").wait_for(timeout=TIMEOUT)
    page.pdf(path=output, prefer_css_page_size=True, print_background=True, tagged=True)


def print_decks(folder: Path) -> None:
    """Print all decks of a folder; each PDF goes beside its page."""
    decks = [path for path in sorted(folder.glob("*.html")) if path.stem != "index"]
    with open_chromium() as browser:
        page = browser.new_page(viewport=SCREEN, reduced_motion="reduce")
        for deck in decks:
            print_deck(page, deck, deck.with_suffix(".pdf"))


if __name__ == "__main__":
    print_decks(Path(sys.argv[1]))
    print(f"Printed the slides: {sys.argv[1]}")

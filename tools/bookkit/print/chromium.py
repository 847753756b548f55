"""The system's Chromium, for what is printed, drawn and tested of the built site."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

# The first is the same browser without its windows, and opens a page in two thirds of the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Return where the first of `NAMES` that is on PATH stands."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """Start it and close it again."""
    program = find_chromium()
    if program is None:
        raise SystemExit(f"There is no Chromium on PATH; looked for {', '.join(NAMES)}.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()

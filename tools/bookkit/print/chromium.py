"""Find and start the system's Chromium."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

# The first is the same browser without windows; it opens a page in two thirds of the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Return the path of the first of `NAMES` that is on PATH."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """Start Chromium; close it at the end of the block.

    Raises:
        SystemExit: no Chromium is on PATH.
    """
    program = find_chromium()
    if program is None:
        raise SystemExit(f"Chromium is not on PATH; looked for {', '.join(NAMES)}.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()

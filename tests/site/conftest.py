"""The built website in the system's Chromium: from a server on this machine, and from the file system."""

import functools
import http.server
import os
import shutil
import threading
from pathlib import Path

import pytest

from glassformer.widgets.live import STATIC, files_of

SITE = Path(__file__).parents[2] / "_build/html"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)


def pytest_collection_modifyitems(items):
    if CHROMIUM is None and os.environ.get("CI") != "true":
        for item in items:
            if Path(__file__).parent in item.path.parents and "browser" in item.fixturenames:
                item.add_marker(pytest.mark.skip(reason="no Chromium on PATH: the website is not looked at"))


@pytest.fixture(scope="session")
def device():
    """Playwright's fixture of this name, not ours: no particular telephone is imitated."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    if CHROMIUM is None:
        pytest.fail("no Chromium on PATH")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    return browser_type_launch_args | {"executable_path": CHROMIUM, "args": [*quiet, ONE_PROCESS]}


# To start a process and a context takes longer than most of what a test does on its page.
ONE_PROCESS = "--renderer-process-limit=1"


@pytest.fixture(scope="session")
def context(browser):
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def page(context):
    page = context.new_page()
    yield page
    page.close()
    context.set_offline(False)


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def served():
    """Return the address of the website on a local server."""
    if not (SITE / "index.html").exists():
        pytest.fail("the website is not built: make book")
    handler = functools.partial(_Silent, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def figure_script(page):
    """Load the scripts of one live figure into an empty page."""

    def load(name):
        for file in files_of(name):
            if file.endswith(".js"):
                page.add_script_tag(path=STATIC / file)

    return load

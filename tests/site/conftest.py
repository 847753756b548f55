"""The built website in the system's Chromium, from a local server and from the file system."""

import http.server
import os
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from content_policy import strict_policy

from bookkit.print.chromium import find_chromium
from glassformer.widgets.live import SCRIPTS, files_of

SITE = Path(__file__).parents[2] / "_build/html"
CHROMIUM = find_chromium()


def pytest_collection_modifyitems(items):
    if CHROMIUM is None and os.environ.get("CI") != "true":
        for item in items:
            if Path(__file__).parent in item.path.parents and "browser" in item.fixturenames:
                item.add_marker(pytest.mark.skip(reason="no Chromium on PATH: the website is not looked at"))


@pytest.fixture(scope="session")
def device():
    """Override our fixture for Playwright's plugin, which expects a device to emulate; there is none."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    if CHROMIUM is None:
        pytest.fail("no Chromium on PATH")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    return browser_type_launch_args | {"executable_path": CHROMIUM, "args": [*quiet, ONE_PROCESS]}


# Starting a process and a context takes longer than most tests.
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


class _Server(http.server.SimpleHTTPRequestHandler):
    """Serve the website with a policy that allows each page its own scripts only."""

    def end_headers(self):
        file = Path(self.translate_path(self.path))
        if file.suffix == ".html" and file.is_file():
            self.send_header("Content-Security-Policy", strict_policy(file.read_text(encoding="utf-8")))
        super().end_headers()

    def log_message(self, *_):
        pass


class _ServerWithoutMathJax(_Server):
    def translate_path(self, path):
        return os.devnull if "/mathjax/" in path else super().translate_path(path)


@contextmanager
def serve(handler):
    """Serve the website locally and yield its address."""
    if not (SITE / "index.html").exists():
        pytest.fail("the website is not built: make book")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def served():
    """Return the address of the website on a local server."""
    with serve(_Server) as address:
        yield address


@pytest.fixture(scope="session")
def served_without_mathjax():
    """Return an address without MathJax, because typesetting is slow."""
    with serve(_ServerWithoutMathJax) as address:
        yield address


@pytest.fixture
def figure_script(page):
    """Load the scripts of one live figure into an empty page."""

    def load(name):
        for file in files_of(name):
            if file.endswith(".js"):
                page.add_script_tag(path=SCRIPTS / file)

    return load

"""A page with live figures loads their scripts, and no other page does."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from glassformer.widgets.live import STATIC, files_of

FIGURE = re.compile(r'<glass-figure name="(\w+)"')


def serve_scripts(app: Sphinx, config: Config) -> None:
    """Announce the scripts after Jupyter Book has loaded on every page whatever it found in the folders."""
    config.html_static_path.append(str(STATIC))


def load_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Ask for what the figures of this page need."""
    raw = [] if doctree is None else [node.astext() for node in doctree.findall(nodes.raw)]
    names = [name for text in raw for name in FIGURE.findall(text)]
    for file in dict.fromkeys(file for name in names for file in files_of(name)):
        if file.endswith(".css"):
            app.add_css_file(file)
        else:
            app.add_js_file(file, loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Act once the configuration is read, and on each page."""
    app.connect("config-inited", serve_scripts)
    app.connect("html-page-context", load_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

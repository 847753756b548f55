"""Serve third-party files from `_vendor/`, so that the pages need no other server.

The folder is added after Jupyter Book has scanned the static paths: it would load every script and style
sheet in them on every page.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

VENDORED = Path(__file__).parents[1] / "_vendor"


def serve_vendored(app: Sphinx, config: Config) -> None:
    """Copy the folder into `_static/`, and load MathJax from there."""
    config.html_static_path.append(str(VENDORED))
    config.mathjax_path = "mathjax/tex-chtml-full.js"


def setup(app: Sphinx) -> dict[str, Any]:
    """Extend the configuration."""
    app.connect("config-inited", serve_vendored)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

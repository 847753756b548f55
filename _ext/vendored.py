"""What the pages need of others is served from `_vendor/`, so that they ask no other machine for anything.

The folder is announced after Jupyter Book has looked through the static paths: it would load every script and
style sheet it finds there on every page.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

VENDORED = Path(__file__).parents[1] / "_vendor"


def serve_vendored(app: Sphinx, config: Config) -> None:
    """Copy the folder below `_static/`, and load MathJax from there."""
    config.html_static_path.append(str(VENDORED))
    config.mathjax_path = "mathjax/tex-chtml-full.js"


def setup(app: Sphinx) -> dict[str, Any]:
    """Act once the configuration is read."""
    app.connect("config-inited", serve_vendored)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Load the scripts of live figures on the pages that show them."""

import base64
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from glassformer import widgets
from glassformer.widgets import copy_scripts, files_of

FIGURE = re.compile(r'<glass-figure name="(\w+)"')
PRETRAINED = Path(widgets.__file__).parents[1] / "pretrained"


class FigureDirective(SphinxDirective):
    """A live figure on a Markdown page: ``{live-figure} translate``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the figure with its default numbers."""
        make = getattr(widgets, f"live_{self.arguments[0]}", None)
        if make is None:
            raise self.error(f"there is no figure {self.arguments[0]!r} in glassformer.widgets")
        return [nodes.raw("", make()._repr_html_(), format="html")]


def serve_scripts(app: Sphinx) -> None:
    """Copy the scripts; Jupyter Book would load the scripts of a static path on every page."""
    copy_scripts(Path(app.outdir, "_static"))


def load_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the scripts and style sheets that the figures of a page need."""
    raw = [] if doctree is None else [node.astext() for node in doctree.findall(nodes.raw)]
    names = [name for text in raw for name in FIGURE.findall(text)]
    for file in dict.fromkeys(file for name in names for file in files_of(name)):
        if file.endswith(".css"):
            app.add_css_file(file)
        else:
            app.add_js_file(file, loading_method="defer")


def serve_translators(app: Sphinx, error: Exception | None) -> None:
    """Copy the pretrained translators into the site, as files and as scripts."""
    if error is None and app.builder.format == "html":
        served = Path(app.outdir, "_static/engine")
        shutil.copytree(PRETRAINED, served, dirs_exist_ok=True)
        for folder in PRETRAINED.iterdir():
            (served / f"{folder.name}.js").write_text(as_script(folder), encoding="ascii")


def as_script(folder: Path) -> str:
    """Write a model as a script, because a page opened from disk cannot fetch files."""
    files = {path.name: base64.b64encode(path.read_bytes()).decode() for path in sorted(folder.iterdir())}
    models = "(globalThis.glassformer ??= {}).models ??= {}"
    return f"({models})[{json.dumps(folder.name)}] = {json.dumps(files)};\n"


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive, and connect to the pages and the build."""
    os.environ["GLASSFORMER_SCRIPTS"] = "page"  # the page loads the scripts of figures
    app.add_directive("live-figure", FigureDirective)
    app.connect("builder-inited", serve_scripts)
    app.connect("html-page-context", load_scripts)
    app.connect("build-finished", serve_translators)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

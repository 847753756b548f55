"""What the theme gets wrong in the pages it writes, mended page by page.

A fix that is always needed, and finds its place nowhere any more, is a warning: none outlives its reason.
"""

import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.util import logging

logger = logging.getLogger(__name__)


class Fix(NamedTuple):
    """A place in the page's text and what it is replaced by."""

    reason: str
    pattern: re.Pattern[str]
    replacement: str
    always_needed: bool = True


# The fonts are not announced from the file system, where that is refused and they are near anyway.
BEFORE_THE_FIRST_PAINT = """<script>
  {
    const root = document.documentElement;
    if (root.dataset.theme === "auto") {
      root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    }
    if (location.protocol.startsWith("http")) {
      root.dataset.served = "";
      for (const style of ["normal", "italic"]) {
        const folder = `${root.dataset.content_root}_static/source-serif`;
        const href = `${folder}/source-serif-4-latin-wght-${style}.woff2`;
        const font = { rel: "preload", as: "font", type: "font/woff2", crossOrigin: "anonymous", href };
        document.head.append(Object.assign(document.createElement("link"), font));
      }
    }
  }
  </script>
  """

FIXES = [
    Fix(
        "fonts announced ahead are refused when the page is opened from the file system",
        re.compile(r'<link rel="preload" as="font"[^>]*>\s*'),
        "",
    ),
    Fix(
        "a sheet and 1.5 MB of script for 17 icons; icons.css draws them",
        re.compile(r'<(?:link href|script src)="[^"]*/fontawesome/[^>]*>(?:</script>)?\s*'),
        "",
    ),
    Fix(
        "the theme decides late on light or dark and finds the fonts late: pages are painted twice, and move",
        re.compile(r"(?=<!-- Loaded before other Sphinx assets -->)"),
        BEFORE_THE_FIRST_PAINT,
    ),
    Fix(
        "the viewport is described three times",
        re.compile(r'<meta name="viewport" content="width=device-width, initial-scale=1" ?/>\s*'),
        "",
    ),
    Fix(
        "from the file system, the search may not read the pages that it found to quote from them",
        re.compile(r'(<script src="_static/documentation_options[^>]*></script>)(?=[\s\S]*searchtools\.js)'),
        r'\1<script>DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = location.protocol !== "file:";</script>',
    ),
    Fix(
        "the logo and the search button stand outside of any landmark",
        re.compile(r'<div class="bd-sidebar-primary bd-sidebar">'),
        '<div class="bd-sidebar-primary bd-sidebar" role="complementary" aria-label="The book">',
    ),
    Fix(
        "a button's label must begin with what the button shows",
        re.compile(r'(<button class="btn search-button-field[^>]*?) aria-label="Search"'),
        r"\1",
    ),
    Fix(
        "an entry of the bibliography is an item of a list",
        re.compile(r'(<div class="citation" id="[^"]*") role="doc-biblioentry"'),
        r'\1 role="listitem"',
    ),
    Fix(
        "a page may forbid scripts that stand in attributes; buttons.js does what these did",
        re.compile(r'onclick="(?:window\.)?(print|toggleFullScreen)\(\)"'),
        r'data-call="\1"',
    ),
    Fix(
        "the empty corner of a table is the header of nothing",
        re.compile(r'<th class="(head[^"]*)"><p></p></th>'),
        r'<td class="\1"><p></p></td>',
        always_needed=False,
    ),
]


def add_missing_sidebar(page: str) -> str:
    """Give a page without headings the empty sidebar that the theme's script looks for."""
    if 'class="bd-sidebar-secondary' in page:
        return page
    return page.replace("</main>", '<div class="bd-sidebar-secondary hide" hidden></div>\n</main>', 1)


def drop_thebe(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Leave out sphinx-thebe, which the book does not use and which declares a constant twice."""
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in str(getattr(script, "filename", "")).lower()
        and "THEBE" not in str(getattr(script, "attributes", {}).get("body", ""))
    ]
    context["css_files"] = [sheet for sheet in context["css_files"] if "thebe" not in str(sheet.filename)]


def defer_scripts(page: str) -> str:
    """Let the theme's scripts wait until the page is there; what looks for words needs them at once."""
    if "searchtools.js" in page:
        return page
    head, rest = page.split("</head>", 1)
    late = re.sub(r"<script(?=[^>]* src=)(?![^>]*(?:defer|documentation_options))", "<script defer", head)
    return f"{late}</head>{rest}"


def mend_pages(app: Sphinx, exception: Exception | None) -> None:
    """Apply the fixes to every page that was written."""
    if exception is not None or not isinstance(app.builder, StandaloneHTMLBuilder):
        return
    found = dict.fromkeys(FIXES, 0)
    for docname in [*app.env.found_docs, "genindex", "search"]:
        path = Path(app.builder.get_outfilename(docname))
        page = path.read_text(encoding="utf-8")
        for fix in FIXES:
            page, count = fix.pattern.subn(fix.replacement, page)
            found[fix] += count
        path.write_text(defer_scripts(add_missing_sidebar(page)), encoding="utf-8")
    shutil.rmtree(Path(app.outdir, "_static/vendor/fontawesome"))
    for fix, count in found.items():
        if fix.always_needed and not count:
            logger.warning("the theme needs no mending any more: %s", fix.reason)


def setup(app: Sphinx) -> dict[str, Any]:
    """Mend each page before and after it is written."""
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", mend_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

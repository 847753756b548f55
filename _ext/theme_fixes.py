"""Fix faults of the theme in the written pages.

A fix that no longer applies to any page is a warning, so that obsolete fixes are removed.
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
    """A pattern in the HTML of a page, its replacement, and the reason."""

    reason: str
    pattern: re.Pattern[str]
    replacement: str
    always_needed: bool = True


# Browsers refuse to preload fonts from the file system.
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
        "browsers refuse to preload fonts when a page is opened from the file system",
        re.compile(r'<link rel="preload" as="font"[^>]*>\s*'),
        "",
    ),
    Fix(
        "1.5 MB of scripts and styles for 17 icons, which icons.css draws",
        re.compile(r'<(?:link href|script src)="[^"]*/fontawesome/[^>]*>(?:</script>)?\s*'),
        "",
    ),
    Fix(
        "the theme chooses light or dark and loads fonts late: pages are painted twice and shift",
        re.compile(r"(?=<!-- Loaded before other Sphinx assets -->)"),
        BEFORE_THE_FIRST_PAINT,
    ),
    Fix(
        "the viewport is declared three times",
        re.compile(r'<meta name="viewport" content="width=device-width, initial-scale=1" ?/>\s*'),
        "",
    ),
    Fix(
        "opened from the file system, the search cannot read pages to quote from them",
        re.compile(r'(<script src="_static/documentation_options[^>]*></script>)(?=[\s\S]*searchtools\.js)'),
        r'\1<script>DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = location.protocol !== "file:";</script>',
    ),
    Fix(
        "the logo and the search button are outside of any landmark",
        re.compile(r'<div class="bd-sidebar-primary bd-sidebar">'),
        '<div class="bd-sidebar-primary bd-sidebar" role="complementary" aria-label="The book">',
    ),
    Fix(
        "a button's label must begin with its visible text",
        re.compile(r'(<button class="btn search-button-field[^>]*?) aria-label="Search"'),
        r"\1",
    ),
    Fix(
        "an entry of the bibliography is a list item",
        re.compile(r'(<div class="citation" id="[^"]*") role="doc-biblioentry"'),
        r'\1 role="listitem"',
    ),
    Fix(
        "a page may forbid scripts in attributes; buttons.js replaces them",
        re.compile(r'onclick="(?:window\.)?(print|toggleFullScreen)\(\)"'),
        r'data-call="\1"',
    ),
    Fix(
        "the empty corner of a table is not a header",
        re.compile(r'<th class="(head[^"]*)"><p></p></th>'),
        r'<td class="\1"><p></p></td>',
        always_needed=False,
    ),
]


def add_missing_sidebar(page: str) -> str:
    """Add the empty sidebar that the theme's script expects to a page without headings."""
    if 'class="bd-sidebar-secondary' in page:
        return page
    return page.replace("</main>", '<div class="bd-sidebar-secondary hide" hidden></div>\n</main>', 1)


def drop_thebe(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Remove sphinx-thebe, which the book does not use and which declares a constant twice."""
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in str(getattr(script, "filename", "")).lower()
        and "THEBE" not in str(getattr(script, "attributes", {}).get("body", ""))
    ]
    context["css_files"] = [sheet for sheet in context["css_files"] if "thebe" not in str(sheet.filename)]


def defer_scripts(page: str) -> str:
    """Defer the theme's scripts; the search page needs them at once."""
    if "searchtools.js" in page:
        return page
    head, rest = page.split("</head>", 1)
    late = re.sub(r"<script(?=[^>]* src=)(?![^>]*(?:defer|documentation_options))", "<script defer", head)
    return f"{late}</head>{rest}"


def fix_pages(app: Sphinx, exception: Exception | None) -> None:
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
            logger.warning("this fix of the theme is obsolete: %s", fix.reason)


def setup(app: Sphinx) -> dict[str, Any]:
    """Fix each page before and after it is written."""
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", fix_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

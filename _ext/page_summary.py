"""Add a description and a preview card to every page, for search engines and shared links."""

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LIMIT = 160  # characters that search engines show


def summarise(doctree: nodes.document) -> str | None:
    """Return the first plain paragraph of a page, truncated after a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        has_formula = "$" in text or "\\" in text
        if isinstance(paragraph.parent, nodes.section) and len(text) > 40 and not has_formula:
            return text if len(text) <= LIMIT else text[:LIMIT].rsplit(" ", 1)[0].rstrip(",;:") + " …"
    return None


def add_summary(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the description and the preview card to the page's head."""
    book = app.config.html_title
    title = html.unescape(re.sub(r"<[^>]+>", "", context.get("title", book)))
    summary = (doctree is not None and summarise(doctree)) or f"{book}: a Transformer you can see through."
    picture = f"previews/{pagename}.png"
    if not Path(app.srcdir, "_static", picture).exists():
        picture = f"previews/{app.config.root_doc}.png"
    preview = {
        "og:type": "article",
        "og:site_name": book,
        "og:title": title,
        "og:description": summary,
    }
    if app.config.html_baseurl:  # the image needs an absolute address
        preview |= {
            "og:url": context.get("pageurl") or app.config.html_baseurl,
            "og:image": f"{app.config.html_baseurl}_static/{picture}",
            "og:image:width": "1200",
            "og:image:height": "630",
            "og:image:alt": f"{title}: the title over a drawing of the Transformer",
        }
    tags = [f'<meta name="description" content="{html.escape(summary)}" />']
    tags += ['<meta name="twitter:card" content="summary_large_image" />']
    tags += [f'<meta property="{name}" content="{html.escape(text)}" />' for name, text in preview.items()]
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags])


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the tags before each page is written."""
    app.connect("html-page-context", add_summary)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Build one of three editions of the site: the reader's, the students' or the teacher's.

``GLASSFORMER_EDITION`` selects ``reader``, ``student`` or ``teacher``. `bookkit.editions` edits the source of
each page; this extension passes the result to Sphinx and to the sources that readers can download.

The students' edition does not lead to solutions: it has no pages for teachers, no museum of bugs, and no
links into the book's repository. Its buttons lead to the repository in ``GLASSFORMER_COURSE_REPOSITORY``,
if set.
"""

import os
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from bookkit.editions import Edition, edit_page

logger = logging.getLogger(__name__)

WHOSE = {"reader": "Reader's", "student": "Students'", "teacher": "Teacher's"}
FOR_TEACHERS = "teach/"
NOT_FOR_STUDENTS = (FOR_TEACHERS, "appendix/museum")  # its patches show lines of the package


def configure(app: Sphinx, config: Config) -> None:
    """Set the title, buttons and address of the site.

    Raises:
        ConfigError: the edition is unknown.
    """
    if config.edition not in WHOSE:
        raise ConfigError(f"GLASSFORMER_EDITION must be one of {', '.join(WHOSE)}, got {config.edition!r}")
    options = config.html_theme_options
    config.book_repository = options["repository_url"]
    if config.edition == "reader":
        return
    config.html_title = f"{config.html_title} · {WHOSE[config.edition]} edition"
    config.html_baseurl = ""  # the configured address is that of the reader's edition
    config.templates_path = [*config.templates_path, str(Path(__file__).parent / "templates")]
    options["article_header_start"] = ["toggle-primary-sidebar.html", "edition.html"]
    if config.edition == "student" and config.course_repository:
        options["repository_url"] = config.course_repository
    elif config.edition == "student":
        options |= {"launch_buttons": {}, "use_repository_button": False, "use_issues_button": False}


def remove_pages_for_teachers(app: Sphinx, config: Config) -> None:
    """Remove pages with answers from the students' table of contents."""
    if config.edition != "student":
        return
    site_map = config.external_site_map
    for tree in site_map.root.subtrees:
        tree.items = [item for item in tree.items if not str(item).startswith(NOT_FOR_STUDENTS)]
    site_map.root.subtrees = [tree for tree in site_map.root.subtrees if tree.items]
    for docname in [name for name in site_map if name.startswith(NOT_FOR_STUDENTS)]:
        del site_map[docname]
    config.exclude_patterns = [*config.exclude_patterns, FOR_TEACHERS.rstrip("/"), "appendix/museum.md"]


def edition_of(app: Sphinx) -> Edition:
    """Return the edition to build."""
    return Edition(app.config.edition, app.config.book_repository, app.config.course_repository)


def edit_document(app: Sphinx, docname: str, source: str) -> str:
    """Edit the source of a page for this edition."""
    notes = Path(app.srcdir, FOR_TEACHERS, "notes", f"{Path(docname).name}.md")
    has_notes = docname.startswith("chapters/") and notes.is_file()
    text = notes.read_text(encoding="utf-8") if has_notes else ""
    try:
        return edit_page(source, Path(app.env.doc2path(docname)), edition_of(app), text)
    except ValueError as error:
        logger.warning("%s", error, location=docname)
        return source


def edit_source(app: Sphinx, docname: str, source: list[str]) -> None:
    """Edit a page before Sphinx parses it."""
    source[0] = edit_document(app, docname, source[0])


def edit_downloads(app: Sphinx, error: Exception | None) -> None:
    """Replace the downloadable sources by the edited ones."""
    if error is not None or not isinstance(app.builder, StandaloneHTMLBuilder):
        return
    for docname in app.env.found_docs:
        stored = Path(app.env.doc2path(docname))
        offered = Path(app.outdir, "_sources", f"{docname}{stored.suffix}")
        offered.write_text(edit_document(app, docname, stored.read_text(encoding="utf-8")), encoding="utf-8")


class RemoveCodeLinks(SphinxTransform):
    """For students, replace links into the code by their text, because the code holds answers."""

    default_priority = 950

    def apply(self, **_: Any) -> None:
        """Replace the links of a page."""
        edition = edition_of(self.app)
        if not edition.is_for_students:
            return
        places = [f"{place}/" for place in (edition.repository, edition.course_repository) if place]
        for link in list(self.document.findall(nodes.reference)):
            if f"{link.get('refuri', '')}/".startswith(tuple(places)):
                link.parent.replace(link, link.children)


class TeacherBlock(SphinxDirective):
    """A box for teachers: ``{teacher}``, with an optional title."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the box; in other editions the source must not contain it any more."""
        if self.config.edition != "teacher":
            logger.warning("a {teacher} block was not removed from the source", location=self.get_location())
            return []
        title = self.arguments[0] if self.arguments else "For the teacher"
        shown, messages = self.state.inline_text(title, self.lineno)
        block = nodes.admonition("", nodes.title(title, "", *shown), classes=["teacher"])
        self.state.nested_parse(self.content, self.content_offset, block)
        return [block, *messages]


def mark_page(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Show the edition on each page, and keep the teacher's edition out of search engines."""
    context["whose_edition"] = WHOSE[app.config.edition]
    if app.config.edition == "teacher":
        context["metatags"] = context.get("metatags", "") + '<meta name="robots" content="noindex" />'


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the configuration, the sources, the pages, and the end of the build."""
    app.add_config_value("edition", os.environ.get("GLASSFORMER_EDITION") or "reader", "env", str)
    app.add_config_value("course_repository", os.environ.get("GLASSFORMER_COURSE_REPOSITORY", ""), "env", str)
    app.add_config_value("book_repository", "", "env", str)
    app.add_directive("teacher", TeacherBlock)
    app.add_transform(RemoveCodeLinks)
    app.connect("config-inited", configure, priority=100)
    app.connect("config-inited", remove_pages_for_teachers, priority=950)  # after the contents are read
    app.connect("source-read", edit_source, priority=100)
    app.connect("html-page-context", mark_page)
    app.connect("build-finished", edit_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Editions of a small book: its links, and its blocks for teachers."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[2] / "_ext"
REPOSITORY, COURSE = "https://github.com/ada/book", "https://github.com/ada/book-course"
PAGES = {
    "index.md": f"""# Book

[all]({REPOSITORY}) [course]({COURSE}) {{source}}`book.softmax.softmax`
[lines]({REPOSITORY}/blob/main/src/book/softmax.py#L1)
[checks]({REPOSITORY}/blob/main/src/glassformer/exercises/softmax.py) [others]({REPOSITORY}-other)

:::{{teacher}} The *answer*
It is 7.
:::
""",
    "teach/guide.md": "# Guide\n\nHow to begin.\n",
    "src/book/softmax.py": "def softmax(x):\n    return x\n",
    "_toc.yml": "root: index\nsubtrees:\n- caption: Teaching\n  entries:\n  - file: teach/guide\n",
    "conf.py": f"""
import sys
sys.path.insert(0, {str(EXTENSIONS)!r})
extensions = ["myst_parser", "sphinx_external_toc", "editions", "code_links"]
myst_enable_extensions = ["colon_fence"]
html_theme, html_title, html_baseurl = "sphinx_book_theme", "Book", "https://ada.example/book/"
html_theme_options = {{"repository_url": {REPOSITORY!r}, "repository_branch": "main"}}
html_theme_options["use_repository_button"] = True
""",
}


def build(folder, edition, course=""):
    """Build the book; return the warnings and its first page."""
    for path, content in PAGES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", folder, folder / "html"]
    command += [f"-Dedition={edition}", f"-Dcourse_repository={course}"]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    page = folder / "html/index.html"
    return finished.stderr, page.read_text(encoding="utf-8") if page.exists() else ""


@pytest.fixture(scope="module")
def for_students(tmp_path_factory):
    folder = tmp_path_factory.mktemp("student")
    return folder / "html", *build(folder, "student")


def links(page):
    return set(re.findall(r'href="(https://github[^"]*)"', page))


def test_students_get_no_links_into_the_books_repository(for_students):
    _, complaints, page = for_students
    assert complaints == ""
    assert links(page) == {COURSE, f"{REPOSITORY}-other"}
    for text in ("all", "lines", "softmax.<wbr>softmax", "checks"):
        assert text in page
    assert "ada.example" not in page


def test_with_a_course_the_buttons_lead_to_its_repository_and_no_link_to_the_code(tmp_path):
    complaints, page = build(tmp_path, "student", COURSE)
    assert complaints == ""
    assert links(page) == {COURSE, f"{REPOSITORY}-other"}
    assert page.count(f'"{COURSE}"') == 1
    assert "checks" in page


def test_students_get_nothing_for_teachers_in_the_page_or_its_source(for_students):
    site, _, page = for_students
    assert "It is 7." not in page
    assert "It is 7." not in (site / "_sources/index.md").read_text(encoding="utf-8")
    assert not list(site.rglob("guide*"))


def test_teachers_get_the_block_with_its_title_and_all_links(tmp_path):
    complaints, page = build(tmp_path, "teacher")
    assert complaints == ""
    assert re.search(
        r'<div class="teacher admonition">\s*<p class="admonition-title">The <em>answer</em></p>', page
    )
    assert "<p>It is 7.</p>" in page
    assert f"{REPOSITORY}/blob/main/src/glassformer/exercises/softmax.py" in links(page)
    assert (tmp_path / "html/teach/guide.html").exists()


def test_an_unknown_edition_is_refused(tmp_path):
    complaints, page = build(tmp_path, "pupil")
    assert "GLASSFORMER_EDITION must be one of reader, student, teacher, got 'pupil'" in complaints
    assert page == ""


def test_an_unclosed_block_for_teachers_fails_the_build(tmp_path, monkeypatch):
    monkeypatch.setitem(PAGES, "index.md", "# Book\n\n:::{teacher}\nIt is 7.\n")
    complaints, page = build(tmp_path, "student")
    assert "a {teacher} block was not removed from the source" in complaints
    assert "It is 7." not in page

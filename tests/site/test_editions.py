"""The three editions of the website: students meet no solution, and teachers miss nothing."""

import html
import json
import re
import zlib
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from accessibility import violations
from leaks import Solution, find, read_site, read_solutions, searchable, squeeze

ROOT = Path(__file__).parents[2]
SITES = {edition: ROOT / "_build" / edition / "html" for edition in ("student", "teacher")} | {
    "reader": ROOT / "_build/html"
}
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
NOTES = sorted((ROOT / "teach/notes").glob("*.md"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / "appendix").glob("*.md"), *(ROOT / "teach").glob("*.md")]
ELSEWHERE = [path for path in PAGES if path.parent.name != "teach"]


@pytest.fixture(scope="module")
def sites():
    for edition, folder in SITES.items():
        if not (folder / "index.html").exists():
            pytest.fail(f"the {edition}'s edition is not built: make book student teacher")
    return SITES


@pytest.fixture(scope="module")
def solutions():
    return read_solutions(ROOT / "chapters", *ELSEWHERE)


def test_no_file_of_the_students_edition_holds_a_line_of_a_solution(sites, solutions):
    assert find(solutions, read_site(sites["student"])) == []


def test_the_same_search_finds_every_solution_of_the_readers_edition_twice(sites, solutions):
    """In the page and in what it offers for download: so the search above is not blind."""
    found = find(solutions, read_site(sites["reader"]))
    for solution in solutions:
        files = {file for file, id, line in found if id == solution.id and line in solution.code}
        assert {f"chapters/{solution.chapter}.html", f"_sources/chapters/{solution.chapter}.ipynb"} <= files


def test_students_cannot_search_for_the_words_of_a_solution(sites, solutions):
    words = frozenset().union(*(solution.words for solution in solutions))
    assert words & searchable(sites["student"]) == set()
    assert words & searchable(sites["reader"]) != set()


SECRET = 'if seen[-1] == "<pad>": continue'
PLANTED = {
    "a.html": 'if seen[<span class="mi">-1</span>] <span>==</span> &quot;&lt;pad&gt;&quot;:\n  continue',
    "b.html": '<img alt="if seen[-1] == &#34;<pad>&#34;: continue">',
    "c.ipynb": json.dumps({"cells": [{"source": ['if seen[-1] == "<pad>":\n', "    continue"]}]}),
    "d.js": "text = " + json.dumps(SECRET.replace(": ", ":\n    ")),
    "e.inv": b"1\n2\n3\n4\n" + zlib.compress(SECRET.encode()),
    "f.txt": SECRET,
}


@pytest.mark.parametrize("file", PLANTED)
def test_a_solution_is_found_however_it_is_written(tmp_path, file):
    content = PLANTED[file]
    (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    secret = Solution("chapter", "id", code=(squeeze(SECRET),), printed=(), words=frozenset())
    assert find([secret], read_site(tmp_path)) == [(file, "id", squeeze(SECRET))]


def test_a_file_that_cannot_be_looked_into_is_no_file_of_a_website(tmp_path):
    (tmp_path / "exercises.zip").write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(UnicodeDecodeError):
        read_site(tmp_path)


def leads_to_solutions(text):
    """Say whether a squeezed text names a place where the solutions stand."""
    address = CONFIG["repository"]["url"].removeprefix("https://github.com")
    site = CONFIG["html"]["baseurl"].removeprefix("https://").rstrip("/")
    return any(place in unquote(text) for place in (f"github.com{address}", f"/gh{address}", site))


def test_no_file_of_the_students_edition_leads_to_where_solutions_stand(sites):
    assert [name for name, text in read_site(sites["student"]).items() if leads_to_solutions(text)] == []
    found = {name for name, text in read_site(sites["reader"]).items() if leads_to_solutions(text)}
    assert {f"chapters/{path.stem}.html" for path in CHAPTERS} <= found
    assert {f"_sources/chapters/{path.stem}.ipynb" for path in CHAPTERS} <= found


def for_teachers_only(*pages):
    """Gather lines of plain words that stand in notes and in blocks for teachers."""
    secret = [path.read_text(encoding="utf-8") for path in NOTES]
    for path in pages:
        text = re.sub(
            r"^```md\n.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
        )
        secret += [block[0] for block in re.finditer(r"(?ms)^(:{3,})\{teacher\}[^\n]*\n.*?^\1", text)]
    lines = [line for text in secret for line in text.splitlines() if not re.search(r"[{`$\[<]", line)]
    return {letters(line) for line in lines if len(letters(line)) > 30}


def letters(text):
    return re.sub(r"[\W_]", "", text).lower()


@pytest.mark.parametrize("edition", ["reader", "student"])
def test_what_is_for_teachers_stands_in_no_other_edition(sites, edition):
    secrets = for_teachers_only(*PAGES)
    texts = {name: letters(text) for name, text in read_site(sites[edition]).items() if "_static" not in name}
    assert [(name, line) for name, text in texts.items() for line in secrets if line in text] == []


def test_what_is_for_teachers_stands_in_theirs(sites):
    site = read_site(sites["teacher"])
    secrets = for_teachers_only(*(path for path in PAGES if f"_sources/teach/{path.name}" in site))
    everything = "".join(letters(text) for name, text in site.items() if name.endswith(".html"))
    assert len(secrets) > 20
    assert {line for line in secrets if line not in everything} == set()


def test_students_have_no_page_for_teachers(sites):
    assert not (sites["student"] / "teach").exists()
    assert (sites["reader"] / "teach").is_dir()
    assert (sites["teacher"] / "teach").is_dir()


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_teachers_see_every_solution_open_and_the_notes_at_the_end(sites, solutions, path):
    page = (sites["teacher"] / f"chapters/{path.stem}.html").read_text(encoding="utf-8")
    classes = re.findall(r'<div class="(cell [^"]*tag_solution[^"]*)"', page)
    assert len(classes) == sum(solution.chapter == path.stem for solution in solutions)
    assert [each for each in classes if "tag_hide" in each] == []
    sections = re.findall(r'<section id="([^"]+)">\n<h2>', page)
    assert (sections[-1] == "for-teachers") == (path.stem in {notes.stem for notes in NOTES})


MARKS = {"reader": [], "student": ["Students'"], "teacher": ["Teacher's"]}


@pytest.mark.parametrize("edition", MARKS)
def test_every_page_says_which_edition_it_is(sites, edition):
    for path in sorted(sites[edition].rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        if "_static" in path.parts or ("<article" not in page and "bd-search" not in page):
            continue
        title = html.unescape(re.search(r"<title>([^<]*)</title>", page)[1])
        assert re.findall(r'<p class="edition">([^<]*)<span> edition</span></p>', page) == MARKS[edition], (
            path
        )
        assert [mark for mark in MARKS[edition] if f" · {mark} edition" not in title] == []
        assert ('<meta name="robots" content="noindex" />' in page) == (edition == "teacher")


@pytest.mark.parametrize("edition", ["student", "teacher"])
def test_an_edition_reads_well_on_a_phone_and_in_the_dark(new_context, sites, edition):
    page = new_context(viewport={"width": 390, "height": 844}, offline=True).new_page()
    complaints = []
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto((sites[edition] / f"chapters/{NOTES[0].stem}.html").as_uri(), wait_until="load")
    assert complaints == []
    assert page.locator(".edition").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.eval_on_selector_all(
        "article section > :not(section, h1)", "all => all.forEach((one) => one.remove())"
    )
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.locator(f"html[data-theme={scheme}]").wait_for()
        assert violations(page) == []

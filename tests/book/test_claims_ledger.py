"""The claims ledger, built from made-up chapters by the book's extensions."""

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit.chapters import Chapter

EXTENSIONS = Path(__file__).parents[2] / "_ext"
HOLDS = "✔ claim sky-is-blue holds: The sky is blue. │ measured: 450 nm │ source: Rayleigh, 1871"
FAILS = "✘ folklore moon-is-cheese does not hold: The moon is cheese. │ measured: 3.3 g/cm³"
TWICE = "✔ claim rain-is-wet holds: Rain is wet. │ measured: 1 l"
MARKS = "It is {claim}`sky-is-blue`, and it is not {claim}`moon-is-cheese`."


KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


UNDER_FIRE = {
    "sky-is-blue": {"seeds": 4, "noticed": ["never-trained", "softmax-even"]},
    "moon-is-cheese": {"seeds": 5, "noticed": []},
}


def build(folder, prose, printed, code=None):
    """Build a book of one chapter; return the warnings, the ledger, the chapter and a page before it."""
    (folder / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(EXTENSIONS)!r})\nnb_execution_mode = 'off'\n"
        "extensions = ['myst_nb', 'sphinx_external_toc', 'claims_ledger', 'claim_outputs']\n"
    )
    (folder / "_toc.yml").write_text("root: ledger\nentries:\n- file: a_map\n- file: chapters/01_sky\n")
    (folder / "ledger.md").write_text("# Ledger\n\n```{claims-ledger}\n```\n")
    (folder / "a_map.md").write_text("# Map\n\nIt is blue {claim}`sky-is-blue`.\n")
    (folder / "chapters").mkdir()
    (folder / "benchmarks/results").mkdir(parents=True)
    cell = new_code_cell("look()", outputs=[new_output("stream", text="\n".join(printed))])
    notebook = new_notebook(cells=[new_markdown_cell(f"# The sky\n\n{prose}"), cell], metadata=KERNEL)
    path = folder / "chapters/01_sky.ipynb"
    nbformat.write(notebook, path)
    tested = {"code": code or Chapter(path).code_digest, "worlds": ["a", "b", "c"], "claims": UNDER_FIRE}
    fire = folder / "benchmarks/results/claims_under_fire.json"
    fire.write_text(json.dumps({"measured": {"sky": tested}}), encoding="utf-8")
    (folder / "benchmarks/unbreakable_claims.yml").write_text("moon-is-cheese: All cheese is alike.\n")
    options = ["-W", "-n", "--keep-going", "-q"]
    command = [sys.executable, "-m", "sphinx", *options, folder, folder / "html"]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    pages = [folder / "html" / name for name in ("ledger.html", "chapters/01_sky.html", "a_map.html")]
    return finished.stderr, *(page.read_text(encoding="utf-8") for page in pages)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return build(tmp_path_factory.mktemp("book"), MARKS, [HOLDS, FAILS])


def test_a_mark_links_to_its_measurement_and_a_row_to_its_mark(book):
    complaints, ledger, chapter, _ = book
    assert complaints == ""
    for id in ("sky-is-blue", "moon-is-cheese"):
        assert f'href="#claim-{id}"' in chapter
        assert f'id="claim-{id}"' in chapter
        assert f'id="mark-{id}"' in chapter
        assert f'href="chapters/01_sky.html#mark-{id}"' in ledger
        assert f'id="row-{id}"' in ledger


def test_a_mark_outside_the_chapters_links_to_the_row_but_not_back(book):
    a_map = book[3]
    assert 'href="ledger.html#row-sky-is-blue"' in a_map
    assert 'id="mark-' not in a_map


def test_the_ledger_shows_measurements_and_lists_refuted_claims_separately(book):
    apart, held = book[1].split("<h2>1. The sky")
    assert "3.3 g/cm³" in apart
    assert "450 nm" not in apart
    assert "450 nm" in held
    assert "Rayleigh, 1871" in held
    assert "3.3 g/cm³" not in held


def test_the_ledger_shows_the_chapter_source_and_verdict_of_each_claim(book):
    apart, held = (BeautifulSoup(part, "html.parser") for part in book[1].split("<h2>1. The sky"))
    folklore = apart.find(id="row-moon-is-cheese")
    assert [link.text for link in folklore.find_all("a")] == ["The moon is cheese."]
    assert "(chapter 1)" in folklore.text
    assert "does not hold: " in folklore.text
    claim = held.find(id="row-sky-is-blue")
    assert "holds: " in claim.text
    _, measurement, seeds, worlds = [cell.text for cell in claim.find_all("td")]
    assert (measurement, seeds) == ("450 nm; source: Rayleigh, 1871", "4 of 5")
    assert worlds.strip() == "2 of 3never-trained, softmax-even"
    assert "0 of 3All cheese is alike." in folklore.text


def test_a_result_of_other_code_is_not_shown(tmp_path):
    _, ledger, *_ = build(tmp_path, MARKS, [HOLDS, FAILS], code="0123456789abcdef")
    row = BeautifulSoup(ledger, "html.parser").find(id="row-sky-is-blue")
    assert [cell.text for cell in row.find_all("td")[2:]] == ["not yet tested", "not yet tested"]
    assert "no chapter has a valid test" in ledger


def test_the_ledger_counts_verdicts_by_chapter(book):
    page = BeautifulSoup(book[1], "html.parser")
    assert "2 claims were measured: 1 hold, 1 do not." in page.text
    text = " ".join(page.text.split())
    assert "with 5 other sets of seeds and in broken worlds so far: 1 of 1 chapters (1)." in text
    assert "Of their 2 claims, 1 hold with all seeds, and 1 fail in at least one broken world." in text
    link, holds, fails = page.find(class_="claims-summary").find("tbody").find_all("td")
    assert (link.text, holds.text, fails.text) == ("1. The sky", "1", "1")
    assert page.find(id=link.find("a")["href"].removeprefix("#")).find("h2").text.startswith("1. The sky")


def test_a_cell_that_measures_is_folded_under_its_measurements(book):
    assert "│" not in book[2]
    fold = BeautifulSoup(book[2], "html.parser").select_one("div.cell > details.claim")
    lines = [line.text for line in fold.find("summary").find_all(id=True)]
    assert lines == ["✔ Measured: 450 nm · source: Rayleigh, 1871", "✘ Measured: 3.3 g/cm³"]
    assert "look()" in fold.select_one(".cell_input").text


def test_a_stored_measurement_names_its_program(tmp_path):
    line = "✔ claim sky-is-blue holds: The sky is blue. │ measured: 450 nm │ stored: benchmarks/sky.py"
    warnings, ledger, chapter, _ = build(tmp_path, "Blue {claim}`sky-is-blue`.", [line])
    assert warnings == ""
    assert "Stored: 450 nm · from benchmarks/sky.py" in BeautifulSoup(chapter, "html.parser").text
    row = BeautifulSoup(ledger, "html.parser").find(id="row-sky-is-blue")
    assert "stored, by benchmarks/sky.py" in row.text


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Build a book with a mark without a measurement, a measurement without a mark, and a duplicate id."""
    prose = "It is {claim}`sky-is-green`, or {claim}`rain-is-wet`."
    return build(tmp_path_factory.mktemp("broken"), prose, [HOLDS, TWICE, TWICE, "and so on"])


@pytest.mark.parametrize(
    "complaint",
    [
        "no executed cell prints the claim 'sky-is-green'",
        "mark reference target not found: sky-is-blue",
        "the claim 'rain-is-wet' is printed more than once",
    ],
)
def test_a_mark_without_a_measurement_and_the_reverse_are_warnings(broken, complaint):
    assert complaint in broken[0]


def test_other_output_is_shown_as_printed(broken):
    chapter = broken[2]
    assert "│" in chapter
    assert "and so on" in chapter

"""The ledger of claims, built from made-up chapters by the book's own extensions."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

EXTENSIONS = Path(__file__).parents[2] / "_ext"
HOLDS = "✔ claim sky-is-blue holds: The sky is blue. │ measured: 450 nm │ source: Rayleigh, 1871"
FAILS = "✘ folklore moon-is-cheese does not hold: The moon is cheese. │ measured: 3.3 g/cm³"
MARKS = "It is {claim}`sky-is-blue`, and it is not {claim}`moon-is-cheese`."


KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def build(folder, prose, printed):
    """Build a book of one chapter; return what was complained of, the ledger and the chapter."""
    (folder / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(EXTENSIONS)!r})\nnb_execution_mode = 'off'\n"
        "extensions = ['myst_nb', 'sphinx_external_toc', 'claims_ledger', 'claim_outputs']\n"
    )
    (folder / "_toc.yml").write_text("root: ledger\nentries:\n- file: chapters/01_sky\n")
    (folder / "ledger.md").write_text("# Ledger\n\n```{claims-ledger}\n```\n")
    (folder / "chapters").mkdir()
    cell = new_code_cell("look()", outputs=[new_output("stream", text="\n".join(printed))])
    notebook = new_notebook(cells=[new_markdown_cell(f"# The sky\n\n{prose}"), cell], metadata=KERNEL)
    nbformat.write(notebook, folder / "chapters/01_sky.ipynb")
    options = ["-W", "-n", "--keep-going", "-q"]
    command = [sys.executable, "-m", "sphinx", *options, folder, folder / "html"]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    pages = [folder / "html" / name for name in ("ledger.html", "chapters/01_sky.html")]
    return finished.stderr, *(page.read_text(encoding="utf-8") for page in pages)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return build(tmp_path_factory.mktemp("book"), MARKS, [HOLDS, FAILS])


def test_a_mark_and_its_row_lead_to_each_other(book):
    complaints, ledger, chapter = book
    assert complaints == ""
    for id in ("sky-is-blue", "moon-is-cheese"):
        assert f'href="../ledger.html#row-{id}"' in chapter
        assert f'id="mark-{id}"' in chapter
        assert f'href="chapters/01_sky.html#mark-{id}"' in ledger
        assert f'id="row-{id}"' in ledger


def test_the_ledger_shows_what_was_measured_and_sets_apart_what_does_not_hold(book):
    apart, held = book[1].split("<h2>The sky")
    assert "3.3 g/cm³" in apart
    assert "450 nm" not in apart
    assert "450 nm" in held
    assert "Rayleigh, 1871" in held
    assert "3.3 g/cm³" not in held


def test_the_output_of_a_claim_is_set_as_a_sentence(book):
    chapter = book[2]
    assert "│" not in chapter
    assert "Measured: 450 nm · source: Rayleigh, 1871" in chapter


def test_other_output_stays_as_it_was_printed(tmp_path):
    _, _, chapter = build(tmp_path, MARKS, [HOLDS, FAILS, "and so on"])
    assert "│" in chapter
    assert "and so on" in chapter


@pytest.mark.parametrize(
    ("prose", "printed", "complaint"),
    [
        ("It is {claim}`sky-is-green`.", [], "no executed cell makes the claim 'sky-is-green'"),
        ("It is.", [HOLDS], "mark reference target not found: sky-is-blue"),
        ("It is {claim}`sky-is-blue`.", [HOLDS, HOLDS], "the claim 'sky-is-blue' is made more than once"),
    ],
    ids=["a mark without a measurement", "a measurement without a mark", "an id used twice"],
)
def test_what_does_not_fit_is_a_warning(tmp_path, prose, printed, complaint):
    assert complaint in build(tmp_path, prose, printed)[0]

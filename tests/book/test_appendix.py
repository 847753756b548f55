"""The appendix is complete: notation, glossary, and the paragraphs of the paper."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PARAGRAPHS = {  # of sections 3 to 5 and 6.1 of the paper's seventh version
    "3": 2, "3.1": 2, "3.2": 1, "3.2.1": 4, "3.2.2": 4, "3.2.3": 4, "3.3": 2, "3.4": 1, "3.5": 3,
    "4": 6, "5": 1, "5.1": 1, "5.2": 1, "5.3": 1, "5.4": 3, "6.1": 4,
}  # fmt: skip
GREEK = (
    "alpha beta gamma delta Delta epsilon varepsilon zeta eta theta Theta kappa lambda Lambda mu nu xi pi "
    "rho sigma Sigma tau phi varphi Phi psi Psi omega Omega"
)


def page(name):
    return (ROOT / "appendix" / name).read_text(encoding="utf-8")


def prose(path):
    notebook = nbformat.read(path, as_version=4)
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def letters(text):
    """Return the symbols in a text's formulas, without indices."""
    text = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    found = set()
    for display, inline in re.findall(r"\$\$(.+?)\$\$|\$(.+?)\$", text, re.DOTALL):
        formula = re.sub(r"\\(text|operatorname|begin|end|mathrm)\*?\{[^}]*\}", " ", display or inline)
        formula = re.sub(r"_(\{[^{}]*\}|\\?\w)", " ", formula)
        greek = re.findall(rf"\\({GREEK.replace(' ', '|')})(?![a-zA-Z])", formula)
        found |= {f"\\{name}" for name in greek} | set(re.sub(r"\\[a-zA-Z]+|[^a-zA-Z]", "", formula))
    return found


def rows(text):
    """Return the body rows of a page's list-tables as lists of cells."""
    tables = re.findall(r"^```\{list-table\}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    for table in tables:
        _, _, *found = re.split(r"^\* - ", table, flags=re.MULTILINE)
        yield from (re.split(r"^  - ", row, flags=re.MULTILINE) for row in found)


def test_letters_are_distinguished_from_words_indices_and_functions():
    text = r"by $x_t W_h \tanh(\rho)$ and `$y$` $$\text{no}\; \softmax(\Q)\, z_{ij}$$"
    assert letters(text) == {"x", "W", "\\rho", "z"}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_letter_of_a_formula_is_in_the_notation(path):
    assert letters(prose(path)) - letters(page("notation.md")) == set()


def glossary():
    """Return the definition of each term of the glossary."""
    text = re.search(r":sorted: true\n(.*?)^```", page("glossary.md"), re.DOTALL | re.MULTILINE)[1]
    entries = re.findall(r"^(\S.*)\n((?:  .*\n)+)", text, re.MULTILINE)
    return {term: " ".join(lines.split()) for term, lines in entries}


def marked_terms(text):
    """Return the terms that a text links to the glossary."""
    marked = re.findall(r"\{term\}`([^`]+)`", text)
    return {re.sub(r".*<(.*)>", r"\1", " ".join(word.split())).lower() for word in marked}


def test_every_word_of_the_glossary_is_linked_from_a_page():
    pages = [ROOT / "intro.md", ROOT / "translator.md", *(ROOT / "appendix").glob("*.md")]
    texts = [*map(prose, CHAPTERS), *(path.read_text(encoding="utf-8") for path in pages)]
    assert {term.lower() for term in glossary()} - marked_terms("\n".join(texts)) == set()


@pytest.mark.parametrize("term", glossary())
def test_every_word_of_the_glossary_names_chapters_that_use_it(term):
    named = re.findall(r"\[[Cc]hapter (\d+)\]\(\.\./chapters/(\d\d_\w+\.ipynb)\)", glossary()[term])
    assert named
    for number, name in named:
        text = prose(ROOT / "chapters" / name)
        assert name.startswith(f"{int(number):02}_")
        assert term.lower() in text.lower() or term.lower() in marked_terms(text)


def test_the_map_holds_every_paragraph_of_the_paper():
    told = [re.match(r"\*\*([\d.]+) ¶(\d)", cells[0]).groups() for cells in rows(page("paper_to_code.md"))]
    paragraphs = [(section, str(n)) for section, count in PARAGRAPHS.items() for n in range(1, count + 1)]
    assert list(dict.fromkeys(told)) == paragraphs


def test_each_paragraph_names_code_a_chapter_and_a_test_or_is_not_covered():
    for paragraph, code, test in rows(page("paper_to_code.md")):
        if "Not in this book" not in code and "departures.md" not in code:
            assert "{source}`" in code, paragraph
            assert "../chapters/" in code, paragraph
            assert re.search("{(test|claim)}`", test), paragraph  # the cell of a claim is a test, too


def test_each_point_is_covered_by_a_section_or_a_page():
    for point, place in rows(page("coverage.md")):
        assert re.search(r"\.ipynb[#)]|\]\(\w+\.md", place), point

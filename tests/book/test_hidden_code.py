"""Adjacent hidden code cells are opened together, and solutions are announced as such."""

from docutils import nodes
from docutils.utils import new_document

from hidden_code import HiddenCode, HiddenSolutions


def cell(code, output=None, hide_mode="input"):
    parts = [nodes.container("", nodes.literal_block(code, code))]
    parts += [nodes.container("", nodes.paragraph(output, output))] if output else []
    return nodes.container("", *parts, hide_mode=hide_mode)


def merged(*children):
    document = new_document("page")
    document.extend(children)
    HiddenCode(document).apply()
    return [[part.astext().split() for part in child] for child in document]


def test_cells_without_output_are_merged_with_the_next_one():
    assert merged(cell("a"), cell("b"), cell("c", "shown"), cell("d")) == [
        [["a", "b", "c"], ["shown"]],
        [["d"]],
    ]


def test_text_between_cells_keeps_them_apart():
    between = nodes.paragraph("", "", nodes.Text("text"))
    assert merged(cell("a"), between, cell("b")) == [[["a"]], [["text"]], [["b"]]]


def test_visible_code_stays_apart():
    assert merged(cell("a"), cell("b", hide_mode=None), cell("c")) == [[["a"]], [["b"]], [["c"]]]


def test_a_solution_is_announced():
    document = new_document("page")
    plot, solution = cell("a"), cell("b")
    solution["classes"].append("tag_solution")
    for each in (plot, solution):
        each["prompt_show"] = "Show the code"
    document.extend([plot, solution])
    HiddenSolutions(document).apply()
    assert [plot["prompt_show"], solution["prompt_show"]] == ["Show the code", "Show a solution"]

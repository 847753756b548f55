"""Rules for every chapter: each rule is a function from a notebook to its faults.

Each rule is held against every chapter, and against a made-up notebook that breaks it, so that no rule is
one that cannot fail.
"""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit.chapters import Chapter, is_claim
from glassformer.claims import parse_line

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
COLAB = 'import sys\n\nif "google.colab" in sys.modules:\n    !git clone -q'


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def tags(cell):
    return cell.metadata.get("tags", [])


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def claims(notebook):
    lines = [line for cell in code_cells(notebook) for line in printed(cell).splitlines()]
    return [claim.id for claim in map(parse_line, lines) if claim]


def marks(notebook):
    return re.findall(r"\{claim\}`([^`]+)`", prose(notebook))


def faults_of_running(notebook):
    """Cells were run once, in order, without an error, a warning or anything else on stderr."""
    counts = [cell.execution_count for cell in code_cells(notebook) if cell.source.strip()]
    if counts != list(range(1, len(counts) + 1)):
        yield f"cells were run as {counts}: make execute"
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"an error is stored: {output.ename}"
            if output.get("name") == "stderr" or re.search(r"\w*Warning:", output.get("text", "")):
                yield f"a warning is stored: {output.get('text', '')[:80]}"


def faults_of_paths(notebook):
    """No path of anybody's machine is stored."""
    for found in re.findall(r"(?<![\w.:/<])/(?:home|root|tmp|Users|work|usr)/\S*", json.dumps(notebook)):
        yield f"a machine's path: {found}"


def faults_of_metadata(notebook):
    """A run leaves no trace but its outputs."""
    if set(notebook.metadata) - {"kernelspec"}:
        yield f"metadata beyond the kernel: {sorted(notebook.metadata)}"
    if any("execution" in cell.metadata for cell in notebook.cells):
        yield "timestamps are stored"


def faults_of_length(notebook):
    """A cell does one thing, in at most 15 lines; the imports may take 20."""
    for cell in code_cells(notebook):
        most = 20 if cell.source.startswith(("import ", "from ")) else 15
        if (lines := len(cell.source.strip().splitlines())) > most:
            yield f"a cell of {lines} lines: {cell.source[:60]!r}"


def faults_of_imports(notebook):
    """First the cell that installs the package on Colab, then all imports, then nothing is imported."""
    first, second, *rest = code_cells(notebook)
    if not first.source.startswith(COLAB) or not {"remove-cell", "colab"} <= set(tags(first)):
        yield "the first cell must be the one that installs the package on Colab"
    if "import" not in second.source:
        yield "the second cell must hold the imports"
    with_imports = [bool(re.search(r"^\s*(import|from) ", cell.source, re.M)) for cell in (second, *rest)]
    if with_imports != sorted(with_imports, reverse=True):
        yield f"imports in the cells {[number for number, there in enumerate(with_imports, 2) if there]}"
    if not any("glassformer" in cell.source for cell in (second, *rest)):
        yield "the package is not imported"
    for habit in ("sys.path", "filterwarnings", "!pip", "plt.show"):
        if any(habit in cell.source for cell in (second, *rest)):
            yield f"{habit} in a cell"


def faults_of_figures(notebook):
    """Every figure says in words what it shows, and no cell prints the repr of its axes."""
    for cell in code_cells(notebook):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        if any(kind.startswith("image/") for kind in kinds) and len(alt) < 30:
            yield f"a figure without alt text: {cell.source[:60]!r}"
        texts = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
        if any(re.match(r"<(Axes|matplotlib)|\[<|array\(\[<Axes", text) for text in texts):
            yield f"the repr of axes is stored: {cell.source[:60]!r}"


def faults_of_exercises(notebook):
    """At least four exercises, each with a check to try and a worked solution that passes it."""
    exercises = re.findall(r"^```\{exercise\}", prose(notebook), re.M)
    if len(exercises) < 4:
        yield f"{len(exercises)} exercises"
    checks = {
        kind: re.findall(
            r"\bcheck_\w+(?=\()", "\n".join(c.source for c in code_cells(notebook) if kind in tags(c))
        )
        for kind in ("exercise", "solution")
    }
    if Counter(checks["exercise"]) != Counter(checks["solution"]) or len(checks["exercise"]) != len(
        exercises
    ):
        yield f"{len(exercises)} exercises, but the checks are {checks}"
    for cell in code_cells(notebook):
        if "solution" in tags(cell) and ("✔" not in printed(cell) or "hide-cell" not in tags(cell)):
            yield f"a solution that is not checked, or not folded away: {cell.source[:60]!r}"
        if "exercise" in tags(cell) and "◦" not in printed(cell):
            yield f"an exercise that is handed out solved: {cell.source[:60]!r}"


def faults_of_claims(notebook):
    """Every marked sentence is measured, and every measured sentence is marked."""
    made, marked = Counter(claims(notebook)), set(marks(notebook))
    yield from (f"made {count} times: {id}" for id, count in made.items() if count > 1)
    yield from (f"marked, but not measured: {id}" for id in marked - set(made))
    yield from (f"measured, but not marked: {id}" for id in set(made) - marked)
    if not made:
        yield "nothing is measured"


def faults_of_anatomy(notebook):
    """The parts that every chapter has."""
    if len(re.findall(r"^# ", prose(notebook), re.M)) != 1:
        yield "there must be one title"
    source = "\n".join(cell.source for cell in code_cells(notebook))
    for part, there in {
        "plot_architecture": "plot_architecture(highlight=" in source,
        "objectives": ":class: objectives" in prose(notebook),
        "a prediction": ":class: predict" in prose(notebook),
        "folklore": "folklore(" in source,
        "a place for the live figure": any("live-figure" in tags(cell) for cell in code_cells(notebook)),
        "the book's sentence": "too tired" in prose(notebook) + source,
    }.items():
        if not there:
            yield f"{part} is missing"


def faults_of_the_main_line(path):
    """At most 3,000 words and a dozen claims, and the stated minutes are those that it takes."""
    chapter = Chapter(path)
    if chapter.words > 3000:
        yield f"{chapter.words} words"
    if (claims := sum(is_claim(cell) for cell in chapter.main_line)) > 12:
        yield f"{claims} claims"
    stated = re.findall(r"\*\*About (\d+) minutes\.\*\*", prose(chapter.notebook))
    if stated != [str(chapter.reading_minutes)]:
        yield f"{chapter.reading_minutes} minutes, stated as {stated}"


def faults_of_claim_cells(path):
    """A cell makes one claim, draws nothing, and computes what it says was measured."""
    for cell in code_cells(nbformat.read(path, as_version=4)):
        calls = claim_calls(cell.source)
        if len(calls) > 1:
            yield f"{len(calls)} claims in a cell: {cell.source[:60]!r}"
        if calls and "plotting." in cell.source:
            yield f"a claim in a plotting cell: {cell.source[:60]!r}"
        for call in calls:
            (measured,) = (word.value for word in call.keywords if word.arg == "measured")
            if isinstance(measured, ast.Constant):
                yield f"a typed measurement: {measured.value!r}"


def faults_of_stored_claims(path):
    """A claim whose condition depends on a stored result names the benchmark that made it."""
    tainted = set()
    for cell in code_cells(nbformat.read(path, as_version=4)):
        tree = ast.parse(re.sub(r"^(\s*)[!%].*", r"\1pass", cell.source, flags=re.M))
        for statement in tree.body:
            used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            if "benchmarks/results" in ast.unparse(statement) or used & tainted:
                tainted |= names_bound_by(statement)
        for call in claim_calls(cell.source):
            condition = next(word.value for word in call.keywords if word.arg == "holds")
            used = {node.id for node in ast.walk(condition) if isinstance(node, ast.Name)}
            stored = [ast.literal_eval(word.value) for word in call.keywords if word.arg == "stored"]
            if bool(used & tainted) != bool(stored):
                yield f"{'stored' if used & tainted else 'not stored'}: {ast.unparse(call.args[0])}"
            yield from (f"there is no {name}" for name in stored if not (ROOT / name).is_file())


def claim_calls(source):
    if "gf.claim(" not in source and "gf.folklore(" not in source:
        return []
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [call for call in calls if ast.unparse(call.func) in ("gf.claim", "gf.folklore")]


def names_bound_by(statement):
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    stored = [node for node in ast.walk(statement) if isinstance(getattr(node, "ctx", None), ast.Store)]
    filled = [node.value for node in stored if isinstance(node, ast.Subscript)]  # rows["a"] = 1
    return {node.id for node in (*stored, *filled) if isinstance(node, ast.Name)}


@pytest.mark.parametrize(
    "rule",
    [faults_of_the_main_line, faults_of_claim_cells, faults_of_stored_claims],
    ids=lambda rule: rule.__name__,
)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_of_the_second_edition_keeps_to_the_rule(path, rule):
    assert list(rule(path)) == []


CLAIM = 'gf.claim("a", "A.", holds={holds}, measured={measured}{more})'
READ = 'rows = open("../benchmarks/results/warm_up.json")\ndef best(rows): return rows\nfast = best(rows)\n'


@pytest.mark.parametrize(
    ("rule", "sources"),
    [
        (faults_of_claim_cells, [CLAIM.format(holds=True, measured='"1"', more="")]),
        (faults_of_claim_cells, [(CLAIM.format(holds=True, measured="f'{x}'", more="") + "\n") * 2]),
        (faults_of_claim_cells, ["plotting.plot()\n" + CLAIM.format(holds=True, measured="f'{x}'", more="")]),
        (faults_of_stored_claims, [READ, CLAIM.format(holds="fast > 1", measured="f'{x}'", more="")]),
        (
            faults_of_stored_claims,
            [CLAIM.format(holds="x", measured="f'{x}'", more=', stored="benchmarks/table.py"')],
        ),
        (
            faults_of_stored_claims,
            [READ, CLAIM.format(holds="fast", measured="f'{x}'", more=', stored="benchmarks/no.py"')],
        ),
    ],
)
def test_a_rule_of_the_second_edition_finds_its_fault(tmp_path, rule, sources):
    path = tmp_path / "01_made_up.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    assert len(list(rule(path))) == 1


def test_a_long_chapter_with_many_claims_is_found(tmp_path):
    texts = ["**About 40 minutes.**" + 3001 * " word", ":::{dropdown} More\n" + 5000 * "word " + "\n:::"]
    cells = [new_markdown_cell(text) for text in texts] + [new_code_cell("gf.claim(\n)") for _ in range(13)]
    path = tmp_path / "01_made_up.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    words, claims, minutes = faults_of_the_main_line(path)
    assert words == "3004 words"
    assert claims == "13 claims"
    assert minutes == "15 minutes, stated as ['40']"


def an_image(alt):
    output = new_output("display_data", {"image/png": "", "text/plain": "<Figure size 740x290>"})
    return new_notebook(
        cells=[new_code_cell("plot()", outputs=[output], metadata={"mystnb": {"image": {"alt": alt}}})]
    )


def a_cell(source="1", text=None, name="stdout", count=1, **metadata):
    outputs = [] if text is None else [new_output("stream", name=name, text=text)]
    return new_notebook(
        cells=[new_code_cell(source, outputs=outputs, execution_count=count, metadata=metadata)]
    )


def claimed(made, marked):
    line = "✔ claim {} holds: It is so. │ measured: 1"
    cells = [new_markdown_cell(f"It is so.{{claim}}`{id}`") for id in marked]
    cells += a_cell(text="\n".join(line.format(id) for id in made)).cells
    return new_notebook(cells=cells)


BROKEN = {
    faults_of_running: [a_cell(count=2), a_cell(text="x", name="stderr"), a_cell(text="UserWarning: no")],
    faults_of_paths: [a_cell(text="/home/ada/book"), a_cell("open('/tmp/x')")],
    faults_of_metadata: [new_notebook(metadata={"jupytext": {}}), a_cell(execution={"a": "2026"})],
    faults_of_length: [a_cell("x = 1\n" * 16)],
    faults_of_imports: [
        new_notebook(cells=[*a_cell("1").cells, *a_cell("import glassformer").cells]),
        new_notebook(
            cells=[*a_cell(COLAB).cells, *(c for s in ("import x", "1", "import y") for c in a_cell(s).cells)]
        ),
    ],
    faults_of_figures: [an_image(""), an_image("image.png")],
    faults_of_exercises: [
        new_notebook(cells=[new_markdown_cell("```{exercise} One\n```")]),
        new_notebook(
            cells=[
                new_markdown_cell("```{exercise} One\n```\n" * 4),
                *a_cell("check_a(f)\n" * 4, "◦", tags=["exercise"]).cells,
                *a_cell("check_a(f)\n" * 4, "✘", tags=["solution", "hide-cell"]).cells,
            ]
        ),
    ],
    faults_of_claims: [claimed([], []), claimed(["a"], []), claimed([], ["a"]), claimed(["a", "a"], ["a"])],
    faults_of_anatomy: [new_notebook(), new_notebook(cells=[new_markdown_cell("# One\n# Two\ntoo tired")])],
}


@pytest.mark.parametrize("rule", BROKEN, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_keeps_to_the_rule(path, rule):
    assert list(rule(nbformat.read(path, as_version=4))) == []


@pytest.mark.parametrize(
    ("rule", "notebook"), [(rule, broken) for rule, notebooks in BROKEN.items() for broken in notebooks]
)
def test_the_rule_finds_its_fault(rule, notebook):
    assert list(rule(notebook)) != []


def test_the_table_of_contents_and_the_chapters_agree():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    assert [name for name in listed if name.startswith("chapters/")] == [
        f"chapters/{path.stem}" for path in CHAPTERS
    ]
    there = [f"appendix/{path.stem}" for path in (ROOT / "appendix").glob("*.md")]
    assert sorted(name for name in listed if name.startswith("appendix/")) == sorted(there)


def test_the_ids_of_claims_are_unique_in_the_book():
    ids = Counter(id for path in CHAPTERS for id in claims(nbformat.read(path, as_version=4)))
    assert [id for id, count in ids.items() if count > 1] == []


@pytest.mark.parametrize(
    "page", ["intro.md", *[f"appendix/{p.name}" for p in (ROOT / "appendix").glob("*.md")]]
)
def test_a_claim_marked_outside_the_chapters_is_measured_in_one(page):
    marked = re.findall(r"\{claim\}`([^`]+)`", (ROOT / page).read_text(encoding="utf-8"))
    measured = [id for path in CHAPTERS for id in claims(nbformat.read(path, as_version=4))]
    assert set(marked) <= set(measured)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_check_of_a_chapter_is_an_exercise_in_it(path):
    module = ROOT / "src/glassformer/exercises" / f"{path.stem.split('_', 1)[1]}.py"
    defined = re.findall(r"^def (check_\w+)", module.read_text(encoding="utf-8"), re.M)
    used = re.findall(r"\bcheck_\w+(?=\()", path.read_text(encoding="utf-8"))
    assert sorted(defined) == sorted(set(used))

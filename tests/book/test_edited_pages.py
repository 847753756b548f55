"""The source of a page in each edition."""

import json
from pathlib import Path, PurePath

import pytest

from bookkit.editions import Edition, edit_page

REPOSITORY = "https://github.com/ada/book"
COURSE = "https://github.com/ada/course"
CHAPTERS = Path(__file__).parents[2] / "chapters"
PAGE, NOTEBOOK = PurePath("page.md"), PurePath("chapter.ipynb")
EDITIONS = ["reader", "student", "teacher"]
TEXT = """before

:::{teacher} An answer
It is 7.
:::

::::{student}
:::{note}
Ask.
:::
::::
:::{reader}
```sh
git clone
```
:::

```md
:::{teacher}
an example
:::
```

after
"""


def edit(source, name, path=PAGE, course="", notes=""):
    return edit_page(source, path, Edition(name, REPOSITORY, course), notes)


def cell(text, *tags, kind="code"):
    source = text.splitlines(keepends=True)
    return {"cell_type": kind, "metadata": {"tags": list(tags)} if tags else {}, "source": source}


def edit_cells(cells, name, **options):
    source = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    return json.loads(edit(source, name, NOTEBOOK, **options))["cells"]


@pytest.mark.parametrize(
    ("name", "answer", "for_students", "for_others"),
    [("reader", False, False, True), ("student", False, True, False), ("teacher", True, False, True)],
)
def test_a_block_is_kept_only_in_its_edition(name, answer, for_students, for_others):
    text = edit(TEXT, name)
    assert ("It is 7." in text, "Ask." in text, "git clone" in text) == (answer, for_students, for_others)
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")


def test_only_the_teacher_block_keeps_its_directive():
    assert "{student}" not in edit(TEXT, "student")
    assert "{reader}" not in edit(TEXT, "reader")
    assert ":::{teacher} An answer\nIt is 7.\n:::\n" in edit(TEXT, "teacher")


@pytest.mark.parametrize("name", EDITIONS)
def test_a_code_block_that_shows_a_directive_is_unchanged(name):
    assert "```md\n:::{teacher}\nan example\n:::\n```\n" in edit(TEXT, name)


@pytest.mark.parametrize(
    "text",
    [
        "```{note}\n:::{teacher}\nsecret\n:::\n```\n",
        "```{note}\n```\n\n:::{teacher}\nsecret\n:::\n\n```python\n```\n",
        "::::{note}\n:::{teacher}\nsecret\n:::\n::::\n",
        "- a list\n\n  :::{teacher}\n  secret\n  :::\n",
        ":::::{teacher}\n::::{note}\n:::{tip}\nx\n:::\nsecret\n::::\n:::::",
        ":::{teacher}\n```python\nsecret\n```\n:::\n",
    ],
)
def test_a_block_for_teachers_is_found_at_every_nesting(text):
    assert "secret" in edit(text, "teacher")
    assert "secret" not in edit(text, "student")
    assert "secret" not in edit(text, "reader")


@pytest.mark.parametrize("inner", [":::{note}", "::::{note}"])
def test_an_inner_block_that_would_end_the_outer_one_is_an_error(inner):
    with pytest.raises(ValueError, match=r"inside :::\{teacher\} must begin with fewer colons"):
        edit(f":::{{teacher}}\n{inner}\nx\n:::\nsecret\n:::\n", "student")


def test_students_get_no_solutions_and_teachers_get_them_open():
    cells = [
        cell("x = ...", "exercise"),
        cell("x = 7", "hide-cell", "solution"),
        cell("text", kind="markdown"),
    ]
    assert edit_cells(cells, "reader") == cells
    assert edit_cells(cells, "student") == [cells[0], cells[2]]
    assert edit_cells(cells, "teacher") == [cells[0], cell("x = 7", "solution"), cells[2]]


def test_students_clone_the_repository_of_their_course_or_none():
    text = f"!git clone -q {REPOSITORY} book\n%cd -q book/chapters"
    cells = [cell(text, "remove-cell", "colab")]
    assert edit_cells(cells, "student") == []
    (fetch,) = edit_cells(cells, "student", course=COURSE)
    assert "".join(fetch["source"]) == f"!git clone -q {COURSE} book\n%cd -q book/chapters"
    assert edit_cells(cells, "teacher", course=COURSE) == cells


def test_blocks_in_a_notebook_are_edited_but_its_code_is_not():
    block = ":::{teacher}\nsecret\n:::\n"
    shown, code = edit_cells([cell(block, kind="markdown"), cell(block)], "student")
    assert "".join(shown["source"]) == ""
    assert "".join(code["source"]) == block


def test_notes_are_appended_for_teachers_only():
    cells, notes = [cell("text", kind="markdown")], "## For teachers\n"
    assert edit_cells(cells, "teacher", notes=notes)[-1]["source"] == notes
    assert edit("text\n", "teacher", notes=notes) == f"text\n\n{notes}"
    for name in ("reader", "student"):
        assert edit_cells(cells, name, notes=notes) == cells
        assert edit("text\n", name, notes=notes) == "text\n"


@pytest.mark.parametrize("path", sorted(CHAPTERS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_chapter_without_its_solutions_is_otherwise_unchanged(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    edited = json.loads(edit(path.read_text(encoding="utf-8"), "student", path))
    tags = [set(each["metadata"].get("tags", [])) for each in stored["cells"]]
    gone = [each for each, its in zip(stored["cells"], tags, strict=True) if its & {"solution", "colab"}]
    assert len(gone) > 6
    assert edited == stored | {"cells": [each for each in stored["cells"] if each not in gone]}

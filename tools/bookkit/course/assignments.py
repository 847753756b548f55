"""Turn the exercises of a chapter into the instructor's notebook for nbgrader."""

import hashlib
import itertools
import re
from collections.abc import Iterable

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookkit.chapters import Chapter, Exercise, read_chapter, tags
from bookkit.course.grader.statements import Statement, read_statements, required_names, required_statements

_GREETING = """# Exercises: {title}

Each exercise has a statement, a cell to fill in, and a check that names the mistake it finds. Write your
answers in place of the dots, keep the names, and add cells of your own wherever you like.
Each star is worth one point. When you submit, the checks run again on inputs that you have not seen. If an
exercise asks you to solve it without a package, the grader also checks your imports.
"""


def make_assignment(slug: str, secret: str) -> NotebookNode:
    """Build the instructor's notebook of a chapter's exercises.

    The notebook runs on its own: it includes the statements of the chapter on which the exercises depend.

    Args:
        slug: name of the chapter.
        secret: string from which the seeds of the hidden tests are derived.
    """
    chapter = read_chapter(slug)
    supports = [_support(chapter, exercise) for exercise in chapter.exercises]
    greeting = _GREETING.format(title=chapter.title)
    cells = [
        _locked(new_markdown_cell(greeting), f"{slug}-greeting"),
        _locked(new_code_cell(_imports(chapter, itertools.chain(*supports))), f"{slug}-imports"),
    ]
    for exercise, support in zip(chapter.exercises, supports, strict=True):
        cells += _exercise_cells(exercise, support, secret)
    for number, cell in enumerate(cells):
        cell.id = f"{slug}-{number}".replace("_", "-")[:64]
    return new_notebook(cells=cells, metadata={"kernelspec": dict(chapter.notebook.metadata.kernelspec)})


def hidden_seed(secret: str, label: str) -> int:
    """Derive the seed of an exercise's hidden tests from the secret and the label."""
    digest = hashlib.sha256(f"{secret} {label}".encode()).digest()
    return 10_000 + int.from_bytes(digest[:4]) % 1_000_000_000


def _exercise_cells(exercise: Exercise, support: list[Statement], secret: str) -> list[NotebookNode]:
    label, seed = exercise.label, hidden_seed(secret, exercise.label)
    stars = "★" * exercise.stars + "☆" * (3 - exercise.stars)
    statement = (
        f"## {exercise.title}\n\n"
        f"{stars} · {exercise.minutes} minutes · practises: {exercise.practises}\n\n"
        f"{_plain(exercise.statement)}"
    )
    definitions = [statement.source for statement in support if not statement.is_import]
    given = "\n\n\n".join([*definitions, exercise.given]).strip()
    cells = [_locked(new_markdown_cell(statement), label)]
    if given:
        cells.append(_locked(new_code_cell(given), f"{label}-given"))
    solution = (
        f"{_without_check(exercise.starter)}\n"
        f"### BEGIN SOLUTION\n{_without_check(exercise.solution)}\n### END SOLUTION"
    )
    check = (
        f"exercises.{exercise.check}({exercise.attempt})\n"
        "### BEGIN HIDDEN TESTS\n"
        f"verdict = exercises.{exercise.check}.judge({exercise.attempt}, seed={seed})\n"
        'assert verdict.state == "right", verdict\n'
        "### END HIDDEN TESTS"
    )
    return [
        *cells,
        _marked(new_code_cell(solution), f"{label}-answer", solution=True),
        _marked(new_code_cell(check), f"{label}-check", locked=True, grade=True, points=exercise.stars),
    ]


def _support(chapter: Chapter, exercise: Exercise) -> list[Statement]:
    """Find the earlier statements of the chapter on which an exercise depends."""
    own = [*read_statements(exercise.given), *read_statements(exercise.solution)]
    return required_statements(_statements(chapter, exercise.statement_index), required_names(own))


def _imports(chapter: Chapter, support: Iterable[Statement]) -> str:
    names = {name for statement in support if statement.is_import for name in statement.defines}
    imports = [
        each for each in _statements(chapter, len(chapter.cells)) if each.is_import and each.defines & names
    ]
    lines = dict.fromkeys(statement.needed_for(names).source for statement in imports)
    return "\n".join(
        sorted(lines, key=lambda line: ("glassformer" in line.split()[1], line.startswith("from")))
    )


def _statements(chapter: Chapter, end: int) -> list[Statement]:
    return [
        statement
        for cell in chapter.cells[:end]
        if cell.cell_type == "code" and not {"exercise", "solution"} & {*tags(cell)}
        for statement in read_statements(cell.source)
    ]


def _without_check(code: str) -> str:
    """Remove the last statement of an exercise's cell, which calls the check."""
    lines = code.rstrip().splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("exercises.check_"))
    return "\n".join(lines[:last]).rstrip()


def _plain(statement: str) -> str:
    """Replace the book's roles by their text."""
    words = re.sub(r"\{[a-z:-]+\}`([^`<]+?)(?: <[^>]*>)?`", r"\1", statement)
    return re.sub(r" *\{claim\}`[^`]*`", "", words)


def _locked(cell: NotebookNode, grade_id: str) -> NotebookNode:
    return _marked(cell, grade_id, locked=True)


def _marked(cell: NotebookNode, grade_id: str, **marks: bool | int) -> NotebookNode:
    usual = {"grade": False, "locked": False, "solution": False, "task": False}
    cell.metadata["nbgrader"] = {"schema_version": 3, "grade_id": grade_id, **usual, **marks}
    return cell

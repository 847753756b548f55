"""The one reader of chapters: what slides, assignments and the course's tests take from the notebooks."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

CHAPTERS = Path(__file__).parents[2] / "chapters"

_DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{exercise\} *(?P<title>.*?)\n(?P<body>.*?)^(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
_FACTS = re.compile(
    r"\A:label: *(?P<label>\S+)\s*\n+"
    r"(?P<stars>★+)☆* · (?P<minutes>\d+) minutes · practises: (?P<practises>.+)\n"
)


@dataclass(frozen=True)
class Exercise:
    """An exercise of a chapter: what it asks, what is handed out, and how it is solved and checked."""

    label: str
    title: str
    stars: int
    minutes: int
    practises: str
    statement: str
    given: str  # code that stands between the statement and the learner's cell, or nothing
    starter: str  # the learner's cell, which ends in the check
    solution: str  # the same, filled in
    check: str  # the function of `glassformer.exercises.<slug>` that judges the attempt
    attempt: str  # the name of what is judged
    told: int  # where in the chapter's cells the statement stands
    place: int  # and where the learner's cell


def slugs(chapters: Path = CHAPTERS) -> list[str]:
    """List the chapters' names, in the order in which they are read."""
    return [path.stem.split("_", 1)[1] for path in sorted(chapters.glob("*.ipynb"))]


def read_chapter(slug: str, chapters: Path = CHAPTERS) -> NotebookNode:
    """Read a chapter's notebook.

    Raises:
        ValueError: there is no chapter of that name.
    """
    found = sorted(chapters.glob(f"*_{slug}.ipynb"))
    paths = [path for path in found if path.stem.split("_", 1)[1] == slug]
    if not paths:
        raise ValueError(f"slug ({slug}) must be one of {', '.join(slugs(chapters))}")
    return nbformat.read(paths[0], as_version=4)


def read_exercises(slug: str, chapters: Path = CHAPTERS) -> list[Exercise]:
    """Read the exercises of a chapter, in their order.

    Raises:
        ValueError: there is no chapter of that name, or an exercise does not have its parts.
    """
    cells = read_chapter(slug, chapters).cells
    places = [place for place, cell in enumerate(cells) if "exercise" in tags(cell)]
    return [_read_exercise(slug, cells, place) for place in places]


def tags(cell: NotebookNode) -> list[str]:
    """Return a cell's tags."""
    return cell.metadata.get("tags", [])


def _read_exercise(slug: str, cells: list[NotebookNode], place: int) -> Exercise:
    where = f"{slug}, cell {place}"
    told = max(number for number in range(place) if cells[number].cell_type == "markdown")
    directives = list(_DIRECTIVE.finditer(cells[told].source))
    if not directives:
        raise ValueError(f"{where}: wanted a directive {{exercise}} in the prose before, got none")
    title, body = directives[-1]["title"], directives[-1]["body"]
    if not (facts := _FACTS.match(body)):
        raise ValueError(f"{where}: wanted a label, stars, minutes and what it practises, got {body[:100]!r}")
    if place + 1 == len(cells) or "solution" not in tags(cells[place + 1]):
        raise ValueError(f"{where}: wanted a cell tagged solution after it, got none")
    starter = cells[place].source
    check, attempt = _check_call(starter, where)
    return Exercise(
        label=facts["label"],
        title=title.strip(),
        stars=len(facts["stars"]),
        minutes=int(facts["minutes"]),
        practises=facts["practises"].strip(),
        statement=body[facts.end() :].strip(),
        given="\n\n\n".join(cell.source for cell in cells[told + 1 : place]),
        starter=starter,
        solution=cells[place + 1].source,
        check=check,
        attempt=attempt,
        told=told,
        place=place,
    )


def _check_call(starter: str, where: str) -> tuple[str, str]:
    match ast.parse(starter).body[-1]:
        case ast.Expr(
            ast.Call(func=ast.Attribute(ast.Name("exercises"), check), args=[ast.Name(attempt)], keywords=[])
        ):
            return check, attempt
    raise ValueError(f"{where}: wanted a last line exercises.check_...(attempt), got {starter[-80:]!r}")

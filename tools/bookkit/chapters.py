"""Read the chapters: titles, cells, exercises and claims, in reading order."""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from glassformer.claims import Claim, Verdict, parse_line

ROOT = Path(__file__).parents[2]
CHAPTERS = ROOT / "chapters"

_DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{exercise\} *(?P<title>.*?)\n(?P<body>.*?)^(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
_FACTS = re.compile(
    r"\A:label: *(?P<label>\S+)\s*\n+"
    r"(?P<stars>★+)☆* · (?P<minutes>\d+) minutes · practises: (?P<practises>.+)\n"
)


_ASIDE = {"Check yourself", "Exercises", "Further measurements", "References"}
_DROPDOWN = re.compile(r"^(:{3,}|`{3,})\{dropdown\}.*?^\1\s*$", re.MULTILINE | re.DOTALL)
_WORDING = {"title", "xlabel", "ylabel", "caption"}
_WORDING_OF_CLAIMS = {"measured", "stored", "source"}
_FOLDED = {"hide-input", "remove-input", "remove-cell", "hide-cell"}


@dataclass(frozen=True)
class Exercise:
    """An exercise of a chapter.

    Attributes:
        label: label of the directive, such as ``masks-pairs``.
        title: title of the directive.
        stars: difficulty from 1 to 3; also the points in a course.
        minutes: estimated time.
        practises: skill that the exercise trains.
        statement: text of the directive, in Markdown.
        given: code between the statement and the starter cell.
        starter: code of the learner's cell, which ends in the check.
        solution: code of the solution cell.
        check: name of the function in `glassformer.exercises.<slug>` that judges the attempt.
        attempt: name of the value or function that is checked.
        statement_index: index of the cell with the statement.
        starter_index: index of the learner's cell.
    """

    label: str
    title: str
    stars: int
    minutes: int
    practises: str
    statement: str
    given: str
    starter: str
    solution: str
    check: str
    attempt: str
    statement_index: int
    starter_index: int


@dataclass(frozen=True)
class Chapter:
    """A chapter, read from its notebook ``chapters/NN_<slug>.ipynb`` when a part of it is needed."""

    path: Path

    @property
    def slug(self) -> str:
        """Name of the chapter without its number, such as ``masks``."""
        return self.path.stem.split("_", 1)[1]

    @property
    def number(self) -> int:
        """Number of the chapter in the book."""
        return int(self.path.stem.split("_")[0])

    @property
    def docname(self) -> str:
        """Name of the page in Sphinx."""
        return f"chapters/{self.path.stem}"

    @property
    def name(self) -> str:
        """Number and title."""
        return f"{self.number}. {self.title}"

    @cached_property
    def notebook(self) -> NotebookNode:
        """The notebook as it is stored."""
        return nbformat.read(self.path, as_version=4)

    @property
    def cells(self) -> list[NotebookNode]:
        """Cells of the notebook."""
        return self.notebook.cells

    @cached_property
    def title(self) -> str:
        """First heading of the notebook."""
        lines = (
            line for cell in self.cells if cell.cell_type == "markdown" for line in cell.source.splitlines()
        )
        return next((line[2:] for line in lines if line.startswith("# ")), self.path.stem)

    @cached_property
    def exercises(self) -> list[Exercise]:
        """Exercises in order.

        Raises:
            ValueError: a part of an exercise is missing.
        """
        places = [place for place, cell in enumerate(self.cells) if "exercise" in tags(cell)]
        return [_read_exercise(self.slug, self.cells, place) for place in places]

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Claims in the stored outputs, in order."""
        return tuple(_printed_claims(self.cells))

    @cached_property
    def main_line(self) -> list[NotebookNode]:
        """Cells that a reader goes through: without quiz, exercises, further measurements and references.

        The text of a Markdown cell is without its dropdowns.
        """
        cells, aside = [], False
        for cell in self.cells:
            if cell.cell_type == "code":
                cells += [] if aside else [cell]
                continue
            parts = []
            for part in re.split(r"^(?=## )", cell.source, flags=re.MULTILINE):
                if heading := re.match(r"## (.*)", part):
                    aside = heading[1].strip() in _ASIDE
                parts += [] if aside else [_DROPDOWN.sub("", part)]
            cells.append(nbformat.v4.new_markdown_cell("".join(parts), id=cell.id))
        return cells

    @property
    def words(self) -> int:
        """Number of words of prose in the main line."""
        prose = " ".join(cell.source for cell in self.main_line if cell.cell_type == "markdown")
        return len(re.findall(r"[\w’'$\\{}^-]+", prose))

    @property
    def reading_minutes(self) -> int:
        """Estimated reading time of the main line, rounded to 5 minutes: 200 words or 15 lines per minute."""
        lines = sum(
            len([line for line in cell.source.splitlines() if line.strip()])
            for cell in self.main_line
            if cell.cell_type == "code" and not _FOLDED & set(tags(cell)) and not is_claim(cell)
        )
        return 5 * round((self.words / 200 + lines / 15) / 5)

    @property
    def stated_minutes(self) -> int:
        """Reading time that the chapter states at its beginning."""
        text = "".join(cell.source for cell in self.cells if cell.cell_type == "markdown")
        if not (stated := re.search(r"\*\*About (\d+) minutes\.\*\*", text)):
            raise ValueError(f"{self.slug} must state its reading time, as in **About 30 minutes.**")
        return int(stated[1])

    @cached_property
    def code_digest(self) -> str:
        """Hash of the code outside exercises; comments and wording, as in claims and titles, do not count."""
        sources = [
            cell.source
            for cell in self.cells
            if cell.cell_type == "code" and not {"colab", "exercise", "solution"} & set(tags(cell))
        ]
        parts = (part for source in sources for part in _code_parts(ast.parse(source)))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def claims_with(self, verdict: Verdict) -> list[Claim]:
        """Select the claims with one verdict."""
        return [claim for claim in self.claims if claim.verdict == verdict]


def read_chapters(folder: Path = CHAPTERS) -> list[Chapter]:
    """List the chapters in reading order."""
    return [Chapter(path) for path in sorted(folder.glob("[0-9]*_*.ipynb"))]


def read_chapter(slug: str, folder: Path = CHAPTERS) -> Chapter:
    """Return the chapter with this slug.

    Raises:
        ValueError: there is no such chapter.
    """
    chapters = {chapter.slug: chapter for chapter in read_chapters(folder)}
    if slug not in chapters:
        raise ValueError(f"slug ({slug}) must be one of {', '.join(chapters)}")
    return chapters[slug]


def slugs(folder: Path = CHAPTERS) -> list[str]:
    """List the chapters' slugs in reading order."""
    return [chapter.slug for chapter in read_chapters(folder)]


@cache
def all_exercises() -> dict[str, Exercise]:
    """Return every exercise of the book by its label."""
    return {exercise.label: exercise for chapter in read_chapters() for exercise in chapter.exercises}


def tags(cell: NotebookNode) -> list[str]:
    """Return a cell's tags."""
    return cell.metadata.get("tags", [])


def is_claim(cell: NotebookNode) -> bool:
    """Tell whether a code cell makes a claim."""
    return bool(re.search(r"\bgf\.(claim|folklore)\(", cell.source))


def _code_parts(tree: ast.Module) -> Iterator[str]:
    """Yield the names, constants and kinds of nodes in a program, without its wording."""
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.Call):
            words = _WORDING
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("claim", "folklore"):
                node.args, words = node.args[:1], _WORDING_OF_CLAIMS
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in words]
    for node in ast.walk(tree):
        yield type(node).__name__
        for _, value in ast.iter_fields(node):
            if isinstance(value, str | bytes | complex | float | int):
                yield repr(value)


def _printed_claims(cells: list[NotebookNode]) -> Iterator[Claim]:
    for cell in cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stdout":
                yield from filter(None, map(parse_line, output.text.splitlines()))


def _read_exercise(slug: str, cells: list[NotebookNode], place: int) -> Exercise:
    where = f"{slug}, cell {place}"
    before = max(number for number in range(place) if cells[number].cell_type == "markdown")
    directives = list(_DIRECTIVE.finditer(cells[before].source))
    if not directives:
        raise ValueError(f"{where}: the Markdown cell before it must hold an {{exercise}} directive")
    title, body = directives[-1]["title"], directives[-1]["body"]
    if not (facts := _FACTS.match(body)):
        raise ValueError(
            f"{where}: the exercise must begin with a label, stars, minutes and what it practises, "
            f"got {body[:100]!r}"
        )
    if place + 1 == len(cells) or "solution" not in tags(cells[place + 1]):
        raise ValueError(f"{where}: the next cell must be tagged solution")
    starter = cells[place].source
    check, attempt = _check_call(starter, where)
    return Exercise(
        label=facts["label"],
        title=title.strip(),
        stars=len(facts["stars"]),
        minutes=int(facts["minutes"]),
        practises=facts["practises"].strip(),
        statement=body[facts.end() :].strip(),
        given="\n\n\n".join(cell.source for cell in cells[before + 1 : place]),
        starter=starter,
        solution=cells[place + 1].source,
        check=check,
        attempt=attempt,
        statement_index=before,
        starter_index=place,
    )


def _check_call(starter: str, where: str) -> tuple[str, str]:
    match ast.parse(starter).body[-1]:
        case ast.Expr(
            ast.Call(func=ast.Attribute(ast.Name("exercises"), check), args=[ast.Name(attempt)], keywords=[])
        ):
            return check, attempt
    raise ValueError(f"{where}: the last line must be exercises.check_...(attempt), got {starter[-80:]!r}")

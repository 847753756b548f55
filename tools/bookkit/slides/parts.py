"""Show outputs, code, formulas and exercises of a chapter on its slides.

A slide names a cell by its id in a fence, ```` ```{output} 2b21dadf ````. The fence may select lines with
``:lines: 1-3``.
"""

import re
from collections.abc import Callable, Mapping
from html import escape

from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from bookkit.chapters import Chapter, tags
from bookkit.slides.scripts import MARKDOWN, SlideError, display_math
from glassformer.claims import Claim, parse_line

LONGEST_LINE = 74  # characters; output with a longer line is set smaller
_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_OPTION = re.compile(r":lines: *(\d+)(?:-(\d+))?")
_ROLE = re.compile(r"\{[\w:]+\}`([^`<]+?)(?: *<[^`>]*>)?`")


def find_cell(chapter: Chapter, id: str, kind: str) -> NotebookNode:
    """Find a cell of one kind, code or markdown.

    Raises:
        SlideError: there is no such cell, it is of the other kind, or it holds a solution.
    """
    cell = next((cell for cell in chapter.cells if cell.id == id), None)
    if cell is None:
        raise SlideError(f"the chapter {chapter.slug} has no cell {id!r}")
    if cell.cell_type != kind:
        raise SlideError(f"cell {id!r} of {chapter.slug} must be a {kind} cell, got a {cell.cell_type} cell")
    if "solution" in tags(cell):
        raise SlideError(f"cell {id!r} of {chapter.slug} is a solution, which no slide may show")
    return cell


class Lines:
    """A selection of lines, such as ``:lines: 2-4`` counted from 1; all lines by default."""

    def __init__(self, option: str, where: str) -> None:
        self.where = where
        self.span: tuple[int, int] | None = None
        if option.strip():
            if (found := _OPTION.fullmatch(option.strip())) is None:
                raise SlideError(
                    f"{where}: it must be empty or hold an option such as :lines: 1-3, got {option!r}"
                )
            self.span = int(found[1]), int(found[2] or found[1])

    def of(self, items: list[str]) -> list[str]:
        """Select the lines.

        Raises:
            SlideError: the selection is out of range.
        """
        start, stop = self.span or (1, len(items))
        if not 1 <= start <= stop <= len(items):
            raise SlideError(f"{self.where}: lines must lie between 1 and {len(items)}, got {start}-{stop}")
        return items[start - 1 : stop]


def show(chapter: Chapter, directive: str, option: str) -> str:
    """Render one fence of a script, such as ``{code} 2b21dadf``, as HTML.

    Raises:
        SlideError: the fence has an unknown name, or its cell cannot be shown.
    """
    name, _, target = directive.partition(" ")
    if name not in SHOWN:
        raise SlideError(f"a fence must begin with one of {', '.join(SHOWN)}, got {directive!r}")
    return SHOWN[name](chapter, target.strip(), Lines(option, f"{chapter.slug}, {directive}"))


def _code(chapter: Chapter, id: str, lines: Lines) -> str:
    return _highlighted("\n".join(lines.of(find_cell(chapter, id, "code").source.splitlines())))


def _highlighted(text: str) -> str:
    code = highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
    return f'<div class="part"><pre class="code highlight"><code>{code}</code></pre></div>'


def _output(chapter: Chapter, id: str, lines: Lines) -> str:
    cell = find_cell(chapter, id, "code")
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            return _picture(cell, data["image/png"], output.metadata["image/png"])
        if "text/html" in data:
            return f'<div class="part">{_html(data["text/html"])}</div>'
    printed = "".join(output.get("text") or output.data["text/plain"] for output in cell.outputs)
    if not printed:
        raise SlideError(f"cell {id!r} of {chapter.slug} has no output")
    return _printed(lines.of(printed.splitlines()))


def _picture(cell: NotebookNode, png: str, size: Mapping[str, int]) -> str:
    alt = escape(cell.metadata["mystnb"]["image"]["alt"], quote=True)
    box = f'width="{size["width"]}" height="{size["height"]}"'
    source = f"data:image/png;base64,{png.strip()}"
    return f'<div class="part picture"><img {box} alt="{alt}" src="{source}"></div>'


def _html(text: str) -> str:
    """Keep a live figure inert until its slide is shown: some measure their available space."""
    return f"<template>{text}</template>" if "<glass-figure" in text else text


def _printed(lines: list[str]) -> str:
    claims = [parse_line(line) for line in lines]
    if all(claims):
        return "".join(_claim(claim) for claim in claims if claim)
    size = " long" if max(map(len, lines)) > LONGEST_LINE else ""
    return f'<div class="part"><pre class="printed{size}">{escape(chr(10).join(lines))}</pre></div>'


def _claim(claim: Claim) -> str:
    holds = claim.verdict == "holds"
    verdict = f"{'✔' if holds else '✘'} {claim.kind.capitalize()} {claim.verdict}"
    return (
        f'<div class="part claim{"" if holds else " fails"}"><p class="verdict">{verdict}</p>'
        f'<p>{escape(claim.statement)}</p><p class="measured">Measured: {escape(claim.measured)}</p></div>'
    )


def _formula(chapter: Chapter, id: str, lines: Lines) -> str:
    """Show the display formulas of a cell; `lines` may select some of them."""
    formulas = _FORMULA.findall(find_cell(chapter, id, "markdown").source)
    if not formulas:
        raise SlideError(f"cell {id!r} of {chapter.slug} has no formula between $$")
    shown = [display_math(formula.strip().rstrip(",.")) for formula in lines.of(formulas)]
    return "".join(f'<div class="part">{formula}</div>' for formula in shown)


def _exercise(chapter: Chapter, label: str, _: Lines) -> str:
    exercises = {exercise.label: exercise for exercise in chapter.exercises}
    if label not in exercises:
        raise SlideError(f"{chapter.slug} has no exercise {label!r}, but {', '.join(exercises)}")
    exercise = exercises[label]
    stars = "★" * exercise.stars + "☆" * (3 - exercise.stars)
    effort = f"{exercise.title} · {stars} · {exercise.minutes} minutes"
    statement = MARKDOWN.render(_ROLE.sub(r"\1", exercise.statement))
    given = _highlighted(exercise.given) if exercise.given else ""
    return f'<div class="part task"><p class="effort">{escape(effort)}</p>{statement}</div>{given}'


SHOWN: Mapping[str, Callable[[Chapter, str, Lines], str]] = {
    "{code}": _code,
    "{output}": _output,
    "{formula}": _formula,
    "{exercise}": _exercise,
}

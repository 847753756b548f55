"""Read the scripts of the slides: ``teach/slides/NN_<slug>.md``.

A script gives each slide a title, an id, a short text, and notes for the speaker. Fences show outputs, code,
formulas and exercises of the chapter, see `bookkit.slides.parts`. The first slide takes the chapter's title.

    ## Who sees whom? {#masks-edit .answer minutes=3}

    How many outputs move?

    +++

    **None.**

    :::{notes}
    Ask, wait, and press space.
    :::

The part after a line ``+++`` appears when the speaker presses the key.
"""

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin

from bookkit.chapters import ROOT

SCRIPTS = ROOT / "teach/slides"
KINDS = {  # heading above the title, by kind of slide
    "answer": "The answer",
    "by-hand": "By hand",
    "exercise": "Now you",
    "folklore": "Often said",
    "formula": "The formula",
    "live": "Try it",
    "measured": "Measured",
    "predict": "Predict first",
    "take-away": "Take away",
}
LAYOUTS = {"beside"}  # the first part on the left, the others on the right
BREAK = "myst_block_break"  # the type of the token of a line +++
MARKDOWN = MarkdownIt("commonmark", {"typographer": True})
MARKDOWN.enable(["table", "strikethrough", "smartquotes"])
MARKDOWN.use(dollarmath_plugin).use(colon_fence_plugin).use(myst_block_plugin)
MARKDOWN.add_render_rule("math_inline", lambda _, tokens, at, *__: _math(tokens[at].content))
MARKDOWN.add_render_rule("math_block", lambda _, tokens, at, *__: display_math(tokens[at].content))
_HEADING = re.compile(
    r"^##? *(?P<title>.*?) *\{#(?P<id>[\w-]+)(?P<kinds>(?: \.[\w-]+)*) minutes=(?P<minutes>\d+)\}$"
)


def display_math(formula: str) -> str:
    """Render a formula that stands on its own line."""
    return f'<div class="math">\\[{escape(formula)}\\]</div>'


def _math(formula: str) -> str:
    return f'<span class="math">\\({escape(formula)}\\)</span>'


class SlideError(ValueError):
    """A slide script is malformed, or names something that its chapter does not have."""


@dataclass(frozen=True)
class Slide:
    """A slide of a script."""

    id: str
    title: str
    kinds: tuple[str, ...]
    minutes: int
    text: str

    @property
    def tokens(self) -> list[Token]:
        """Markdown tokens of the text."""
        return MARKDOWN.parse(self.text)

    @property
    def notes(self) -> str:
        """Notes for the speaker, in Markdown."""
        notes = [token.content for token in self.tokens if token.type == "colon_fence"]
        return "\n".join(notes).strip()

    @property
    def presses(self) -> int:
        """Number of key presses until the whole slide is visible."""
        return sum(token.type == BREAK for token in self.tokens)


def slug_of(script: Path) -> str:
    """Return the slug of a script's chapter."""
    return script.stem.split("_", 1)[1]


def list_scripts(folder: Path | None = None) -> list[Path]:
    """List the scripts in the order of their chapters."""
    return sorted((folder or SCRIPTS).glob("[0-9]*_*.md"))


def read_slides(script: Path) -> list[Slide]:
    """Read the slides of a script.

    Raises:
        SlideError: a slide has no id, minutes or notes, or an unknown kind.
    """
    parts = re.split(r"^(?=##? ?)", script.read_text(encoding="utf-8"), flags=re.M)
    return [_read_slide(part, script.name) for part in parts if part.strip()]


def _read_slide(part: str, name: str) -> Slide:
    first, _, text = part.partition("\n")
    if (head := _HEADING.match(first)) is None:
        raise SlideError(
            f"{name}: a title must end in an id and minutes, {{#masks-edit minutes=3}}, got {first!r}"
        )
    kinds = tuple(head["kinds"].replace(".", " ").split())
    if unknown := set(kinds) - KINDS.keys() - LAYOUTS:
        raise SlideError(f"{name}: slide {head['id']!r} has an unknown kind, {', '.join(sorted(unknown))}")
    slide = Slide(head["id"], head["title"], kinds, int(head["minutes"]), text.strip())
    boxes = {token.info for token in slide.tokens if token.type == "colon_fence"}
    if unknown := boxes - {"{notes}"}:
        raise SlideError(f"{name}: slide {slide.id!r} has an unknown box, {', '.join(sorted(unknown))}")
    if not slide.notes:
        raise SlideError(f"{name}: slide {slide.id!r} must have notes, between :::{{notes}} and :::")
    return slide

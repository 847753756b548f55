"""Build a slide deck for each chapter: ``python -m bookkit.slides.build _build/slides``.

The text comes from the scripts in ``teach/slides/``, all results from the stored outputs of the chapters. The
pages load only files beside them, so they can be opened from disk.
"""

import json
import re
import shutil
import sys
from collections.abc import Sequence
from html import escape
from itertools import accumulate, groupby
from pathlib import Path
from string import Template

import yaml
from markdown_it.token import Token
from pygments.formatters import HtmlFormatter

from bookkit.chapters import ROOT, Chapter, read_chapter
from bookkit.slides.parts import show
from bookkit.slides.scripts import (
    BREAK,
    KINDS,
    MARKDOWN,
    SCRIPTS,
    Slide,
    SlideError,
    list_scripts,
    read_slides,
    slug_of,
)
from glassformer.widgets import copy_scripts, files_of

_FIGURE = re.compile(r'<glass-figure name="(\w+)"')


def write_deck(chapter: Chapter, slides: Sequence[Slide]) -> str:
    """Render the page of a deck."""
    ends = accumulate(slide.minutes for slide in slides)
    body = "\n".join(_section(chapter, slide, end) for slide, end in zip(slides, ends, strict=True))
    files = dict.fromkeys(file for name in _FIGURE.findall(body) for file in files_of(name))
    sheets = [f'<link rel="stylesheet" href="static/{file}">' for file in files if file.endswith(".css")]
    scripts = [f'<script src="static/{file}"></script>' for file in files if file.endswith(".js")]
    return _fill(
        "deck.html",
        title=escape(chapter.title),
        number=chapter.number,
        slides=body,
        mathjax=json.dumps(_mathjax()),
        figures="\n".join(sheets + scripts),
    )


def write_index(decks: Sequence[tuple[Chapter, Sequence[Slide]]]) -> str:
    """Render the page that lists all decks."""
    rows = [
        f'<li value="{chapter.number}"><a href="{chapter.slug}.html">{escape(chapter.title)}</a> '
        f"<span>{len(slides)} slides, {sum(slide.minutes for slide in slides)} minutes</span></li>"
        for chapter, slides in decks
    ]
    return _fill("index.html", rows="\n".join(rows))


def build(folder: Path) -> None:
    """Write all decks and their index; if one of them fails, nothing is written."""
    decks = [(read_chapter(slug_of(script)), read_slides(script)) for script in list_scripts()]
    pages = {f"{chapter.slug}.html": write_deck(chapter, slides) for chapter, slides in decks}
    pages["index.html"] = write_index(decks)
    shutil.rmtree(folder, ignore_errors=True)
    _copy_static(folder / "static")
    for name, page in pages.items():
        (folder / name).write_text(page, encoding="utf-8")


def _fill(template: str, **parts: object) -> str:
    return Template((SCRIPTS / template).read_text(encoding="utf-8")).substitute(parts)


def _section(chapter: Chapter, slide: Slide, end: int) -> str:
    first, *others = _steps(chapter, slide)
    later = [f'<div class="later fragment">{"".join(parts)}</div>' for parts in others]
    if "beside" in slide.kinds:
        body = f"<div>{first[0]}</div><div>{''.join(first[1:] + later)}</div>"
    else:
        body = "".join(first + later)
    classes = " ".join(slide.kinds) if slide.title else "opening"
    return (
        f'<section id="{slide.id}" class="{classes}"><div class="slide">{_header(chapter, slide)}'
        f'<div class="body">{body}</div></div>'
        f'<aside class="notes">{MARKDOWN.render(slide.notes)}{_time(slide.minutes, end)}</aside></section>'
    )


def _time(minutes: int, end: int) -> str:
    return f"<p>{minutes} minute{'s' * (minutes > 1)}, until minute {end}.</p>"


def _header(chapter: Chapter, slide: Slide) -> str:
    if not slide.title:
        chapters_title = f"<h1>{escape(chapter.title)}</h1>"
        return f'<header><p class="purpose">Chapter {chapter.number}</p>{chapters_title}</header>'
    purposes = "".join(f'<p class="purpose">{KINDS[kind]}</p>' for kind in slide.kinds if kind in KINDS)
    return f"<header>{purposes}<h2>{MARKDOWN.renderInline(slide.title)}</h2></header>"


def _steps(chapter: Chapter, slide: Slide) -> list[list[str]]:
    """Render the parts visible at first, and the parts that each key press adds."""
    steps: list[list[str]] = [[]]
    for kind, tokens in groupby(slide.tokens, _kind):
        if kind == BREAK:
            steps.append([])
        elif kind == "fence":
            steps[-1] += [show(chapter, token.info, token.content) for token in tokens]
        elif kind == "text":
            steps[-1].append(_text(list(tokens)))
    if not all(steps[1:]):
        raise SlideError(f"slide {slide.id!r} of {chapter.slug} has a line +++ with nothing after it")
    return steps


def _kind(token: Token) -> str:
    return token.type if token.type in ("fence", "colon_fence", BREAK) else "text"


def _text(tokens: Sequence[Token]) -> str:
    return f'<div class="part text">{MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})}</div>'


def _mathjax() -> dict:
    """Return the book's MathJax settings, without measuring the font: hidden slides have no size."""
    book = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config = book["sphinx"]["config"]["mathjax3_config"]
    config["options"] |= {"ignoreHtmlClass": "reveal", "processHtmlClass": "math"}
    return config | {"chtml": {"matchFontHeight": False}}


def _copy_static(folder: Path) -> None:
    """Copy the files that the pages load: reveal.js, MathJax, fonts, scripts and style sheets."""
    shutil.copytree(ROOT / "_vendor", folder)
    copy_scripts(folder)
    own = [path for path in SCRIPTS.iterdir() if path.suffix in (".css", ".js")]
    for path in (ROOT / "_static/book.css", ROOT / "_static/favicon.svg", *own):
        shutil.copy(path, folder)
    style = HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight")
    (folder / "code.css").write_text(style, encoding="utf-8")
    # Live figures also have elements of the class `controls`; reveal.js has its own directly in `.reveal`.
    engine = folder / "reveal/reveal.css"
    sheet = engine.read_text(encoding="utf-8").replace(".reveal .controls", ".reveal>.controls")
    engine.write_text(sheet, encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]))
    print(f"Built the slides. Open them: {sys.argv[1]}/index.html")

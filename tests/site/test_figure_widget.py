"""All figures work as Jupyter widgets in one page."""

import json
import re
from pathlib import Path

import pytest

from glassformer.widgets.jupyter import FigureWidget
from glassformer.widgets.live import LiveFigure, Table

SITE = Path(__file__).parents[2] / "_build/html"
FIGURE = re.compile(r'<glass-figure name="(\w+)"[^>]*><script type="application/json">(.*?)</script>', re.S)
# Load a widget like a notebook: its script as a module, its style sheet in the page.
SHOW = """async ({ _esm, _css, html }) => {
  const address = URL.createObjectURL(new Blob([_esm], { type: "text/javascript" }));
  const el = document.createElement("div");
  const sheet = document.createElement("style");
  sheet.textContent = _css;
  document.body.append(sheet, el);
  (await import(address)).default.render({ model: new Map([["html", html]]), el });
}"""


@pytest.fixture(scope="module")
def figures():
    """One figure of each kind from the book."""
    pages = [path.read_text(encoding="utf-8") for path in sorted(SITE.glob("**/*.html"))]
    found = {name: json.loads(data) for page in pages for name, data in FIGURE.findall(page)}
    table = Table("", ("", ""), [])
    return [
        LiveFigure(name, label=name, data=data, table=table, heights=(1, 1)) for name, data in found.items()
    ]


def show(page, figure):
    widget = FigureWidget(figure)
    page.evaluate(SHOW, {name: getattr(widget, name) for name in ("_esm", "_css", "html")})


def test_widgets_of_every_figure_work_side_by_side(page, figures):
    complaints = []
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for figure in [*figures, *figures[:2]]:
        show(page, figure)
    assert complaints == []
    assert len(figures) == 16
    assert page.locator("glass-figure[data-live]").count() == len(figures) + 2
    assert page.locator("glass-figure > .stage:visible").count() == len(figures) + 2


def test_focused_controls_keep_their_keys_in_jupyterlab(page, figures):
    """JupyterLab's Lumino checks this attribute before it handles a key as a shortcut."""
    show(page, next(figure for figure in figures if figure.name == "softmax"))
    slider = page.locator("input[type=range]").first
    before = slider.input_value()
    slider.press("ArrowRight")
    assert slider.input_value() != before
    assert slider.get_attribute("data-lm-suppress-shortcuts") == "true"

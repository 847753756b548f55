import re
import sys
from pathlib import Path

import ipywidgets
import numpy as np
import pytest

from glassformer.widgets import live_hero, live_softmax
from glassformer.widgets.jupyter import FigureWidget


def a_figure():
    return live_softmax(["a", "b"], np.array([1.0, 0.0]))


def test_a_widget_contains_the_figure_with_its_scripts_and_styles():
    widget = FigureWidget(a_figure())
    assert widget.html == a_figure().to_html()
    assert all(part in widget._esm for part in ("customElements.define", "computeSoftmax", "export default"))
    assert "glass-figure" in widget._css


def test_widgets_bring_their_own_scripts_and_can_be_combined():
    one, other = FigureWidget(a_figure()), FigureWidget(live_hero())
    assert "computeSoftmax" not in other._esm
    assert ipywidgets.VBox([one, other]).children == (one, other)


def test_the_example_for_teachers_runs():
    text = (Path(__file__).parents[2] / "teach/platforms.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(import ipywidgets\n.*?)^```", text, re.S | re.M)
    made = {}
    exec(example, made)
    assert made["soft"].html != made["sharp"].html


def test_without_anywidget_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "glassformer.widgets.jupyter")
    with pytest.raises(ModuleNotFoundError, match="pip install anywidget"):
        import glassformer.widgets.jupyter  # noqa: F401

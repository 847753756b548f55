import base64
import io
import sys
from itertools import combinations
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.image import imread
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from glassformer.plotting import COLORS, panels, plot_curves
from glassformer.plotting.colors import contrast
from glassformer.plotting.style import WIDTH, styled

WHITE, NEAR_BLACK = "#ffffff", "#121212"


@pytest.mark.parametrize("page", [WHITE, NEAR_BLACK])
def test_text_is_legible_on_both_pages(page):
    assert contrast(COLORS["text"], page) >= 4


def test_text_on_white_has_the_contrast_that_wcag_requires():
    assert contrast(COLORS["text"], WHITE) >= 4.5


@pytest.mark.parametrize("page", [WHITE, NEAR_BLACK])
@pytest.mark.parametrize("name", COLORS)
def test_every_colour_is_visible_on_both_pages(name, page):
    assert contrast(COLORS[name], page) >= 3


def test_white_text_is_legible_on_highlighted_parts():
    assert contrast("white", COLORS["violet"]) >= 4.5


@pytest.mark.parametrize(("first", "second"), list(combinations(["query", "key", "value"], 2)))
@pytest.mark.parametrize("eyes", ["normal", "deuteranopia", "protanopia", "tritanopia"])
def test_query_key_and_value_differ_for_every_kind_of_vision(first, second, eyes, seen_by):
    distance = np.linalg.norm(seen_by(eyes, COLORS[first]) - seen_by(eyes, COLORS[second]))
    assert distance > 0.1


def test_panels_share_one_figure_of_full_width():
    axes = panels(3)
    assert len(axes) == 3
    assert len({ax.figure for ax in axes}) == 1
    assert axes[0].figure.get_figwidth() == WIDTH


def test_figures_are_transparent():
    ax = panels(1)[0]
    picture = io.BytesIO()
    ax.figure.savefig(picture, format="png")
    picture.seek(0)
    corner = imread(picture)[0, 0]
    assert corner[3] == 0
    assert to_rgba(ax.get_facecolor())[3] == 0


def test_a_notebook_that_crops_figures_does_not_crop_ours():
    ax = panels(1)[0]
    ax.set_axis_off()
    box = ax.figure.get_tightbbox(ax.figure.canvas.get_renderer())
    assert box.width == pytest.approx(WIDTH)


def test_ticks_created_at_drawing_time_have_the_style():
    ax = plot_curves(np.arange(7), {"a": np.arange(7)}, xlabel="x", ylabel="y")
    ax.set_xlim(0, 500)
    ax.figure.canvas.draw()
    assert {tick.get_color() for tick in ax.get_xticklabels()} == {COLORS["text"]}


def test_settings_are_restored_after_an_error():
    @styled
    def fail():
        assert mpl.rcParams["text.color"] == COLORS["text"]
        raise RuntimeError

    before = dict(mpl.rcParams)
    with pytest.raises(RuntimeError):
        fail()
    assert dict(mpl.rcParams) == before


@pytest.fixture
def notebook(monkeypatch):
    """Stand in for a notebook's inline backend."""

    def open_with(formats):
        asked = []
        backend = SimpleNamespace(figure_formats=formats)
        config = SimpleNamespace(
            InlineBackend=SimpleNamespace(initialized=lambda: True, instance=lambda: backend)
        )
        monkeypatch.setitem(sys.modules, "matplotlib_inline.config", config)
        monkeypatch.setitem(
            sys.modules,
            "matplotlib_inline.backend_inline",
            SimpleNamespace(set_matplotlib_formats=asked.append),
        )
        return asked

    return open_with


def test_a_notebook_shows_figures_at_double_resolution(notebook):
    asked = notebook({"png"})
    panels(1)
    assert asked == ["retina"]


def test_a_format_chosen_by_the_user_is_kept(notebook):
    asked = notebook({"svg"})
    panels(1)
    assert asked == []


@pytest.mark.usefixtures("as_a_user")
def test_a_count_of_zero_panels_is_rejected():
    with pytest.raises(ValueError, match="count must be a positive integer, got 0"):
        panels(0)


@pytest.mark.usefixtures("as_a_user")
def test_a_negative_height_is_rejected():
    with pytest.raises(ValueError, match="height must be positive, got -1"):
        panels(2, height=-1)
    assert not plt.get_fignums()


def test_a_notebook_shows_every_figure_uncropped_at_double_resolution(monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # a notebook has its own
    cells = [
        "from glassformer.plotting import *; plot_architecture(highlight='softmax');",
        "plot_attention([[0.25, 0.75]]);",
        "panels(2);",
    ]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, kernel_name="python3").execute()
    for cell in notebook.cells:
        (output,) = cell.outputs
        assert output.output_type == "display_data"
        picture = imread(io.BytesIO(base64.b64decode(output.data["image/png"])))
        assert picture.shape[1] == pytest.approx(200 * (WIDTH + 0.2), abs=2)  # with matplotlib's padding

"""Style of every figure: legible on white and on black, and safe for colour-blind readers."""

import functools
import sys
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.validation import require_positive, require_positive_int

P = ParamSpec("P")
T = TypeVar("T")

#: Width of every figure in inches; equal widths give equal type sizes on the page.
WIDTH = 7.2
#: Default height of a figure in inches.
HEIGHT = 2.9

#: Queries, keys and values have the same colours everywhere; the others are free.
COLORS = {
    "query": "#DF4F12",
    "key": "#2B68C8",
    "value": "#00A08C",
    "violet": "#7A55D0",
    "amber": "#B58400",
    "rose": "#D8639E",
    "slate": "#5A6B7C",
    "text": "#767676",
}

#: Colours of series without a role, in order.
FREE_COLORS = ("violet", "amber", "slate", "rose")

#: Type sizes in points.
SIZES = {"headline": 13.0, "title": 11.0, "label": 10.0, "tick": 9.0, "small": 8.0}

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": SIZES["label"],
    "mathtext.fontset": "dejavusans",
    "text.color": COLORS["text"],
    "figure.facecolor": "none",
    "figure.dpi": 100,
    "savefig.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": COLORS["text"],
    "axes.labelcolor": COLORS["text"],
    "axes.titlecolor": COLORS["text"],
    "axes.titlesize": SIZES["title"],
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": SIZES["label"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": COLORS["text"],
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "xtick.color": COLORS["text"],
    "ytick.color": COLORS["text"],
    "xtick.labelsize": SIZES["tick"],
    "ytick.labelsize": SIZES["tick"],
    "legend.frameon": False,
    "legend.fontsize": SIZES["tick"],
    "legend.labelcolor": COLORS["text"],
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
}


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """Apply the book's style while a function draws, and restore matplotlib's settings afterwards.

    `matplotlib.rc_context` would restore every setting. That undoes the settings which a notebook's backend
    makes when it is loaded by the first figure, and no figure would be shown.
    """

    @functools.wraps(draw)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        before = {name: mpl.rcParams[name] for name in _STYLE}
        mpl.rcParams.update(_STYLE)
        try:
            return draw(*args, **kwargs)
        finally:
            mpl.rcParams.update(before)

    return run


@styled
def panels(count: int, *, height: float | int = HEIGHT) -> Any:
    """Open a figure with panels side by side.

    Args:
        count: number of panels.
        height: height of the figure in inches.

    Returns:
        An array of axes, one per panel, for the ``ax`` of plot functions.

    Raises:
        ValueError: ``count`` is not a positive integer, or the height is not positive.
    """
    require_positive_int(count=count)
    require_positive(height=height)
    figure = open_figure(WIDTH, height, layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)[0]
    for ax in axes:
        _fix_ticks(ax)
    return axes


def open_figure(
    width: float | int, height: float | int, layout: Literal["constrained"] | None = None
) -> Figure:
    """Open a figure that a notebook does not crop, which would change its type size."""
    figure = plt.figure(figsize=(width, height), layout=layout)
    _sharpen_notebook()  # now, because the first figure has loaded the backend
    figure.add_artist(Rectangle((0, 0), 1, 1, transform=figure.transFigure, fill=False, linewidth=0))
    return figure


def axes_or_new(ax: Axes | None, height: float | int = HEIGHT) -> Axes:
    """Return the given axes, or those of a new figure."""
    return panels(1, height=height)[0] if ax is None else ax


def finish(ax: Axes, title: str | None) -> Axes:
    """Set the title, if there is one, and return the axes."""
    if title is not None:
        ax.set_title(title, loc="left")
    return ax


def size_of(ax: Axes) -> tuple[float, float]:
    """Return width and height in inches, as known before the figure is laid out."""
    place, figure = ax.get_position(), ax.get_figure(root=True)
    assert figure is not None
    return place.width * figure.get_figwidth(), place.height * figure.get_figheight()


def color_bar(drawn: ScalarMappable, ax: Axes) -> None:
    """Add a colour bar."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    bar = figure.colorbar(drawn, ax=ax, shrink=0.8, aspect=16, pad=0.03)
    bar.outline.set_visible(False)
    _fix_ticks(bar.ax)


def _fix_ticks(ax: Axes) -> None:
    """Store the style of ticks in the axes, because matplotlib creates some only when it draws."""
    ax.tick_params(
        which="both",
        color=COLORS["text"],
        labelcolor=COLORS["text"],
        labelsize=SIZES["tick"],
        labelfontfamily="DejaVu Sans",
    )


def _sharpen_notebook() -> None:
    """Double the resolution of a notebook's inline backend, unless its user has chosen a format."""
    inline = sys.modules.get("matplotlib_inline.backend_inline")
    config = sys.modules.get("matplotlib_inline.config")
    if inline is None or config is None or not config.InlineBackend.initialized():
        return
    if config.InlineBackend.instance().figure_formats == {"png"}:
        inline.set_matplotlib_formats("retina")

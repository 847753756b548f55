"""Plot matrices: attention weights, masks, and signed numbers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy import ndarray as Array

from glassformer.plotting.arrays import require_labels, require_shares, to_array
from glassformer.plotting.colors import DIVERGING, SEQUENTIAL, ink_on
from glassformer.plotting.style import COLORS, SIZES, WIDTH, axes_or_new, color_bar, finish, size_of, styled
from glassformer.validation import require_mask

_MAY, _MAY_NOT = COLORS["violet"], "none"
_LARGEST_CELL = 0.5  # inches
_MOST_NUMBERS = 150
_CHARACTER = 0.075  # inches per character of a label
_LARGEST_TILED = 40  # larger matrices have no gaps between their cells
_ROOM_FOR_NUMBER = 0.36  # inches: narrower cells show no number


@styled
def plot_attention(
    weights: Any,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Plot attention weights, with a row per query and a column per key.

    The darker a cell, the larger its weight, on the same scale in every figure. If there is room, cells show
    their weights: "0" is exactly zero, "0.00" is only small.

    Args:
        weights: weights of one head, (query, key): array, nested list or tensor on any device.
        rows: query tokens.
        columns: key tokens.
        ax: axes to draw on; a new figure if omitted.
        title: title of the panel.

    Raises:
        ValueError: ``weights`` is not a matrix of numbers between 0 and 1, or the number of labels is wrong.
    """
    matrix = to_array("weights", weights, axes=(2,))
    require_shares("weights", matrix)
    ax, cells = _grid(matrix, ax, rows, columns)
    _shade(ax, cells, matrix, SEQUENTIAL, (0, 1), _write_weight)
    return _query_by_key(ax, title)


@styled
def plot_mask(
    mask: Any,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Plot an attention mask: a cell is filled if its query (row) may attend to its key (column).

    Args:
        mask: True where a query may attend to a key, (query, key): array or tensor on any device.
        rows: query tokens.
        columns: key tokens.
        ax: axes to draw on; a new figure if omitted.
        title: title of the panel.

    Raises:
        ValueError: ``mask`` is not a boolean matrix, or the number of labels is wrong.
    """
    matrix = to_array("mask", mask, axes=(2,))
    require_mask(matrix, matrix.shape, name="mask")
    ax, cells = _grid(matrix, ax, rows, columns)
    linewidth = 0.6 if max(matrix.shape) <= _LARGEST_TILED else 0
    edge: dict[str, Any] = {"edgecolor": COLORS["text"], "linewidth": linewidth}
    cells.set(facecolor=[_MAY if looks else _MAY_NOT for looks in matrix.flat], **edge)
    handles = [
        Patch(facecolor=_MAY, label="may attend", **edge),
        Patch(facecolor=_MAY_NOT, label="may not", **edge),
    ]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1), handlelength=1, handleheight=1)
    return _query_by_key(ax, title)


@styled
def plot_matrix(
    matrix: Any,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Plot signed numbers: violet above zero, brown below, and pale near zero.

    Args:
        matrix: numbers, (row, column): array, nested list or tensor on any device.
        rows: names of the rows.
        columns: names of the columns.
        ax: axes to draw on; a new figure if omitted.
        title: title of the panel.

    Raises:
        ValueError: ``matrix`` is not a matrix of finite numbers, or the number of labels is wrong.
    """
    numbers = to_array("matrix", matrix, axes=(2,))
    limit = float(np.abs(numbers).max()) or 1.0
    write = _write_whole if (numbers == np.round(numbers)).all() else _write_signed
    ax, cells = _grid(numbers, ax, rows, columns)
    _shade(ax, cells, numbers, DIVERGING, (-limit, limit), write)
    return finish(ax, title)


def _grid(
    matrix: Array, ax: Axes | None, rows: Sequence[str] | None, columns: Sequence[str] | None
) -> tuple[Axes, PolyCollection]:
    """Add one uncoloured cell per number, the first row at the top, and label rows and columns."""
    require_labels("rows", rows, matrix.shape[0])
    require_labels("columns", columns, matrix.shape[1])
    side = min(_LARGEST_CELL, (WIDTH - 2.2) / matrix.shape[1], 4.5 / matrix.shape[0])
    ax = axes_or_new(ax, height=side * matrix.shape[0] + 1.1)
    cells = PolyCollection(list(_outlines(matrix.shape)), antialiased=max(matrix.shape) <= _LARGEST_TILED)
    ax.add_collection(cells)
    ax.set(xlim=(-0.5, matrix.shape[1] - 0.5), ylim=(matrix.shape[0] - 0.5, -0.5), aspect="equal")
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    _name(ax.yaxis, rows)
    _name(ax.xaxis, columns)
    if columns is not None and max(map(len, columns)) * _CHARACTER > _cell_width(ax):
        ax.tick_params(axis="x", labelrotation=45)
        for label in ax.get_xticklabels():
            label.set(ha="left", rotation_mode="anchor")
    return ax, cells


def _outlines(shape: tuple[int, ...]) -> Array:
    """Compute the outlines of the cells, with gaps and round corners if the cells are large enough."""
    half, radius, corners = (0.47, 0.1, 20) if max(shape) <= _LARGEST_TILED else (0.5, 0.0, 4)
    turn = 2 * np.pi * (np.arange(corners) + 0.5) / corners
    direction = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    outline = (half - radius) * np.sign(direction) + radius * direction
    places = np.stack(np.meshgrid(range(shape[1]), range(shape[0])), axis=-1).reshape(-1, 1, 2)
    return places + outline


def _name(axis: Axis, labels: Sequence[str] | None) -> None:
    if labels is None:
        axis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    else:
        axis.set_ticks(range(len(labels)), list(labels))


def _cell_width(ax: Axes) -> float:
    """Return the width of a cell in inches, as known before the figure is laid out."""
    width, height = size_of(ax)
    columns, rows = abs(np.diff(ax.get_xlim()))[0], abs(np.diff(ax.get_ylim()))[0]
    return float(min(width / columns, height / rows))


def _shade(
    ax: Axes,
    cells: PolyCollection,
    matrix: Array,
    colormap: Colormap,
    scale: tuple[float | int, float | int],
    write: Callable[[Any], str],
) -> None:
    """Colour the cells, and add their numbers, or a colour bar if there is no room."""
    norm = Normalize(*scale)
    cells.set(array=matrix.ravel(), cmap=colormap, norm=norm)
    if matrix.size <= _MOST_NUMBERS and _cell_width(ax) >= _ROOM_FOR_NUMBER:
        for (row, column), number in np.ndenumerate(matrix):
            ink = ink_on(colormap(norm(number)))
            ax.text(column, row, write(number), color=ink, size=SIZES["small"], ha="center", va="center")
    else:
        color_bar(cells, ax)


def _write_weight(number: Any) -> str:
    return f"{number:.0f}" if number in (0, 1) else f"{number:.2f}"


def _write_signed(number: Any) -> str:
    return (f"{number:.2f}" if abs(number) < 100 else f"{number:.2g}").replace("-", "−")


def _write_whole(number: Any) -> str:
    return f"{number:.0f}".replace("-", "−")


def _query_by_key(ax: Axes, title: str | None) -> Axes:
    """Label the axes of an attention matrix, each in its colour."""
    ax.set_ylabel("query", color=COLORS["query"], weight="bold")
    ax.set_xlabel("key", color=COLORS["key"], weight="bold")
    return finish(ax, title)

"""Plot two-dimensional vectors as arrows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy import ndarray as Array

from glassformer.plotting.arrays import to_arrays
from glassformer.plotting.style import COLORS, SIZES, axes_or_new, finish, size_of, styled
from glassformer.validation import require_shape


@styled
def plot_vectors(
    vectors: Mapping[str, Any],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    colors: Mapping[str, str] | None = None,
) -> Axes:
    """Plot vectors as arrows from the origin, with their names at the tips and equal units on both axes.

    The colour of a vector is taken from ``colors``, or else from its name: "query it" or "key bank" have the
    colours of queries and keys. All others are violet.

    Args:
        vectors: two numbers by the name of the vector.
        ax: axes to draw on; a new figure if omitted.
        title: title of the panel.
        colors: colours by the name of the vector: a name in `COLORS`, or any colour of matplotlib.

    Raises:
        ValueError: there is no vector, a vector is not two finite numbers, or ``colors`` names an
            unknown vector.
    """
    arrows = to_arrays("vectors", vectors, (1,))
    require_shape((2,), **{f"vectors[{name!r}]": arrow for name, arrow in arrows.items()})
    if unknown := set(colors or ()) - set(arrows):
        raise ValueError(f"colors must name vectors of {sorted(arrows)}, got {sorted(unknown)}")
    ax = axes_or_new(ax, height=3.6)
    for name, (x, y) in arrows.items():
        color = (colors or {}).get(name) or _color_of(name)
        color = COLORS.get(color, color)
        head = {"arrowstyle": "-|>", "color": color, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (x, y), xytext=(0, 0), arrowprops={**head, "mutation_scale": 14})
        ax.annotate(
            name,
            (x, y),
            xytext=(5 * np.sign(x), 5 * np.sign(y)),
            textcoords="offset points",
            ha="left" if x >= 0 else "right",
            va="bottom" if y >= 0 else "top",
            color=color,
            size=SIZES["tick"],
            weight="bold",
        )
    _frame(ax, np.stack(list(arrows.values())))
    return finish(ax, title)


def _color_of(name: str) -> str:
    return next((role for role in ("query", "key", "value") if name.startswith(role)), "violet")


def _frame(ax: Axes, tips: Array) -> None:
    """Set limits with a margin around the origin and all tips, and draw both axes."""
    corners = np.concatenate([tips, np.zeros((1, 2))])
    low, high = corners.min(axis=0), corners.max(axis=0)
    size = np.array(size_of(ax))
    half = size * float(np.max(0.65 * (high - low) / size) or 1.0)
    (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
    ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    ax.axhline(0, color=COLORS["text"], linewidth=0.8)
    ax.axvline(0, color=COLORS["text"], linewidth=0.8)
    ax.spines[:].set_visible(False)
    ax.grid(True)

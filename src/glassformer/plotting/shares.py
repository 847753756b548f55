"""Plot relative frequencies as dots, beside the level of chance."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy import ndarray as Array

from glassformer.plotting.arrays import require_shares, to_arrays
from glassformer.plotting.style import COLORS, FREE_COLORS, SIZES, axes_or_new, finish, panels, styled

_MARKERS = "os^D"
_SPREAD = 0.3  # largest distance of a dot from the middle of its column


@styled
def plot_shares(
    shares: Mapping[str, Any],
    *,
    ylabel: str,
    chance: float | int | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Plot a column of dots per group, one per share, with a bar at their mean.

    Args:
        shares: numbers from 0 to 1, of any shape, by the name of the group.
        ylabel: label of the y axis.
        chance: share expected by chance, drawn as a line.
        ax: axes to draw on; a new figure if omitted.
        title: title of the panel.

    Raises:
        ValueError: there is no group, or a number is not between 0 and 1.
    """
    drawn = to_arrays("shares", shares, (1, 2, 3))
    for name, numbers in drawn.items():
        require_shares(f"shares[{name!r}]", numbers)
    ax = axes_or_new(ax)
    for place, numbers in enumerate(map(np.ravel, drawn.values())):
        color = COLORS[FREE_COLORS[place % len(FREE_COLORS)]]
        beside = place + _SPREAD * np.linspace(-1, 1, len(numbers)) if len(numbers) > 1 else [place]
        ax.plot(beside, numbers, linestyle="", marker=_MARKERS[place % 4], color=color, alpha=0.6)
        ax.hlines(numbers.mean(), place - 0.4, place + 0.4, color=color, linewidth=2.2)
    if chance is not None:
        ax.axhline(chance, color=COLORS["text"], linewidth=1, linestyle=(0, (5, 3)))
        ax.annotate(
            "chance",
            (1, chance),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            size=SIZES["small"],
            color=COLORS["text"],
        )
    ax.set(ylabel=ylabel, ylim=(-0.04, 1.04))
    ax.set_xticks(range(len(drawn)), list(drawn))
    ax.tick_params(axis="x", length=0)
    ax.grid(True, axis="y")
    return finish(ax, title)


@styled
def plot_share_pairs(pairs: Mapping[str, Any], *, xlabel: str, ylabel: str) -> Array:
    """Plot pairs of shares as dots in a square, one panel per group, with lines at one half.

    Args:
        pairs: numbers from 0 to 1, (points, 2), by the title of their panel: x and y of each dot.
        xlabel: label of the x axes.
        ylabel: label of the y axes.

    Returns:
        An array of axes, one per group.

    Raises:
        ValueError: there is no group, a group does not hold pairs, or a number is not between 0 and 1.
    """
    drawn = to_arrays("pairs", pairs, (2,))
    for title, points in drawn.items():
        require_shares(f"pairs[{title!r}]", points)
        if points.shape[1] != 2:
            raise ValueError(f"pairs[{title!r}] must have 2 columns, got {points.shape[1]}")
    axes: Array = panels(len(drawn), height=3.6)
    for place, (ax, (title, points)) in enumerate(zip(axes, drawn.items(), strict=True)):
        for line in (ax.axhline, ax.axvline):
            line(0.5, color=COLORS["text"], linewidth=1, linestyle=(0, (5, 3)))
        color = COLORS[FREE_COLORS[place % len(FREE_COLORS)]]
        marker = _MARKERS[place % len(_MARKERS)]
        ax.plot(*points.T, linestyle="", marker=marker, color=color, alpha=0.6, clip_on=False)
        ax.set(xlabel=xlabel, ylabel=ylabel, xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
        ax.set_title(title, loc="left")
        ax.grid(True)
    return axes

"""Measured points, and the curves that were drawn through them."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from glassformer.plotting.arrays import to_array
from glassformer.plotting.curves import plot_curves
from glassformer.plotting.style import COLORS, styled
from glassformer.validation import require_shape


@styled
def plot_fits(
    keys: Any,
    values: Any,
    x: Any,
    fits: Mapping[str, Any],
    *,
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw points as dots in the colour of values, and curves that estimate what lies between them.

    Args:
        keys: where the points lie, (points,).
        values: what was measured there, (points,).
        x: where the curves were computed, (places,).
        fits: each curve's name and its estimates, (places,) or (seeds, places), as in `plot_curves`.
        xlabel: what places are, and their unit.
        ylabel: what values are, and their unit.
        ax: where to draw; without it, in a new figure.
        title: what is shown.

    Raises:
        ValueError: there are not as many values as keys, or a curve does not fit `plot_curves`.
    """
    places = to_array("keys", keys, axes=(1,))
    measured = to_array("values", values, axes=(1,))
    require_shape(places.shape, values=measured)
    ax = plot_curves(x, fits, xlabel=xlabel, ylabel=ylabel, ax=ax, title=title)
    ax.plot(places, measured, "o", color=COLORS["value"], alpha=0.8, zorder=1)
    return ax

"""Plot measured points and the curves fitted to them."""

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
) -> Axes:
    """Plot points as dots in the colour of values, and the curves fitted to them.

    Args:
        keys: x coordinates of the points, (points,).
        values: y coordinates of the points, (points,).
        x: x coordinates of the curves, (places,).
        fits: estimates, (places,) or (seeds, places), by the name of the curve, as in `plot_curves`.
        xlabel: label of the x axis, with its unit.
        ylabel: label of the y axis, with its unit.

    Raises:
        ValueError: keys and values differ in length, or as in `plot_curves`.
    """
    places = to_array("keys", keys, axes=(1,))
    measured = to_array("values", values, axes=(1,))
    require_shape(places.shape, values=measured)
    ax = plot_curves(x, fits, xlabel=xlabel, ylabel=ylabel)
    ax.plot(places, measured, "o", color=COLORS["value"], alpha=0.8, zorder=1)
    return ax

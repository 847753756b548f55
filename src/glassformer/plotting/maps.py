"""Plot every head of a model: small attention maps, one row per attention, one column per head."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy import ndarray as Array

from glassformer.plotting.arrays import require_shares, to_arrays
from glassformer.plotting.colors import SEQUENTIAL
from glassformer.plotting.style import COLORS, SIZES, WIDTH, open_figure, styled

_LABELS, _TILE_GAP, _TOP = 1.15, 0.09, 0.35  # inches: row labels, gaps between maps, column labels


@styled
def plot_maps(weights_of: Mapping[str, Any]) -> Array:
    """Plot the weights of every head of several attention layers as small maps without numbers.

    The colours are those of `plot_attention`. All cells have the same size, so maps with more keys are
    wider and maps with more queries are higher.

    Args:
        weights_of: weights, (heads, query, key), by the name of the attention.

    Returns:
        The axes, (attention, head).

    Raises:
        ValueError: there is no attention, the numbers of heads differ, or a weight is not between 0 and 1.
    """
    drawn = to_arrays("weights_of", weights_of, (3,))
    counts = {len(weights) for weights in drawn.values()}
    if len(counts) > 1:
        raise ValueError(f"weights_of must have the same number of heads, got {sorted(counts)}")
    for name, weights in drawn.items():
        require_shares(f"weights_of[{name!r}]", weights)
    (num_heads,) = counts
    return _draw(drawn, num_heads)


def _draw(drawn: Mapping[str, Array], num_heads: int) -> Array:
    widest = max(weights.shape[2] for weights in drawn.values())
    highest = max(weights.shape[1] for weights in drawn.values())
    column = (WIDTH - _LABELS) / num_heads
    cell = min((column - _TILE_GAP) / widest, column / highest)
    heights = [cell * weights.shape[1] + _TILE_GAP for weights in drawn.values()]
    height = _TOP + sum(heights)
    figure = open_figure(WIDTH, height)
    axes = np.empty((len(drawn), num_heads), dtype=object)
    top = height - _TOP
    for row, (name, weights) in enumerate(drawn.items()):
        tall = cell * weights.shape[1]
        figure.text(0.01, (top - tall / 2) / height, name, va="center", size=SIZES["small"])
        for head, matrix in enumerate(weights):
            left, width = (_LABELS + head * column) / WIDTH, cell * matrix.shape[1] / WIDTH
            place = (left, (top - tall) / height, width, tall / height)
            axes[row, head] = _small_map(figure.add_axes(place), matrix)
        top -= heights[row]
    for head, ax in enumerate(axes[0]):
        ax.set_title(f"head {head}", loc="center", size=SIZES["small"], weight="normal", pad=5)
    return axes


def _small_map(ax: Axes, matrix: Array) -> Axes:
    ax.pcolormesh(matrix, cmap=SEQUENTIAL, vmin=0, vmax=1, edgecolors="none", rasterized=True)
    ax.invert_yaxis()
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set(visible=True, color=COLORS["text"], linewidth=0.6)
    return ax

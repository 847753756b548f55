"""Plot batches as rectangles: a bar of tokens per sentence, followed by its padding."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy import ndarray as Array

from glassformer.plotting.arrays import to_arrays
from glassformer.plotting.style import COLORS, panels, styled


@styled
def plot_batches(batches: Mapping[str, Any]) -> Array:
    """Plot each batch in its own panel, with one row per sentence, padded to the longest of its batch.

    All panels have the same scale, so lengths can be compared.

    Args:
        batches: sentence lengths, (sentences,), above zero, by the title of their panel.

    Returns:
        An array of axes, one per batch.

    Raises:
        ValueError: there is no batch, or a length is not above zero.
    """
    drawn = to_arrays("batches", batches, (1,))
    for title, lengths in drawn.items():
        if lengths.min() <= 0:
            raise ValueError(f"batches[{title!r}] must hold lengths above 0, got {lengths.min():g}")
    axes = panels(len(drawn), height=3.2)
    longest = max(lengths.max() for lengths in drawn.values())
    for ax, (title, lengths) in zip(axes, drawn.items(), strict=True):
        rows, widest = np.arange(len(lengths)), lengths.max()
        ordered = np.sort(lengths)[::-1]
        ax.barh(
            rows, widest - ordered, left=ordered, height=0.8, color=(COLORS["text"], 0.18), label="padding"
        )
        ax.barh(rows, ordered, height=0.8, color=COLORS["violet"], label="tokens")
        ax.set(xlabel="tokens", ylabel="sentences", xlim=(0, longest), ylim=(-0.5, len(lengths) - 0.5))
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.set_yticks([])
        ax.set_title(title, loc="left")
    handles, names = axes[0].get_legend_handles_labels()
    axes[0].get_figure(root=True).legend(
        handles[::-1], names[::-1], loc="outside lower center", ncols=2, handlelength=1.5
    )
    return axes

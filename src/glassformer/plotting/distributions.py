"""Plot scores beside the weights computed from them."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from numpy import ndarray as Array

from glassformer.plotting.arrays import require_labels, to_array, to_arrays
from glassformer.plotting.style import COLORS, finish, panels, styled
from glassformer.validation import require_shape


@styled
def plot_scores_and_weights(scores: Any, weights: Mapping[str, Any], *, labels: Sequence[str]) -> Any:
    """Plot scores as bars, and each set of weights computed from them on one scale.

    Args:
        scores: one score per key, (keys,).
        weights: weights between 0 and 1, (keys,), by the title of their panel.
        labels: names of the keys.

    Returns:
        The axes; the first shows the scores.

    Raises:
        ValueError: scores, weights and labels differ in length, or a number is not finite.
    """
    bars = to_array("scores", scores, (1,))
    require_labels("labels", labels, len(bars))
    drawn = to_arrays("weights", weights, (1,))
    require_shape(bars.shape, **{f"weights[{title!r}]": numbers for title, numbers in drawn.items()})
    axes = panels(1 + len(drawn), height=0.7 + 0.32 * len(bars))
    _bars(axes[0], bars, "scores", COLORS["slate"], "{:+.1f}")
    axes[0].set_yticks(range(len(bars)), labels)
    axes[0].margins(x=0.45)
    for ax, (title, numbers) in zip(axes[1:], drawn.items(), strict=True):
        _bars(ax, numbers, title, COLORS["violet"], "{:.2f}")
        ax.set(xlim=(0, 1.25), xticks=[0, 0.5, 1], yticks=[])
    return axes


def _bars(ax: Axes, numbers: Array, title: str, color: str, form: str) -> None:
    ax.barh(range(len(numbers)), numbers, 0.6, color=(color, 0.35), edgecolor=color, linewidth=1.2)
    for place, number in enumerate(numbers):
        ax.annotate(
            form.format(number).replace("-", "−"),
            (number, place),
            xytext=(-4 if number < 0 else 4, 0),
            textcoords="offset points",
            ha="right" if number < 0 else "left",
            va="center",
            color=COLORS["text"],
            fontsize=8,
        )
    ax.axvline(0, color=COLORS["text"], linewidth=0.8)
    ax.set_ylim(len(numbers) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    finish(ax, title)

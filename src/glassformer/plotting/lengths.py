"""Plot results against sequence length, with the training lengths shaded."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy import ndarray as Array

from glassformer.plotting.curves import plot_curves
from glassformer.plotting.style import COLORS, SIZES, panels, styled
from glassformer.validation import require_positive_int


@styled
def plot_lengths(
    lengths: Any,
    questions: Mapping[str, Mapping[str, Any]],
    *,
    training_length: int,
    xlabel: str,
    ylabel: str,
) -> Array:
    """Plot curves against sequence length, one panel per question, with one legend for all.

    Args:
        lengths: sequence lengths, (points,), above zero.
        questions: curves as in `plot_curves`, by the title of their panel.
        training_length: longest sequence length in training, up to which the panels are shaded.
        xlabel: label of the x axis: the unit of the lengths.
        ylabel: label of the y axis, with its unit.

    Returns:
        An array of axes, one per question.

    Raises:
        ValueError: there is no question, ``training_length`` is not a positive integer, or the
            questions have different curves.
    """
    require_positive_int(training_length=training_length)
    if len(named := {tuple(curves) for curves in questions.values()}) > 1:
        raise ValueError(f"questions must have the same curves, got {sorted(named)}")
    axes = panels(len(questions), height=3.3)
    for ax, (question, curves) in zip(axes, questions.items(), strict=True):
        plot_curves(lengths, curves, xlabel=xlabel, ylabel=ylabel, ax=ax, title=question, xscale="log")
        _shade(ax, np.asarray(lengths), training_length)
        ax.set_ylim(-0.03, 1.06)
        if ax is not axes[0]:
            ax.set_ylabel("")
            ax.tick_params(axis="y", labelleft=False)
    _one_legend(axes)
    return axes


def _shade(ax: Axes, lengths: Array, trained: int) -> None:
    """Shade the lengths of training, and label only powers of two, so that labels do not overlap."""
    ax.axvspan(lengths.min(), trained, color=COLORS["text"], alpha=0.13, linewidth=0)
    ax.text(trained, 0, "trained ", ha="right", va="bottom", size=SIZES["small"], color=COLORS["text"])
    doubled = [each for each in 2.0 ** np.arange(20) if lengths.min() <= each <= lengths.max()]
    ax.set_xticks(doubled, [f"{each:g}" for each in doubled])
    ax.set_xticks([], minor=True)


def _one_legend(axes: Array) -> None:
    """Replace the legends of all panels by one below them."""
    figure = axes[0].get_figure(root=True)
    lines = [line for line in axes[0].get_lines() if not line.get_label().startswith("_")]
    for ax in axes:
        if (legend := ax.get_legend()) is not None:
            legend.remove()
    figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), handlelength=2.8)

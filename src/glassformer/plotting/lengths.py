"""How well something works at each length, and where the lengths that it was trained on end."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy import ndarray as Array

from glassformer.plotting.curves import plot_curves
from glassformer.plotting.style import COLORS, SIZES, panels, styled
from glassformer.validation import require_whole


@styled
def plot_lengths(
    lengths: Any, questions: Mapping[str, Mapping[str, Any]], *, trained: int, xlabel: str, ylabel: str
) -> Array:
    """Draw curves against length in a panel for each question, trained lengths shaded, one legend for all.

    Args:
        lengths: where all curves were measured, (points,), above zero.
        questions: each panel's title, and its curves as `plot_curves` takes them.
        trained: the longest length of training.
        xlabel: what the lengths count.
        ylabel: what the values are, and their unit.

    Returns:
        An array of axes, one for each question.

    Raises:
        ValueError: there is no question, ``trained`` is not a whole number of at least 1, the
            questions do not have the same curves, or a curve does not fit.
    """
    require_whole(trained=trained)
    if len(named := {tuple(curves) for curves in questions.values()}) > 1:
        raise ValueError(f"questions must have the same curves, got {sorted(named)}")
    axes = panels(len(questions), height=3.3)
    for ax, (question, curves) in zip(axes, questions.items(), strict=True):
        plot_curves(lengths, curves, xlabel=xlabel, ylabel=ylabel, ax=ax, title=question, xscale="log")
        _shade(ax, np.asarray(lengths), trained)
        ax.set_ylim(-0.03, 1.06)
        if ax is not axes[0]:
            ax.set_ylabel("")
            ax.tick_params(axis="y", labelleft=False)
    _one_legend(axes)
    return axes


def _shade(ax: Axes, lengths: Array, trained: int) -> None:
    """Show what was seen in training; name few lengths, or their names would run into each other."""
    ax.axvspan(lengths.min(), trained, color=COLORS["text"], alpha=0.13, linewidth=0)
    ax.text(trained, 0, "trained ", ha="right", va="bottom", size=SIZES["small"], color=COLORS["text"])
    doubled = [each for each in 2.0 ** np.arange(20) if lengths.min() <= each <= lengths.max()]
    ax.set_xticks(doubled, [f"{each:g}" for each in doubled])
    ax.set_xticks([], minor=True)


def _one_legend(axes: Array) -> None:
    """Gather what the panels' legends say once, below them all."""
    figure = axes[0].get_figure(root=True)
    lines = [line for line in axes[0].get_lines() if not line.get_label().startswith("_")]
    for ax in axes:
        if (legend := ax.get_legend()) is not None:
            legend.remove()
    figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), handlelength=2.8)

"""Plot the log of a training run: losses and scores against steps."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy import ndarray as Array

from glassformer.plotting.style import COLORS, panels, styled

_LOSSES = {
    "loss": ("training", "violet", "-", ""),
    "validation_loss": ("validation", "amber", (0, (5, 1.5)), "o"),
}
_MOST_MARKERS = 30  # a curve with more points has no markers


@styled
def plot_run(entries: Sequence[Mapping[str, Any]]) -> Array:
    """Plot the losses of a run against the step and, if it was validated, its BLEU.

    Args:
        entries: lines of the log, as `training.log.read_log` returns them. Each has a "step", and some have a
            "loss", a "validation_loss" or a "validation_bleu"; other values are ignored.

    Returns:
        An array of axes: one for the losses and, if there are scores, one for them.

    Raises:
        ValueError: no line has a loss, a line has no step, or a number is not finite.
    """
    curves = {name: _curve(entries, name) for name in (*_LOSSES, "validation_bleu")}
    if not len(curves["loss"]):
        raise ValueError(f"entries must hold at least 1 line with a loss, got none in {len(entries)}")
    scored = bool(len(curves["validation_bleu"]))
    axes = panels(1 + scored, height=3.2)
    for name, (label, color, line, marker) in _LOSSES.items():
        if len(curves[name]):
            _draw(axes[0], curves[name], label, color, line, marker)
    axes[0].set(xlabel="step", ylabel="loss per token")
    axes[0].legend(loc="best", handlelength=2.8)
    if scored:
        _draw(axes[1], curves["validation_bleu"], "validation", "amber", (0, (5, 1.5)), "o")
        axes[1].set(xlabel="step", ylabel="BLEU, validation")
        axes[1].set_ylim(bottom=0)
    return axes


def _curve(entries: Sequence[Mapping[str, Any]], name: str) -> Array:
    """Return the steps and values of the lines that have this name, one per row."""
    for number, entry in enumerate(entries, start=1):
        if "step" not in entry:
            raise ValueError(f"entries must each have a step, got none in line {number}: {dict(entry)}")
    points = np.array([(entry["step"], entry[name]) for entry in entries if name in entry], dtype=float)
    if not np.isfinite(points).all():
        raise ValueError(f"entries must hold finite numbers, got {name} = NaN or infinity")
    return points


def _draw(ax: Axes, points: Array, label: str, color: str, line: Any, marker: str) -> None:
    shown = marker if len(points) <= _MOST_MARKERS else ""
    ax.plot(*points.T, label=label, color=COLORS[color], linestyle=line, marker=shown)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.grid(True)

"""Plot curves, bars and histograms, which differ by more than their colour."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy import ndarray as Array

from glassformer.plotting.arrays import to_array, to_arrays
from glassformer.plotting.style import COLORS, FREE_COLORS, SIZES, axes_or_new, finish, size_of, styled
from glassformer.validation import require_choice, require_positive_int, require_width

_MARKERS = "os^Dv"
_LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)))
_MOST_MARKERS = 25  # a curve with more points has no markers
_MOST_TICKS = 10  # on a logarithmic axis, up to this many points have a tick each
_SCALES = ("linear", "log", "symlog", "logit")
_WIDE = 4.5  # inches: a wider panel has its legend at the side


class _Series(NamedTuple):
    name: str
    numbers: Array
    color: str
    marker: str
    line: Any


@styled
def plot_curves(
    x: Any,
    curves: Mapping[str, Any],
    *,
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    title: str | None = None,
    xscale: str = "linear",
    yscale: str = "linear",
) -> Axes:
    """Plot curves: for several seeds, the mean and a band of one standard deviation.

    Curves differ in colour, marker and dashes. Curves named query, key or value have that colour. On a
    logarithmic axis the band ends at the lowest seed, because mean minus deviation may be negative.

    Args:
        x: positions of the points, (points,).
        curves: values, (points,) or (seeds, points), by the name of the curve.
        xlabel: label of the x axis, with its unit.
        ylabel: label of the y axis, with its unit.
        ax: axes to draw on; a new figure if omitted.
        title: title of the panel.
        xscale: "linear", "log", "symlog" or "logit".
        yscale: scale of the y axis, as for ``xscale``.

    Raises:
        ValueError: there is no curve, a curve has another number of points than ``x``, a number is not finite
            or not above zero on a logarithmic axis, or a scale is unknown.
    """
    points = to_array("x", x, axes=(1,))
    drawn = list(_series("curves", curves, axes=(1, 2)))
    _require_scale("xscale", xscale, {"x": points})
    _require_scale("yscale", yscale, {f"curves[{each.name!r}]": each.numbers for each in drawn})
    require_width(len(points), **{f"curves[{each.name!r}]": each.numbers for each in drawn})
    ax = axes_or_new(ax)
    lines = {}
    for each in drawn:
        seeds = np.atleast_2d(each.numbers)
        mean, spread = seeds.mean(axis=0), seeds.std(axis=0)
        marker = each.marker if len(points) <= _MOST_MARKERS else ""
        (line,) = ax.plot(points, mean, label=each.name, color=each.color, marker=marker, linestyle=each.line)
        lines[line] = mean[-1]
        if len(seeds) > 1:
            floor = seeds.min(axis=0) if yscale == "log" else -np.inf
            low = np.maximum(mean - spread, floor)
            ax.fill_between(points, low, mean + spread, color=each.color, alpha=0.2, linewidth=0)
    ax.set(xlabel=xlabel, ylabel=ylabel, xscale=xscale, yscale=yscale)
    if xscale != "linear" and len(points) <= _MOST_TICKS:
        ax.set_xticks(points, [f"{point:g}" for point in points])
        ax.set_xticks([], minor=True)
    ax.grid(True)
    if len(lines) > 1:
        _legend(ax, sorted(lines, key=lambda line: -lines[line]))
    return finish(ax, title)


@styled
def plot_bars(
    bars: Mapping[str, Any], *, ylabel: str, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Plot bars: the mean over seeds, one standard deviation, and a dot per seed.

    Args:
        bars: values, (seeds,), by the name of the bar.
        ylabel: label of the y axis, with its unit.
        ax: axes to draw on; a new figure if omitted.
        title: title of the panel.

    Raises:
        ValueError: there is no bar, or a number is not finite.
    """
    drawn = list(_series("bars", bars, axes=(1,)))
    ax = axes_or_new(ax)
    for place, each in enumerate(drawn):
        mean, spread = each.numbers.mean(), each.numbers.std()
        ax.bar(place, mean, 0.6, color=(each.color, 0.35), edgecolor=each.color, linewidth=1.2)
        if len(each.numbers) > 1:
            ax.errorbar(place, mean, spread, color=each.color, capsize=5, linewidth=1.6, capthick=1.6)
            beside = place + 0.15 * np.linspace(-1, 1, len(each.numbers))
            ax.plot(beside, each.numbers, linestyle="", marker=each.marker, color=each.color, alpha=0.75)
        _write_above(ax, place, mean, highest=max(each.numbers.max(), mean + spread, 0))
    ax.set_xticks(range(len(drawn)), [each.name for each in drawn])
    ax.tick_params(axis="x", length=0)
    ax.axhline(0, color=COLORS["text"], linewidth=0.8)
    ax.margins(y=0.15)
    ax.grid(True, axis="y")
    ax.set_ylabel(ylabel)
    return finish(ax, title)


@styled
def plot_histograms(
    samples: Mapping[str, Any],
    *,
    xlabel: str,
    ax: Axes | None = None,
    title: str | None = None,
    bins: int = 40,
) -> Axes:
    """Plot histograms of samples, as densities over the same bins.

    Args:
        samples: values of any shape, by the name of the sample.
        xlabel: label of the x axis, with its unit.
        ax: axes to draw on; a new figure if omitted.
        title: title of the panel.
        bins: number of bins between the smallest and the largest value of all samples.

    Raises:
        ValueError: there is no sample, a number is not finite, or ``bins`` is not at least 1.
    """
    require_positive_int(bins=bins)
    drawn = list(_series("samples", samples, axes=tuple(range(1, 9))))
    edges = np.histogram_bin_edges(np.concatenate([each.numbers.ravel() for each in drawn]), bins)
    ax = axes_or_new(ax)
    lines = []
    for each in drawn:
        density, _ = np.histogram(each.numbers, edges, density=True)
        ax.stairs(density, edges, fill=True, color=each.color, alpha=0.18)
        ax.stairs(density, edges, color=each.color, linestyle=each.line, linewidth=1.6)
        lines.append(Line2D([], [], color=each.color, linestyle=each.line, label=each.name))
    ax.set(xlabel=xlabel, ylabel="density")
    ax.grid(True, axis="y")
    if len(lines) > 1:
        _legend(ax, lines)
    return finish(ax, title)


def _series(argument: str, numbers_of: Mapping[str, Any], axes: tuple[int, ...]) -> Iterator[_Series]:
    """Assign a style to each series; query, key and value keep their colours."""
    for place, (name, numbers) in enumerate(to_arrays(argument, numbers_of, axes).items()):
        color = COLORS[name if name in COLORS else FREE_COLORS[place % len(FREE_COLORS)]]
        marker, line = _MARKERS[place % len(_MARKERS)], _LINES[place % len(_LINES)]
        yield _Series(name, numbers.astype(float), color, marker, line)


def _require_scale(name: str, scale: str, arrays: Mapping[str, Array]) -> None:
    require_choice(_SCALES, **{name: scale})
    for argument, array in arrays.items():
        if scale == "log" and array.min() <= 0:
            raise ValueError(f"{argument} must be above 0 on a logarithmic axis, got {array.min():g}")


def _legend(ax: Axes, lines: list[Line2D]) -> None:
    """Add a legend, beside a wide panel or inside a narrow one."""
    if size_of(ax)[0] >= _WIDE:
        ax.legend(handles=lines, loc="center left", bbox_to_anchor=(1, 0.5), handlelength=2.8)
    else:
        ax.legend(handles=lines, loc="best", handlelength=2.8)


def _write_above(ax: Axes, place: int, mean: float, highest: float | int) -> None:
    ax.annotate(
        f"{mean:.3g}".replace("-", "−"),
        (place, highest),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        va="bottom",
        size=SIZES["small"],
    )

"""Primitives of drawings: boxes, arrows and highlighted parts, in tenths of an inch."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path
from numpy import ndarray as Array

from glassformer.plotting.style import COLORS, SIZES, WIDTH, open_figure

Point = tuple[float, float]
Place = tuple[float, float, float, float]  # left, bottom, width, height


class Sketch:
    """Drawing of `WIDTH` inches: lit parts glow in colour, all others are grey outlines."""

    def __init__(self, height: float) -> None:
        """Open a drawing of the given height in inches."""
        figure = open_figure(WIDTH, height)
        self.ax: Axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 10 * WIDTH), ylim=(0, 10 * height))
        self.ax.set_axis_off()

    def box(
        self,
        place: Place,
        *,
        lit: bool = False,
        color: str = COLORS["violet"],
        edge: str = COLORS["text"],
        fill: float = 0.0,
        radius: float = 0.7,
    ) -> None:
        """Draw a rounded box, which is hollow unless lit."""
        if lit:
            self._glow(place, radius, color, ((9, 0.07), (6, 0.1), (3.5, 0.16)))
        self._rounded(
            place,
            radius,
            facecolor=(color, 1.0) if lit else (COLORS["text"], fill),
            edgecolor=color if lit else edge,
            linewidth=0.9,
        )

    def label(
        self,
        words: str,
        place: Place,
        *,
        lit: bool = False,
        color: str | None = None,
        align: Literal["left", "center"] = "center",
        size: float = SIZES["small"],
    ) -> None:
        """Draw a box with a label, which keeps a given colour even if unlit."""
        left, bottom, width, height = place
        rest = color or COLORS["text"]
        self.box(place, lit=lit, color=color or COLORS["violet"], edge=rest)
        self.text(
            left + (width / 2 if align == "center" else 0.9),
            bottom + height / 2,
            words,
            color="white" if lit else rest,
            size=size,
            align=align,
            weight="bold" if lit or color else "normal",
        )

    def _rounded(self, place: Place, radius: float, **look: Any) -> None:
        left, bottom, width, height = place
        shape = f"round,pad=0,rounding_size={radius}"
        self.ax.add_patch(FancyBboxPatch((left, bottom), width, height, boxstyle=shape, **look))

    def _glow(
        self, place: Place, radius: float, color: str, strokes: Iterable[tuple[float | int, float]]
    ) -> None:
        """Draw faint outlines, each with its line width and opacity."""
        for linewidth, alpha in strokes:
            look = {"edgecolor": color, "linewidth": linewidth, "alpha": alpha}
            self._rounded(place, radius, facecolor="none", **look)

    def frame(self, place: Place, *, lit: bool = False) -> None:
        """Draw a faint pane behind other parts."""
        color = COLORS["violet"] if lit else COLORS["text"]
        if lit:
            self._glow(place, 1.2, color, ((8, 0.08), (5, 0.12)))
        self._rounded(
            place,
            1.2,
            facecolor=(color, 0.10 if lit else 0.05),
            edgecolor=(color, 1.0 if lit else 0.45),
            linewidth=1.6 if lit else 0.8,
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        color: str = COLORS["text"],
        size: float = SIZES["small"],
        align: Literal["left", "center", "right"] = "center",
        weight: str = "normal",
    ) -> None:
        """Write text, vertically centred at y."""
        self.ax.text(
            x,
            y,
            words,
            color=color,
            fontsize=size,
            ha=align,
            va="center_baseline",
            fontweight=weight,
        )

    def arrow(
        self,
        *points: Point,
        lit: bool = False,
        color: str = COLORS["violet"],
        head: bool = True,
        dashed: bool = False,
        muted_alpha: float = 0.8,
    ) -> None:
        """Draw an arrow along straight lines with rounded corners."""
        path = _rounded_path(points, radius=0.8)
        style = "-|>,head_length=3.2,head_width=1.6" if head else "-"
        for linewidth, alpha in ((6.0, 0.12), (3.6, 0.18)) if lit else ():
            glow: dict[str, Any] = {"color": color, "linewidth": linewidth, "alpha": alpha}
            self.ax.add_patch(FancyArrowPatch(path=path, arrowstyle="-", **glow))
        self.ax.add_patch(
            FancyArrowPatch(
                path=path,
                arrowstyle=style,
                color=color if lit else COLORS["text"],
                alpha=1.0 if lit else muted_alpha,
                linewidth=1.7 if lit else 0.9,
                linestyle=(0, (3, 2)) if dashed else "-",
                shrinkA=0,
                shrinkB=0,
                capstyle="round",
                joinstyle="round",
            )
        )

    def polygon(self, points: list[Point], *, lit: bool = False) -> None:
        """Draw a faint beam of light."""
        color = COLORS["violet"] if lit else COLORS["text"]
        self.ax.fill(*zip(*points, strict=True), facecolor=(color, 0.14 if lit else 0.05), linewidth=0)

    def curve(self, x: Array, y: Array, *, lit: bool = False) -> None:
        """Draw a curve through points."""
        self.ax.plot(
            x,
            y,
            color=COLORS["violet"] if lit else COLORS["text"],
            linewidth=1.6 if lit else 0.9,
            solid_capstyle="round",
        )

    def tiles(self, left: float, bottom: float, shades: Array, *, side: float, lit: bool = False) -> None:
        """Draw a matrix of numbers from 0 to 1 as tiles of that opacity; NaN is hollow."""
        color = COLORS["violet"] if lit else COLORS["text"]
        rows, _ = shades.shape
        for (row, column), shade in np.ndenumerate(shades):
            hollow = bool(np.isnan(shade))
            place = (left + column * side, bottom + (rows - 1 - row) * side, 0.86 * side, 0.86 * side)
            self._rounded(
                place,
                0.12 * side,
                facecolor="none" if hollow else (color, 0.1 + 0.9 * float(shade)),
                edgecolor=(color, 0.6) if hollow else "none",
                linewidth=0.5,
            )


def _rounded_path(points: tuple[Point, ...], radius: float) -> Path:
    """Join points by straight lines with rounded corners."""
    corners = [np.asarray(point, float) for point in points]
    vertices, codes = [corners[0]], [Path.MOVETO]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        inward, outward = before - corner, after - corner
        reach = min(radius, np.hypot(*inward) / 2, np.hypot(*outward) / 2)
        vertices += [
            corner + inward / np.hypot(*inward) * reach,
            corner,
            corner + outward / np.hypot(*outward) * reach,
        ]
        codes += [Path.LINETO, Path.CURVE3, Path.CURVE3]
    return Path([*vertices, corners[-1]], [*codes, Path.LINETO])

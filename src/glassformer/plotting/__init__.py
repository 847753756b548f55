"""Arrays in, Axes out: every figure of the book, in one look that reads well on white and on black."""

from glassformer.plotting.architecture import where_am_i
from glassformer.plotting.curves import plot_bars, plot_curves, plot_histograms
from glassformer.plotting.heatmaps import plot_attention, plot_mask, plot_matrix
from glassformer.plotting.style import COLORS, panels
from glassformer.plotting.vectors import plot_vectors

__all__ = [
    "COLORS",
    "panels",
    "plot_attention",
    "plot_bars",
    "plot_curves",
    "plot_histograms",
    "plot_mask",
    "plot_matrix",
    "plot_vectors",
    "where_am_i",
]

"""Arrays in, Axes out: every figure of the book, in one style that is legible on white and on black."""

from glassformer.plotting.architecture import plot_architecture
from glassformer.plotting.batches import plot_batches
from glassformer.plotting.beams import plot_beams
from glassformer.plotting.blocks import plot_blocks
from glassformer.plotting.curves import plot_bars, plot_curves, plot_histograms
from glassformer.plotting.distributions import plot_scores_and_weights
from glassformer.plotting.heads import plot_split
from glassformer.plotting.heatmaps import plot_attention, plot_mask, plot_matrix
from glassformer.plotting.lengths import plot_lengths
from glassformer.plotting.maps import plot_maps
from glassformer.plotting.paths import plot_paths
from glassformer.plotting.regression import plot_fits
from glassformer.plotting.runs import plot_run
from glassformer.plotting.shares import plot_share_pairs, plot_shares
from glassformer.plotting.style import COLORS, WIDTH, panels
from glassformer.plotting.vectors import plot_vectors

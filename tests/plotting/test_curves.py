import numpy as np
import pytest
import torch

from glassformer.plotting import COLORS, panels, plot_bars, plot_curves, plot_histograms

SEEDS, POINTS = 3, 7
X = np.arange(1, POINTS + 1)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_curve_passes_through_its_points(rng):
    numbers = rng.normal(size=POINTS)
    (line,) = plot_curves(X, {"loss": numbers}, xlabel="step", ylabel="loss").lines
    np.testing.assert_array_equal(line.get_xydata(), np.stack([X, numbers], axis=-1))


def test_several_seeds_become_a_mean_with_a_band_of_one_standard_deviation(rng):
    numbers = rng.normal(size=(SEEDS, POINTS))
    ax = plot_curves(X, {"loss": numbers}, xlabel="step", ylabel="loss")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), numbers.mean(axis=0))
    band = ax.collections[0].get_paths()[0].vertices
    for x, mean, spread in zip(X, numbers.mean(axis=0), numbers.std(axis=0), strict=True):
        heights = band[band[:, 0] == x, 1]
        assert heights.min() == pytest.approx(mean - spread)
        assert heights.max() == pytest.approx(mean + spread)


def test_curves_differ_in_more_than_their_colour(rng):
    curves = {name: rng.normal(size=POINTS) for name in "abcd"}
    lines = plot_curves(X, curves, xlabel="x", ylabel="y").lines
    for look in ("get_color", "get_marker", "get_linestyle"):
        looks = {str(getattr(line, look)()) for line in lines}
        assert len(looks) == (len(curves) if look != "get_linestyle" else len(looks))
    assert len({line.get_marker() + str(line._dash_pattern) for line in lines}) == len(curves)


def test_query_key_and_value_keep_their_colours(rng):
    curves = {name: rng.normal(size=POINTS) for name in ("value", "query", "key")}
    for line in plot_curves(X, curves, xlabel="x", ylabel="y").lines:
        assert line.get_color() == COLORS[line.get_label()]


def test_the_legend_lists_curves_from_the_one_that_ends_highest():
    curves = {"low": X * 1.0, "high": X * 3.0, "middle": X * 2.0}
    assert legend_of(plot_curves(X, curves, xlabel="x", ylabel="y")) == ["high", "middle", "low"]


def test_one_curve_needs_no_legend():
    assert plot_curves(X, {"only": X}, xlabel="x", ylabel="y").get_legend() is None


def test_axes_have_their_labels_and_scales():
    ax = plot_curves(X, {"a": X}, xlabel="d_k", ylabel="nats", title="Entropy", xscale="log", yscale="log")
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("d_k", "nats", "Entropy")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in ax.get_xticklabels()] == [str(x) for x in X]


def test_a_band_that_reaches_below_zero_is_drawn_on_a_logarithmic_axis():
    ax = plot_curves(X, {"a": np.stack([X * 0.01, X * 9.0, X * 0.01])}, xlabel="x", ylabel="y", yscale="log")
    ax.figure.canvas.draw()
    assert ax.get_ylim()[0] > 1e-6


def test_curves_accept_tensors(device):
    numbers = torch.arange(POINTS, dtype=torch.float32, device=device)
    ax = plot_curves(numbers, {"a": numbers}, xlabel="x", ylabel="y")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), np.arange(POINTS))


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("curves", "scales", "message"),
    [
        ({}, {}, "curves must hold at least 1, got 0"),
        ({"a": [1.0, 2.0]}, {}, r"curves\['a'\] must have size 7 in its last axis, got shape \(2,\)"),
        ({"a": [np.nan] * POINTS}, {}, r"curves\['a'\] must not hold NaN, got 7 among 7"),
        ({"a": X - 1}, {"yscale": "log"}, r"curves\['a'\] must be above 0 on a logarithmic axis, got 0"),
        ({"a": X}, {"xscale": "cubic"}, "xscale must be one of .*, got 'cubic'"),
    ],
)
def test_curves_that_cannot_be_drawn_are_rejected(curves, scales, message):
    with pytest.raises(ValueError, match=message):
        plot_curves(X, curves, xlabel="x", ylabel="y", **scales)


def test_a_bar_is_as_high_as_the_mean_of_its_seeds(rng):
    bars = {"without": rng.random(SEEDS), "with": rng.random(SEEDS + 2)}
    ax = plot_bars(bars, ylabel="accuracy", title="Recall")
    assert [bar.get_height() for bar in ax.patches] == [numbers.mean() for numbers in bars.values()]
    assert [label.get_text() for label in ax.get_xticklabels()] == list(bars)
    assert [float(text.get_text()) for text in ax.texts] == [
        pytest.approx(numbers.mean(), rel=5e-3) for numbers in bars.values()
    ]


def test_every_seed_has_a_dot_and_the_error_bar_spans_a_standard_deviation(rng):
    seeds = rng.random(SEEDS)
    ax = plot_bars({"a": seeds}, ylabel="accuracy")
    assert any(np.array_equal(line.get_ydata(), seeds) for line in ax.lines)
    (segment,) = ax.collections[0].get_segments()
    np.testing.assert_allclose(segment[:, 1], [seeds.mean() - seeds.std(), seeds.mean() + seeds.std()])


def test_one_seed_has_no_spread_to_show():
    assert not plot_bars({"a": [0.5]}, ylabel="accuracy").collections


def test_histograms_are_densities_over_shared_bins(rng):
    samples = {"narrow": rng.normal(size=(11, 13)), "wide": 5 * rng.normal(size=97)}
    ax = plot_histograms(samples, xlabel="q·k", bins=17)
    outlines = [patch.get_data() for patch in ax.patches if not patch.get_fill()]
    assert len(outlines) == 2
    everything = np.concatenate([numbers.ravel() for numbers in samples.values()])
    for (density, edges, _), numbers in zip(outlines, samples.values(), strict=True):
        np.testing.assert_allclose(edges, np.histogram_bin_edges(everything, 17))
        np.testing.assert_allclose(density, np.histogram(numbers, edges, density=True)[0])
    assert legend_of(ax) == list(samples)


def test_a_narrow_panel_keeps_its_legend_inside(rng):
    axes = panels(3)
    plot_histograms({"a": rng.random(7), "b": rng.random(7)}, xlabel="x", ax=axes[0])
    axes[0].figure.canvas.draw()
    legend = axes[0].get_legend().get_window_extent()
    assert legend.x1 <= axes[0].get_window_extent().x1


@pytest.mark.usefixtures("as_a_user")
def test_empty_bars_and_samples_are_rejected():
    with pytest.raises(ValueError, match="bars must hold at least 1, got 0"):
        plot_bars({}, ylabel="y")
    with pytest.raises(ValueError, match="samples must hold at least 1, got 0"):
        plot_histograms({}, xlabel="x")
    with pytest.raises(ValueError, match="bins must be a positive integer, got 0"):
        plot_histograms({"a": [1.0]}, xlabel="x", bins=0)

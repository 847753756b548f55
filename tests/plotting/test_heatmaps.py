import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgba

from glassformer.plotting import COLORS, panels, plot_attention, plot_mask, plot_matrix
from glassformer.plotting.colors import contrast

QUERY, KEY = 3, 5


@pytest.fixture
def weights(rng):
    return rng.dirichlet(np.ones(KEY), size=QUERY)


def numbers_in(ax):
    """Return the number that each cell shows."""
    return {
        tuple(int(place) for place in text.get_position()[::-1]): float(text.get_text().replace("−", "-"))
        for text in ax.texts
    }


def words_on(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_each_weight_is_written_in_its_cell(weights):
    written = numbers_in(plot_attention(weights))
    assert written == {place: round(weight, 2) for place, weight in np.ndenumerate(weights)}


def test_cells_are_shaded_by_the_weights_on_a_scale_from_zero_to_one(weights):
    cells = plot_attention(weights / 2).collections[0]
    np.testing.assert_array_equal(cells.get_array(), weights.ravel() / 2)
    assert cells.get_clim() == (0, 1)


def test_cells_are_at_the_row_and_column_of_their_numbers(weights):
    cells = plot_attention(weights).collections[0]
    middles = [path.vertices[:-1].mean(axis=0)[::-1] for path in cells.get_paths()]
    np.testing.assert_allclose(middles, list(np.ndindex(QUERY, KEY)), atol=1e-9)


def test_numbers_are_legible_on_their_cells(weights):
    ax = plot_attention(weights)
    ax.figure.canvas.draw()
    faces = ax.collections[0].get_facecolor()
    for text, face in zip(ax.texts, faces, strict=True):
        assert contrast(text.get_color(), tuple(face)) >= 4.3


def test_an_exact_zero_differs_from_a_small_weight():
    texts = [text.get_text() for text in plot_attention([[0.0, 0.001, 0.999, 1.0]]).texts]
    assert texts == ["0", "0.00", "1.00", "1"]


def test_queries_label_the_rows_and_keys_the_columns(weights):
    rows, columns = ["it", "was", "tired"], ["the", "animal", "did", "not", "cross"]
    ax = plot_attention(weights, rows=rows, columns=columns)
    assert words_on(ax.yaxis) == rows
    assert words_on(ax.xaxis) == columns


def test_axes_are_labelled_in_the_colours_of_queries_and_keys(weights):
    ax = plot_attention(weights)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query", "key")
    assert (ax.yaxis.label.get_color(), ax.xaxis.label.get_color()) == (COLORS["query"], COLORS["key"])


def test_the_title_is_at_the_left(weights):
    assert plot_attention(weights, title="Who is it?").get_title(loc="left") == "Who is it?"


def test_the_first_query_is_at_the_top(weights):
    assert plot_attention(weights).yaxis_inverted()


def test_long_labels_are_rotated_so_that_none_overlap():
    words = ["incomprehensibility"] * 11
    ax = plot_attention(np.eye(11), columns=words)
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {45}


def test_a_large_matrix_has_a_colour_bar_instead_of_numbers():
    ax = plot_attention(np.eye(47))
    assert not ax.texts
    assert len(ax.figure.axes) == 2


def test_tensors_of_every_device_are_drawn(weights, device):
    tensor = torch.tensor(weights, device=device, dtype=torch.float32, requires_grad=True)
    np.testing.assert_allclose(plot_attention(tensor).collections[0].get_array(), weights.ravel(), rtol=1e-6)
    mask = torch.ones(QUERY, KEY, dtype=torch.bool, device=device)
    assert len(plot_mask(mask).collections[0].get_facecolor()) == QUERY * KEY


def test_it_draws_on_the_given_axes(weights):
    axes = panels(2)
    assert plot_attention(weights, ax=axes[1]) is axes[1]
    assert not axes[0].collections


def test_a_mask_is_filled_where_a_query_may_attend_and_hollow_elsewhere():
    mask = np.tri(QUERY, KEY, dtype=bool)
    filled = plot_mask(mask).collections[0].get_facecolor()[:, 3] == 1
    np.testing.assert_array_equal(filled.reshape(QUERY, KEY), mask)


def test_a_mask_has_a_legend_for_filled_and_hollow():
    legend = plot_mask(np.tri(QUERY, KEY, dtype=bool)).get_legend()
    meaning = {
        text.get_text(): patch.get_facecolor()
        for text, patch in zip(legend.get_texts(), legend.get_patches(), strict=True)
    }
    assert meaning["may attend"] == to_rgba(COLORS["violet"])
    assert meaning["may not"][3] == 0


def test_signed_numbers_are_written_and_shaded_evenly_around_zero(rng):
    matrix = rng.normal(size=(QUERY, KEY))
    ax = plot_matrix(matrix)
    assert numbers_in(ax) == {place: round(number, 2) for place, number in np.ndenumerate(matrix)}
    low, high = ax.collections[0].get_clim()
    assert -low == high == np.abs(matrix).max()


def test_whole_numbers_are_written_without_decimals():
    assert [text.get_text() for text in plot_matrix([[3, -7, 0]]).texts] == ["3", "−7", "0"]


def test_a_matrix_of_zeros_is_drawn():
    assert plot_matrix(np.zeros((2, 3))).collections[0].get_clim() == (-1, 1)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize("draw", [plot_attention, plot_matrix])
def test_a_wrong_number_of_labels_is_rejected(draw, weights):
    with pytest.raises(ValueError, match=r"rows \(2\) must be as many as the rows or columns \(3\)"):
        draw(weights, rows=["a", "b"])
    with pytest.raises(ValueError, match=r"columns \(2\) must be as many as the rows or columns \(5\)"):
        draw(weights, columns=["a", "b"])


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("draw", "argument", "message"),
    [
        (plot_attention, [[0.5, 1.5]], "weights must be between 0 and 1, got numbers from 0.5 to 1.5"),
        (plot_attention, [[-0.5, 1.0]], "weights must be between 0 and 1, got numbers from -0.5 to 1"),
        (plot_attention, [[np.nan]], "weights must not hold NaN"),
        (plot_attention, [0.5, 0.5], r"weights must have 2 axes, got shape \(2,\)"),
        (plot_matrix, [[]], r"matrix must not be empty, got shape \(1, 0\)"),
        (plot_mask, [[0.0, 1.0]], "mask must be boolean .* got float64"),
    ],
)
def test_an_invalid_matrix_is_rejected(draw, argument, message):
    with pytest.raises(ValueError, match=message):
        draw(argument)

import numpy as np
import pytest

from glassformer.plotting.maps import plot_maps
from glassformer.plotting.style import WIDTH

HEADS, SOURCE, TARGET = 3, 7, 5


@pytest.fixture
def weights_of():
    rng = np.random.default_rng(0)
    shapes = {"reads": (HEADS, SOURCE, SOURCE), "looks across": (HEADS, TARGET, SOURCE)}
    return {name: rng.dirichlet(np.ones(shape[-1]), shape[:-1]) for name, shape in shapes.items()}


def drawn(ax):
    (mesh,) = ax.collections
    return np.asarray(mesh.get_array())


def test_every_head_is_a_map_in_the_row_of_its_attention(weights_of):
    axes = plot_maps(weights_of)
    assert axes.shape == (2, HEADS)
    for row, weights in zip(axes, weights_of.values(), strict=True):
        for ax, matrix in zip(row, weights, strict=True):
            np.testing.assert_array_equal(drawn(ax), matrix)


def test_the_first_query_is_at_the_top_and_the_first_key_on_the_left(weights_of):
    ax = plot_maps(weights_of)[1, 0]
    (top, bottom), (left, right) = ax.get_ylim()[::-1], ax.get_xlim()
    assert (top, bottom) == (0, TARGET)
    assert (left, right) == (0, SOURCE)


def test_all_maps_share_one_colour_scale(weights_of):
    scales = {ax.collections[0].get_clim() for ax in plot_maps(weights_of).flat}
    assert scales == {(0, 1)}


def test_all_cells_have_the_same_size(weights_of):
    axes = plot_maps(weights_of)
    width, height = axes[0, 0].get_figure().get_size_inches()
    assert width == WIDTH
    cells = []
    for row, weights in zip(axes, weights_of.values(), strict=True):
        place = row[0].get_position()
        cells += [place.width * width / weights.shape[2], place.height * height / weights.shape[1]]
    np.testing.assert_allclose(cells, cells[0])


def test_no_map_overlaps_another_or_leaves_the_figure(weights_of):
    places = [ax.get_position() for ax in plot_maps(weights_of).flat]
    for one in places:
        assert one.x0 >= 0
        assert one.y0 >= 0
        assert one.x1 <= 1
        assert one.y1 <= 1
        assert sum(one.overlaps(other) for other in places) == 1


def test_rows_and_columns_are_labelled(weights_of):
    axes = plot_maps(weights_of)
    assert [text.get_text() for text in axes[0, 0].get_figure().texts] == list(weights_of)
    assert [ax.get_title() for ax in axes[0]] == [f"head {head}" for head in range(HEADS)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: {}, "weights_of must hold at least 1, got 0"),
        (lambda weights: weights | {"more": np.ones((2, 1, 1))}, r"same number of heads, got \[2, 3\]"),
        (lambda weights: {"reads": 2 * np.ones((1, 2, 2))}, r"weights_of\['reads'\] must be between 0 and 1"),
        (lambda weights: {"reads": np.ones((2, 2))}, "must have 3 axes"),
    ],
)
def test_invalid_weights_are_rejected(weights_of, change, message):
    with pytest.raises(ValueError, match=message):
        plot_maps(change(weights_of))

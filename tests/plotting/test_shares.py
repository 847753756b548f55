import numpy as np
import pytest

from glassformer.plotting.shares import plot_share_pairs, plot_shares

GROUPS = {"from it": np.array([[0.25, 0.75, 0.5], [0.5, 0.5, 0.5]]), "from il": [1.0]}


def dots(ax):
    return [line for line in ax.lines if line.get_linestyle() == "None"]


def test_every_share_is_a_dot_at_its_height():
    ax = plot_shares(GROUPS, ylabel="share")
    assert [line.get_ydata().tolist() for line in dots(ax)] == [[0.25, 0.75, 0.5, 0.5, 0.5, 0.5], [1.0]]


def test_a_group_stays_in_its_column_and_has_its_name():
    ax = plot_shares(GROUPS, ylabel="share")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["from it", "from il"]
    for place, line in enumerate(dots(ax)):
        assert np.abs(np.asarray(line.get_xdata()) - place).max() < 0.5


def test_the_bar_is_the_mean():
    ax = plot_shares(GROUPS, ylabel="share")
    heights = [collection.get_segments()[0][0][1] for collection in ax.collections]
    assert heights == pytest.approx([0.5, 1.0])


def test_chance_is_a_line_only_if_given():
    without, with_chance = (plot_shares(GROUPS, ylabel="share", chance=chance) for chance in (None, 0.5))
    assert len(with_chance.lines) == len(without.lines) + 1
    assert list(with_chance.lines[-1].get_ydata()) == [0.5, 0.5]
    assert [text.get_text() for text in with_chance.texts] == ["chance"]


def test_groups_differ_in_more_than_their_colour():
    first, second = dots(plot_shares(GROUPS, ylabel="share"))
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({}, "shares must hold at least 1, got 0"),
        ({"a": [0.5, 1.5]}, r"shares\['a'\] must be between 0 and 1, got numbers from 0.5 to 1.5"),
        ({"a": [-0.5]}, r"got numbers from -0.5 to -0.5"),
    ],
)
def test_numbers_outside_0_to_1_are_rejected(shares, message):
    with pytest.raises(ValueError, match=message):
        plot_shares(shares, ylabel="share")


PAIRS = {"first": [[0.25, 1.0], [0.5, 0.0]], "second": np.array([[0.75, 0.125]])}


def test_every_pair_is_a_dot_in_the_panel_of_its_group():
    axes = plot_share_pairs(PAIRS, xlabel="x", ylabel="y")
    assert [ax.get_title(loc="left") for ax in axes] == list(PAIRS)
    for ax, points in zip(axes, PAIRS.values(), strict=True):
        (line,) = dots(ax)
        assert np.array_equal(np.transpose(line.get_data()), points)


def test_panels_of_pairs_are_squares_with_the_same_scale():
    for ax in plot_share_pairs(PAIRS, xlabel="x", ylabel="y"):
        assert ax.get_xlim() == ax.get_ylim()
        assert ax.get_aspect() == 1


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ({}, "pairs must hold at least 1, got 0"),
        ({"a": [[0.5, 1.5]]}, r"pairs\['a'\] must be between 0 and 1"),
        ({"a": [[0.5, 0.5, 0.5]]}, r"pairs\['a'\] must have 2 columns, got 3"),
    ],
)
def test_what_is_not_a_pair_of_shares_is_rejected(pairs, message):
    with pytest.raises(ValueError, match=message):
        plot_share_pairs(pairs, xlabel="x", ylabel="y")

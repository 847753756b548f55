import numpy as np
import pytest
from matplotlib.colors import to_rgb

from glassformer.plotting import COLORS
from glassformer.plotting.heads import plot_split
from glassformer.reference.heads import split_heads

TIME, HEADS, D_HEAD = 3, 2, 5
WORDS = ["one", "two", "five"]
CELLS = np.arange(float(TIME * HEADS * D_HEAD)).reshape(TIME, -1)
CUT = {"cut": split_heads(CELLS, HEADS), "reshaped": CELLS.reshape(HEADS, TIME, D_HEAD)}


def names(ax):
    return [text.get_text() for text in ax.texts if not text.get_text().startswith("head")]


def test_the_vectors_and_each_split_have_a_panel():
    axes = plot_split(CELLS, CUT, words=WORDS)
    assert [ax.get_title(loc="left") for ax in axes] == ["before", "cut", "reshaped"]


def test_every_panel_shows_the_same_components_in_the_order_of_its_pieces():
    before, cut, reshaped = plot_split(CELLS, CUT, words=WORDS)
    assert names(before) == [f"{word[0]}{place}" for word in WORDS for place in range(HEADS * D_HEAD)]
    assert names(cut)[:D_HEAD] == ["o0", "o1", "o2", "o3", "o4"]
    assert names(cut)[D_HEAD : 2 * D_HEAD] == ["t0", "t1", "t2", "t3", "t4"]
    assert names(reshaped) == names(before)
    assert sorted(names(cut)) == sorted(names(before))


def test_a_component_keeps_the_colour_of_its_head():
    _, cut, reshaped = plot_split(CELLS, CUT, words=WORDS)
    colors = {to_rgb(COLORS["violet"]), to_rgb(COLORS["amber"])}
    per_head = TIME * D_HEAD
    edges = [patch.get_edgecolor()[:3] for patch in cut.patches]
    assert {len(set(edges[:per_head])), len(set(edges[per_head:]))} == {1}
    assert set(edges) == colors
    assert {patch.get_edgecolor()[:3] for patch in reshaped.patches[:per_head]} == colors


def test_heads_are_named_and_counted_from_0():
    _, cut, _ = plot_split(CELLS, CUT, words=WORDS)
    assert [text.get_text() for text in cut.texts if text.get_text().startswith("head")] == [
        "head 0",
        "head 1",
    ]


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_split(CELLS + 1, CUT, words=WORDS), "x must hold each number from 0 to 29 once"),
        (
            lambda: plot_split(CELLS, {"cut": np.zeros((2, 3, 5))}, words=WORDS),
            r"pieces\['cut'\] must hold each number from 0 to 29 once",
        ),
        (
            lambda: plot_split(CELLS, {**CUT, "more": CELLS.reshape(5, 3, 2)}, words=WORDS),
            r"pieces must have the same number of heads, got \[2, 5\]",
        ),
        (lambda: plot_split(CELLS, {}, words=WORDS), "pieces must hold at least 1, got 0"),
        (lambda: plot_split(CELLS, CUT, words=["one"]), r"words \(1\) must be as many"),
    ],
)
def test_pieces_that_cannot_be_drawn_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()

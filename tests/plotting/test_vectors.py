import numpy as np
import pytest

from glassformer.plotting import COLORS, plot_vectors

VECTORS = {"query it": [2.0, 1.0], "key animal": [1.5, -1.25], "value": [-1.0, 0.5], "other": [0.0, -2.0]}


def arrows_of(ax):
    return [note for note in ax.texts if note.arrow_patch is not None]


def names_of(ax):
    return {note.get_text(): note for note in ax.texts if note.arrow_patch is None}


def test_every_vector_is_an_arrow_from_the_origin_to_its_tip():
    arrows = arrows_of(plot_vectors(VECTORS))
    np.testing.assert_array_equal([arrow.xy for arrow in arrows], list(VECTORS.values()))
    np.testing.assert_array_equal([arrow.get_position() for arrow in arrows], np.zeros((len(VECTORS), 2)))


def test_every_name_is_at_its_tip_in_the_colour_of_its_role():
    names = names_of(plot_vectors(VECTORS, title="A plane"))
    assert {name: list(note.xy) for name, note in names.items()} == VECTORS
    colors = {name: note.get_color() for name, note in names.items()}
    assert colors == {
        "query it": COLORS["query"],
        "key animal": COLORS["key"],
        "value": COLORS["value"],
        "other": COLORS["violet"],
    }


def test_a_colour_can_be_chosen_by_its_name():
    names = names_of(plot_vectors(VECTORS, colors={"other": "amber", "value": "#123456"}))
    assert (names["other"].get_color(), names["value"].get_color()) == (COLORS["amber"], "#123456")


def test_the_origin_and_every_tip_are_visible_and_units_are_equal():
    ax = plot_vectors({"key": [100.0, 1.0], "query": [3.0, -2.0]})
    ax.figure.canvas.draw()
    corners = np.array([[0, 0], [100, 1], [3, -2]])
    assert ((ax.get_xlim()[0] < corners[:, 0]) & (corners[:, 0] < ax.get_xlim()[1])).all()
    assert ((ax.get_ylim()[0] < corners[:, 1]) & (corners[:, 1] < ax.get_ylim()[1])).all()
    assert ax.get_aspect() == 1


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("vectors", "colors", "message"),
    [
        ({}, None, "vectors must hold at least 1, got 0"),
        ({"a": [1.0, 2.0, 3.0]}, None, r"vectors\['a'\] must have shape \(2,\), got \(3,\)"),
        ({"a": [1.0, np.nan]}, None, r"vectors\['a'\] must not hold NaN"),
        ({"a": [1.0, 2.0]}, {"b": "amber"}, r"colors must name vectors of \['a'\], got \['b'\]"),
    ],
)
def test_invalid_vectors_are_rejected(vectors, colors, message):
    with pytest.raises(ValueError, match=message):
        plot_vectors(vectors, colors=colors)


def test_a_vector_of_zeros_is_drawn():
    assert len(arrows_of(plot_vectors({"nothing": [0.0, 0.0]}))) == 1

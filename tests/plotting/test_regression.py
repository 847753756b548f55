import numpy as np
import pytest

from glassformer.plotting import COLORS
from glassformer.plotting.regression import plot_fits

KEYS, VALUES = np.array([0.0, 1.5, 4.0]), np.array([2.0, -1.0, 0.5])
PLACES = np.linspace(0, 4, 5)
LABELS = {"xlabel": "place", "ylabel": "value"}


def test_points_are_dots_in_the_colour_of_values_and_fits_are_curves():
    ax = plot_fits(KEYS, VALUES, PLACES, {"flat": np.zeros(5), "rising": PLACES}, **LABELS)
    *curves, dots = ax.lines
    np.testing.assert_array_equal(dots.get_xydata(), np.stack([KEYS, VALUES], axis=1))
    assert (dots.get_linestyle(), dots.get_color()) == ("None", COLORS["value"])
    assert {tuple(curve.get_ydata()) for curve in curves} == {tuple(np.zeros(5)), tuple(PLACES)}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("place", "value")


def test_a_point_without_a_value_is_rejected(as_a_user):
    with pytest.raises(ValueError, match=r"values must have shape \(3,\), got \(2,\)"):
        plot_fits(KEYS, VALUES[:2], PLACES, {"flat": np.zeros(5)}, **LABELS)

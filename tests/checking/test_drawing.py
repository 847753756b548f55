import numpy as np
import pytest

from glassformer.checking.drawing import draw_answers, draw_input, draw_shapes


def test_numbers_and_vectors_take_one_line_and_matrices_a_grid():
    arguments = {
        "length": 3,
        "peak": -np.inf,
        "row": np.array([1.0, -0.25]),
        "table": np.array([[1, 20], [-3, 4]]),
        "mask": np.array([[True, False]]),
        "layer": draw_input,
    }
    assert draw_input(arguments).splitlines() == [
        "  length = 3",
        "  peak = −∞",
        "  row = 1.00 −0.25",
        "  table",
        "      1   20",
        "     −3    4",
        "  mask",
        "     ✓   ·",
        "  layer = draw_input",
    ]


def test_a_large_array_is_described_by_dtype_and_shape():
    assert draw_input({"x": np.ones((3, 31))}) == "  x: float64 of shape (3, 31)"


def test_answers_are_drawn_side_by_side_with_differing_entries_in_brackets():
    expected, answer = np.array([[1.0, 0.5], [0.25, 0.25]]), np.array([[1.0, 0.5], [0.25, np.nan]])
    assert draw_answers(expected, answer).splitlines() == [
        "  expected          yours",
        "   1.00   0.50       1.00   0.50",
        "   0.25   0.25       0.25  [ NaN]",
    ]


def test_a_small_difference_is_shown_with_enough_decimals():
    assert draw_answers(np.array([0.12341]), np.array([0.12349])).splitlines()[1].split() == [
        "0.1234",
        "[0.1235]",
    ]


def test_large_answers_are_shown_as_a_list_of_the_first_differing_entries():
    expected = np.zeros(31)
    answer = expected.copy()
    answer[[3, 5, 7, 11, 13]] = 1.5
    assert draw_answers(expected, answer).splitlines() == [
        "  at [3]: expected 0.00, yours 1.50",
        "  at [5]: expected 0.00, yours 1.50",
        "  at [7]: expected 0.00, yours 1.50",
        "  and 2 more",
    ]


def test_each_matrix_of_a_stack_is_labelled_with_its_index():
    expected = np.arange(4).reshape(2, 1, 2)
    assert draw_answers(expected, expected + np.array([[[0, 0]], [[0, 1]]])).splitlines() == [
        "  expected      yours",
        "  [0]           [0]",
        "   0   1         0   1",
        "  [1]           [1]",
        "   2   3         2  [4]",
    ]


def test_answers_of_different_lengths_are_drawn_side_by_side_without_brackets():
    assert draw_shapes(np.array([7, 2]), [7, 5, 2]).splitlines() == [
        "  expected      yours",
        "   7   2         7   5   2",
    ]


@pytest.mark.parametrize("answer", [np.ones(31), np.ones((2, 1, 3))])
def test_answers_with_long_or_many_axes_are_not_drawn(answer):
    assert draw_shapes(np.ones(3), answer) == ""


def test_answers_with_several_results_of_different_shapes_are_not_drawn():
    assert draw_shapes((np.ones(3), np.ones(2)), (np.ones(3), np.ones(5))) == ""

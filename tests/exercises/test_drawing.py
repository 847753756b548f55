import numpy as np

from glassformer.exercises.drawing import draw_answers, draw_input, draw_shapes


def test_numbers_rows_and_tables_are_drawn_each_in_its_way():
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


def test_what_is_too_large_to_be_drawn_is_described():
    assert draw_input({"x": np.ones((3, 31))}) == "  x: float64 of shape (3, 31)"


def test_wanted_and_got_stand_side_by_side_and_the_places_that_differ_are_marked():
    wanted, got = np.array([[1.0, 0.5], [0.25, 0.25]]), np.array([[1.0, 0.5], [0.25, np.nan]])
    assert draw_answers(wanted, got).splitlines() == [
        "  wanted            got",
        "   1.00   0.50       1.00   0.50",
        "   0.25   0.25       0.25  [ NaN]",
    ]


def test_a_small_difference_is_shown_with_enough_decimals():
    assert draw_answers(np.array([0.12341]), np.array([0.12349])).splitlines()[1].split() == [
        "0.1234",
        "[0.1235]",
    ]


def test_of_a_large_answer_only_the_first_places_that_differ_are_listed():
    wanted = np.zeros(31)
    got = wanted.copy()
    got[[3, 5, 7, 11, 13]] = 1.5
    assert draw_answers(wanted, got).splitlines() == [
        "  at [3]: wanted 0.00, got 1.50",
        "  at [5]: wanted 0.00, got 1.50",
        "  at [7]: wanted 0.00, got 1.50",
        "  and at 2 more places",
    ]


def test_each_matrix_of_a_stack_has_its_index():
    wanted = np.arange(4).reshape(2, 1, 2)
    assert draw_answers(wanted, wanted + np.array([[[0, 0]], [[0, 1]]])).splitlines() == [
        "  wanted      got",
        "  [0]         [0]",
        "   0   1       0   1",
        "  [1]         [1]",
        "   2   3       2  [4]",
    ]


def test_answers_of_different_lengths_stand_side_by_side_unmarked():
    assert draw_shapes(np.array([7, 2]), [7, 5, 2]).splitlines() == [
        "  wanted      got",
        "   7   2       7   5   2",
    ]


def test_no_answers_are_drawn_that_are_too_large_or_of_several_results():
    assert draw_shapes(np.ones(3), np.ones(31)) == ""
    assert draw_shapes(np.ones(3), np.ones((2, 1, 3))) == ""
    assert draw_shapes((np.ones(3), np.ones(2)), (np.ones(3), np.ones(5))) == ""

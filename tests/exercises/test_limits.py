import numpy as np
import pytest

from glassformer.exercises.limits import tell_limit

SQUARES = [(np.ones((1, 1)),), (np.ones((2, 2)),)]
ROWS = [(np.ones((1, 1)),), (np.ones((1, 3)),)]
BATCHES = [(np.ones((1, 3, 5)),), (np.ones((2, 3, 5)),)]
VECTOR, TABLE = (np.ones(3),), (np.ones((2, 3)),)
PAIRS = [(np.ones((2, 3)), np.ones((2, 5))), (np.ones((2, 3)), np.ones((7, 3)))]


@pytest.mark.parametrize(
    ("cases", "passed", "limit"),
    [
        ([*SQUARES, (np.ones((3, 5)),)], [True, True, False], "works for square inputs only: "),
        ([*ROWS, (np.ones((2, 2)),)], [True, True, False], "works for one row only: "),
        (BATCHES, [True, False], "works for a batch of one only: "),
        ([VECTOR, TABLE], [True, False], "works for one row only: "),
        ([(np.array(2.0), *VECTOR), (np.array(2.0), *TABLE)], [True, False], "works for one row only: "),
        ([*ROWS, (7,)], [True, True, False], "works for one row only: "),
        (PAIRS, [True, False], "works only if all inputs have as many rows: "),
    ],
)
def test_what_tells_the_inputs_that_work_from_those_that_do_not_is_named(cases, passed, limit):
    assert tell_limit(cases, passed) == limit


@pytest.mark.parametrize(
    ("cases", "passed"),
    [
        ([*SQUARES, (np.ones((3, 5)),)], [True, False, False]),  # single numbers say little
        ([*SQUARES, (np.ones((3, 5)),)], [False, True, True]),
        ([*BATCHES, (np.ones((1, 7, 5)),)], [True, False, False]),
        ([(np.ones((1, 1, 1)),), BATCHES[1]], [True, False]),
        ([TABLE, BATCHES[1]], [True, False]),
        ([VECTOR, *PAIRS], [True, True, False]),
        (SQUARES, [False, False]),
        ([(1, 2), (3, 4)], [True, False]),
    ],
)
def test_nothing_is_said_where_no_one_thing_tells_them_apart(cases, passed):
    assert tell_limit(cases, passed) == ""

import numpy as np
import pytest

from glassformer.checking.scope import describe_scope

SQUARES = [(np.ones((1, 1)),), (np.ones((2, 2)),)]
ROWS = [(np.ones((1, 1)),), (np.ones((1, 3)),)]
BATCHES = [(np.ones((1, 3, 5)),), (np.ones((2, 3, 5)),)]
VECTOR, TABLE = (np.ones(3),), (np.ones((2, 3)),)
PAIRS = [(np.ones((2, 3)), np.ones((2, 5))), (np.ones((2, 3)), np.ones((7, 3)))]


@pytest.mark.parametrize(
    ("cases", "passed", "message"),
    [
        ([*SQUARES, (np.ones((3, 5)),)], [True, True, False], "works only for square inputs: "),
        ([*ROWS, (np.ones((2, 2)),)], [True, True, False], "works only for a single row: "),
        (BATCHES, [True, False], "works only for a batch of one: "),
        ([VECTOR, TABLE], [True, False], "works only for a single row: "),
        (
            [(np.array(2.0), *VECTOR), (np.array(2.0), *TABLE)],
            [True, False],
            "works only for a single row: ",
        ),
        ([*ROWS, (7,)], [True, True, False], "works only for a single row: "),
        (PAIRS, [True, False], "works only if all inputs have equally many rows: "),
    ],
)
def test_the_property_of_all_passing_and_no_failing_cases_is_named(cases, passed, message):
    assert describe_scope(cases, passed) == message


@pytest.mark.parametrize(
    ("cases", "passed"),
    [
        ([*SQUARES, (np.ones((3, 5)),)], [True, False, False]),  # passing on single numbers says little
        ([*SQUARES, (np.ones((3, 5)),)], [False, True, True]),
        ([*BATCHES, (np.ones((1, 7, 5)),)], [True, False, False]),
        ([(np.ones((1, 1, 1)),), BATCHES[1]], [True, False]),
        ([TABLE, BATCHES[1]], [True, False]),
        ([VECTOR, *PAIRS], [True, True, False]),
        (SQUARES, [False, False]),
        ([(1, 2), (3, 4)], [True, False]),
    ],
)
def test_no_property_is_named_where_none_separates_the_cases(cases, passed):
    assert describe_scope(cases, passed) == ""

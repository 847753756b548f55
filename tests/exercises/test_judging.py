import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.judging import compare, compare_number

SLIPS = {"not squared": lambda x: x, "the sign is lost": lambda x: -(x**2)}
CASES = [(np.array([2.0]),), (np.array([-3.0, 0.5]),)]


def square(x):
    return x**2


@pytest.mark.parametrize(
    "attempt",
    [
        square,
        lambda x: [number * number for number in x],
        lambda x: torch.tensor(x, dtype=torch.float32, requires_grad=True) ** 2,
        lambda x: x**2 + 1e-8,
    ],
)
def test_a_right_answer_passes_however_it_is_written(attempt):
    compare(attempt, square, SLIPS, CASES)


@pytest.mark.parametrize(("message", "slip"), SLIPS.items())
def test_a_usual_slip_is_named(message, slip):
    with pytest.raises(Slip, match=message):
        compare(slip, square, SLIPS, CASES)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda x: x**3, r"wrong for \[2.0\]: wanted \[4.0\], got \[8.0\]"),
        (lambda x: np.abs(x) * 2, r"wrong for \[-3.0, 0.5\]: wanted \[9.0, 0.25\], got \[6.0, 1.0\]"),
        (lambda x: (x**2)[None], r"got \[\[4.0\]\]"),
        (lambda x: "four", "got four"),
        (lambda x: x * np.nan, r"got \[nan\]"),
        (lambda x: (x**2, x**2), r"got \[4.0\] and \[4.0\]"),
    ],
)
def test_an_unknown_mistake_is_shown_on_the_smallest_input_on_which_it_differs(attempt, message):
    with pytest.raises(Slip, match=message):
        compare(attempt, square, SLIPS, CASES)


def test_each_part_of_an_answer_counts():
    def both(x):
        return x, np.ones((2, 3))

    compare(both, both, {}, CASES)
    with pytest.raises(Slip, match=r"wanted \[2.0\] and \[\[1.0"):
        compare(lambda x: (x, np.zeros((2, 3))), both, {}, CASES)


@pytest.mark.parametrize("attempt", [7, 7.0, np.float32(7)])
def test_the_wanted_number_passes(attempt):
    compare_number(attempt, 7, {}, str)


def test_a_number_that_is_not_whole_may_be_rounded():
    compare_number(0.33, 1 / 3, {}, str)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [(6, "one too few"), (5, "5.0 is wrong"), (7.01, "7.01 is wrong"), (True, "bool"), ("7", "str")],
)
def test_any_other_number_is_told_what_is_wrong(attempt, message):
    with pytest.raises(Slip, match=message):
        compare_number(attempt, 7, {6: "one too few"}, lambda number: f"{number} is wrong")

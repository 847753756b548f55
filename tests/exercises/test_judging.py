import numpy as np
import pytest
import torch

from glassformer.exercises.judging import compare, compare_number, sample
from glassformer.exercises.slips import Slip, Stopped

SLIPS = {"not squared": lambda x: x, "the sign is lost": lambda x: -(x**2)}
CASES = [(np.array([2.0]),), (np.array([-3.0, 0.5]),)]


def square(x):
    return x**2


def told(attempt, right=square, slips=SLIPS, cases=CASES):
    with pytest.raises(Slip) as slip:
        compare(attempt, right, slips, cases)
    return slip.value


@pytest.mark.parametrize(
    "attempt",
    [
        square,
        lambda x: [number * number for number in x],
        lambda x: torch.tensor(x, dtype=torch.float32, requires_grad=True) ** 2,
        lambda x: x.astype(np.float16) ** 2,
        lambda x: torch.tensor(x).bfloat16() ** 2,
        lambda x: x**2 + 1e-8,
    ],
)
def test_a_right_answer_passes_however_it_is_written(attempt):
    compare(attempt, square, SLIPS, CASES)


@pytest.mark.parametrize(("message", "slip"), SLIPS.items())
def test_a_usual_slip_is_named(message, slip):
    assert told(slip).message == message
    assert told(slip).drawing == ""


def test_an_unknown_mistake_is_drawn_on_the_smallest_input_on_which_it_differs():
    slip = told(lambda x: np.abs(x) * 2)
    assert slip.message == "wrong for this input"
    assert slip.drawing.splitlines() == [
        "  x = −3.00 0.50",
        "",
        "  wanted            got",
        "   9.00   0.25      [6.00] [1.00]",
    ]


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda x: (x**2)[None], "wanted shape (1,), got shape (1, 1)"),
        (lambda x: 4.0, "wanted shape (1,), got one number"),
        (lambda x: "four", "wanted numbers, got text"),
        (lambda x: x**2 > 0, "the answer holds numbers, got bool"),
        (lambda x: x**2 + 0j, "wanted real numbers, got complex128"),
        (lambda x: [[1.0], [1.0, 2.0]], "your answer is no array: its rows have different lengths"),
        (lambda x: x * np.nan, "wrong for this input"),
    ],
)
def test_an_answer_of_another_form_is_told_which(attempt, message):
    assert told(attempt).message == message


def test_an_answer_of_another_shape_is_drawn_beside_the_wanted_one():
    slip = told(lambda x: np.append(x**2, 7))
    assert slip.drawing.splitlines()[-2].split() == ["wanted", "got"]
    assert slip.drawing.splitlines()[-1].endswith(" 7")
    assert "got" not in told(lambda x: [[1.0], [1.0, 2.0]]).drawing


@pytest.mark.parametrize("dtype", [int, float, np.uint8])
def test_zeros_and_ones_are_no_mask(dtype):
    def diagonal(size):
        return np.eye(size, dtype=bool)

    slip = told(lambda size: np.eye(size, dtype=dtype), diagonal, {}, [(3,)])
    assert slip.message == f"a mask holds True and False, got {np.dtype(dtype)}"


def test_several_results_may_come_as_a_tuple_a_list_or_an_array():
    def both(x):
        return x.sum(), x.max()

    for attempt in (both, lambda x: list(both(x)), lambda x: np.array(both(x))):
        compare(attempt, both, {}, CASES)
    assert told(lambda x: x.sum(), both, {}).message == "wanted 2 results, got 1"
    assert told(lambda x: (x, x.max()), both, {}).message.startswith("result 1: wanted one number")
    drawing = told(lambda x: (x.sum(), x.min()), both, {}).drawing
    assert "  result 2\n  wanted" in drawing
    assert "0.50       [−3.00]" in drawing
    assert "[−2.50]" not in drawing


def test_a_function_that_stops_only_on_larger_inputs_is_shown_one():
    @wraps_stops
    def attempt(x):
        return square(x) if len(x) == 1 else x[7]

    slip = told(attempt)
    assert slip.message.startswith("right for smaller inputs, but here your function stopped")
    assert slip.drawing == "  x = −3.00 0.50"


def test_a_function_that_is_wrong_before_it_stops_is_shown_the_smaller_input():
    slip = told(wraps_stops(lambda x: x[0] * x[[0]] if len(x) == 1 else x[7]), lambda x: x**3)
    assert slip.message == "wrong for this input, and for a larger one your function stopped"
    assert "[4]" in slip.drawing


def test_a_function_that_stops_is_shown_the_input():
    slip = told(wraps_stops(lambda x: x[7]))
    assert slip.message == "your function stopped"
    assert slip.drawing == "  x = 2"


def wraps_stops(attempt):
    def run(x):
        try:
            return attempt(x)
        except IndexError as error:
            raise Stopped("your function stopped") from error

    return run


@pytest.mark.parametrize("attempt", [7, 7.0, np.float32(7), np.array([7]), torch.tensor(7.0)])
def test_the_wanted_number_passes(attempt):
    compare_number(attempt, 7, {}, str)


def test_a_number_that_is_not_whole_may_be_rounded():
    compare_number(0.33, 1 / 3, {}, str)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (6, "one too few"),
        (5, "5.0 is wrong"),
        (7.01, "7.01 is wrong"),
        (True, "wanted one number, got bool"),
        ("7", "wanted one number, got str"),
        (np.ones(2), "wanted one number, got ndarray"),
        (float("nan"), "wanted a finite number, got nan"),
    ],
)
def test_any_other_number_is_told_what_is_wrong(attempt, message):
    with pytest.raises(Slip, match=message):
        compare_number(attempt, 7, {6: "one too few"}, lambda number: f"{number} is wrong")


def test_drawn_numbers_read_well_and_are_never_near_zero():
    numbers = sample(np.random.default_rng(0), 31, 37)
    np.testing.assert_array_equal(numbers, numbers.round(2))
    assert np.abs(numbers).min() >= 0.2
    assert np.abs(numbers).max() <= 2
    assert (numbers < 0).any()

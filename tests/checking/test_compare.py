import numpy as np
import pytest
import torch

from glassformer.checking.compare import compare, compare_number, sample
from glassformer.checking.slips import Slip, Stopped

SLIPS = {"not squared": lambda x: x, "the sign is lost": lambda x: -(x**2)}
CASES = [(np.array([2.0]),), (np.array([-3.0, 0.5]),)]


def square(x):
    return x**2


def slip_of(attempt, solution=square, slips=SLIPS, cases=CASES):
    with pytest.raises(Slip) as slip:
        compare(attempt, solution, slips, cases)
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
def test_a_correct_answer_passes_as_array_list_or_tensor_in_any_precision(attempt):
    compare(attempt, square, SLIPS, CASES)


@pytest.mark.parametrize(("message", "slip"), SLIPS.items())
def test_a_usual_slip_is_named(message, slip):
    assert slip_of(slip).message == message
    assert slip_of(slip).drawing == ""


def test_an_unknown_mistake_is_shown_on_the_first_case_that_it_gets_wrong():
    slip = slip_of(lambda x: np.abs(x) * 2)
    assert slip.message == "wrong for this input"
    assert slip.drawing.splitlines() == [
        "  x = −3.00 0.50",
        "",
        "  expected          yours",
        "   9.00   0.25      [6.00] [1.00]",
    ]


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda x: (x**2)[None], "expected shape (1,), yours has shape (1, 1)"),
        (lambda x: 4.0, "expected shape (1,), yours is a single number"),
        (lambda x: "four", "expected numbers, yours is text"),
        (lambda x: x**2 > 0, "expected numbers, yours holds bool"),
        (lambda x: x**2 + 0j, "expected real numbers, yours are complex128"),
        (lambda x: [[1.0], [1.0, 2.0]], "your answer is not an array: its rows have different lengths"),
        (lambda x: x * np.nan, "wrong for this input"),
    ],
)
def test_the_wrong_form_of_an_answer_is_described(attempt, message):
    assert slip_of(attempt).message == message


def test_an_answer_of_the_wrong_shape_is_drawn_beside_the_expected_one():
    slip = slip_of(lambda x: np.append(x**2, 7))
    assert slip.drawing.splitlines()[-2].split() == ["expected", "yours"]
    assert slip.drawing.splitlines()[-1].endswith(" 7")
    assert "yours" not in slip_of(lambda x: [[1.0], [1.0, 2.0]]).drawing


@pytest.mark.parametrize("dtype", [int, float, np.uint8])
def test_zeros_and_ones_are_not_accepted_as_a_mask(dtype):
    def diagonal(size):
        return np.eye(size, dtype=bool)

    slip = slip_of(lambda size: np.eye(size, dtype=dtype), diagonal, {}, [(3,)])
    assert slip.message == f"expected a mask of True and False, yours holds {np.dtype(dtype)}"


def sum_and_max(x):
    return x.sum(), x.max()


@pytest.mark.parametrize("container", [tuple, list, np.array])
def test_several_results_may_come_as_a_tuple_a_list_or_an_array(container):
    compare(lambda x: container(sum_and_max(x)), sum_and_max, {}, CASES)


def test_a_missing_result_is_reported():
    message = slip_of(lambda x: x.sum(), sum_and_max, {}).message
    assert message == "expected 2 results, yours returns 1 result"


def test_the_wrong_form_of_one_result_is_reported_with_its_number():
    message = slip_of(lambda x: (x, x.max()), sum_and_max, {}).message
    assert message == "result 1: expected a single number, yours has shape (1,)"


def test_only_the_entries_that_differ_are_marked_in_several_results():
    drawing = slip_of(lambda x: (x.sum(), x.min()), sum_and_max, {}).drawing
    assert "  result 2\n  expected" in drawing
    assert "0.50         [−3.00]" in drawing
    assert "[−2.50]" not in drawing


def test_a_function_that_stops_only_on_larger_inputs_is_told_so():
    @stopping_on_errors
    def attempt(x):
        return square(x) if len(x) == 1 else x[7]

    slip = slip_of(attempt)
    assert slip.message.startswith("right for smaller inputs, but here your function stopped")
    assert slip.drawing == "  x = −3.00 0.50"


def test_a_function_that_is_wrong_before_it_stops_is_shown_the_smaller_input():
    slip = slip_of(stopping_on_errors(lambda x: x[0] * x[[0]] if len(x) == 1 else x[7]), lambda x: x**3)
    assert slip.message == "wrong for this input, and for a larger input your function stopped"
    assert "[4]" in slip.drawing


def test_a_function_that_stops_is_shown_the_input():
    slip = slip_of(stopping_on_errors(lambda x: x[7]))
    assert slip.message == "your function stopped"
    assert slip.drawing == "  x = 2"


def stopping_on_errors(attempt):
    def run(x):
        try:
            return attempt(x)
        except IndexError as error:
            raise Stopped("your function stopped") from error

    return run


@pytest.mark.parametrize("attempt", [7, 7.0, np.float32(7), np.array([7]), torch.tensor(7.0)])
def test_the_correct_number_passes_in_any_type(attempt):
    compare_number(attempt, 7, {}, str)


def test_a_fraction_may_be_rounded():
    compare_number(0.33, 1 / 3, {}, str)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (6, "one too few"),
        (5, "5.0 is wrong"),
        (7.01, "7.01 is wrong"),
        (True, "expected one number, yours is of type bool"),
        ("7", "expected one number, yours is of type str"),
        (np.ones(2), "expected one number, yours is of type ndarray"),
        (float("nan"), "expected a finite number, yours is nan"),
    ],
)
def test_a_wrong_number_gets_the_message_of_its_slip_or_the_general_one(attempt, message):
    with pytest.raises(Slip, match=message):
        compare_number(attempt, 7, {6: "one too few"}, lambda number: f"{number} is wrong")


def test_sampled_numbers_have_two_decimals_and_are_never_near_zero():
    numbers = sample(np.random.default_rng(0), 31, 37)
    np.testing.assert_array_equal(numbers, numbers.round(2))
    assert np.abs(numbers).min() >= 0.2
    assert np.abs(numbers).max() <= 2
    assert (numbers < 0).any()

import contextlib
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from glassformer.checking import timeout
from glassformer.checking.check import check
from glassformer.checking.compare import Hint, compare
from glassformer.checking.slips import Slip


@check(see="Doubling")
def check_doubled(attempt, rng):
    """Judge a function that doubles an array; the first input contains NaN, which is no change."""
    slips = {"halved": lambda x: x / 2, Hint("squared", see="Squares"): lambda x: x * x}
    compare(attempt, lambda x: 2 * x, slips, [(np.array([1.0, np.nan]),), (rng.standard_normal(3),)])


@check(see="Sevens")
def check_seven(attempt):
    """Judge a sequence, and raise TypeError for a number."""
    if len(attempt) != 7:
        raise Slip("not seven")


def template(x): ...


def documented(x):
    """Double it."""


def not_implemented(x):
    raise NotImplementedError


def in_place(x):
    x *= 2
    return x


def without_return(x):
    x = 2 * x


@pytest.mark.parametrize("attempt", [None, ..., template, documented, not_implemented, lambda x: ...])
def test_an_attempt_not_started_is_no_slip(attempt, capsys):
    check_doubled(attempt)
    assert capsys.readouterr().out.startswith("◦ doubled: nothing to check yet")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system cannot interrupt a function")
@pytest.mark.parametrize("caught", [(), Exception])
def test_an_endless_function_is_interrupted(monkeypatch, caught):
    def endless(x):
        while True:
            with contextlib.suppress(caught):
                time.sleep(0.01)

    monkeypatch.setattr(timeout, "SECONDS", 0.1)
    handler = signal.getsignal(signal.SIGALRM)
    verdict = check_doubled.judge(endless)
    assert str(verdict.slip) == (
        'your function was still running after 0.1 seconds: does every loop in it end? (see "Doubling")'
    )
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    time.sleep(0.15)  # no timer is left


def test_functions_can_be_judged_in_a_thread():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(check_doubled.judge, lambda x: 2 * x).result().state == "right"


def test_a_right_attempt_is_confirmed(capsys):
    check_doubled(lambda x: 2 * x)
    assert capsys.readouterr().out == "✔ doubled: right.\n"


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda x: x / 2, 'halved (see "Doubling")'),
        (lambda x: x * x, 'squared (see "Squares")'),
        (in_place, "changes its input"),
        (without_return, "does it end with `return`?"),
        (lambda x: x.no_such_thing, "stopped with AttributeError"),
        (lambda x: exit(), "stopped with SystemExit"),
        (3, "expected a function, yours is of type int"),
    ],
)
def test_a_wrong_attempt_is_told_its_slip_and_the_section_to_read_again(attempt, message, capsys):
    with pytest.raises(Slip) as raised:
        check_doubled(attempt)
    assert message in str(raised.value)
    assert "(see " in str(raised.value)
    assert capsys.readouterr().out == ""


def test_a_learner_sees_the_message_without_a_traceback():
    with pytest.raises(Slip) as raised:
        check_doubled(lambda x: x / 2)
    assert raised.value._render_traceback_() == ['✘ doubled: halved (see "Doubling")']


def test_a_function_that_stops_is_told_the_line():
    def attempt(x):
        y = 2 * x
        return y[7]

    assert "in the line `return y[7]`" in str(check_doubled.judge(attempt))


@pytest.mark.parametrize(
    "attempt",
    [
        lambda x: torch.mul(x, 2),
        lambda x: x.add(x),
        lambda x: torch.full((), 2.0) * torch.nn.functional.relu(x) - 2 * torch.relu(-x),
        lambda x: (x.unsqueeze(0) @ torch.full((1, 1), 2.0)).squeeze(0) if len(x) == 1 else x.mul(2),
    ],
)
def test_a_function_written_for_tensors_is_judged_on_tensors(attempt):
    assert check_doubled.judge(attempt).state == "right"


def test_the_slip_of_a_function_written_for_tensors_is_named():
    assert check_doubled.judge(lambda x: torch.mul(x, x)).slip.message == "squared"


def test_the_error_of_a_function_written_for_tensors_is_the_one_it_raises_on_tensors():
    slip = check_doubled.judge(lambda x: torch.mul(x, x).sum(dim=3)).slip
    assert "Dimension out of range" in slip.message


def test_an_answer_that_a_check_cannot_read_is_a_slip():
    assert "a form that the check cannot read" in check_seven.judge(7).slip.message


def drawn_case(seed):
    cases = []
    check_doubled.judge(lambda x: cases.append(x.copy()) or 2 * x, seed)
    return cases[-1]


def test_the_same_seed_draws_the_same_cases():
    np.testing.assert_array_equal(drawn_case(5), drawn_case(5))


def test_another_seed_draws_other_cases():
    assert not np.array_equal(drawn_case(5), drawn_case(6))

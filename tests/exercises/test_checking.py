import contextlib
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from glassformer.exercises import judge, list_checks, patience
from glassformer.exercises.checking import check
from glassformer.exercises.judging import Hint, compare
from glassformer.exercises.slips import Slip


@check(see="Doubling")
def check_doubled(attempt, rng):
    """Judge a function that doubles an array; the first one holds a NaN, which is no change of its own."""
    slips = {"halved": lambda x: x / 2, Hint("squared", see="Squares"): lambda x: x * x}
    compare(attempt, lambda x: 2 * x, slips, [(np.array([1.0, np.nan]),), (rng.standard_normal(3),)])


@check(see="Sevens")
def check_seven(attempt):
    """Judge a number, and stumble over what is none."""
    if len(attempt) != 7:
        raise Slip("not seven")


def unwritten(x): ...


def documented(x):
    """Double it."""


def not_implemented(x):
    raise NotImplementedError


def in_place(x):
    x *= 2
    return x


def without_return(x):
    x = 2 * x


@pytest.mark.parametrize("attempt", [None, ..., unwritten, documented, not_implemented, lambda x: ...])
def test_an_attempt_not_begun_is_greeted(attempt, capsys):
    check_doubled(attempt)
    assert capsys.readouterr().out.startswith("◦ doubled: nothing to check yet")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system cannot interrupt a function")
@pytest.mark.parametrize("caught", [(), Exception])
def test_a_function_that_never_comes_back_is_interrupted(monkeypatch, caught):
    def endless(x):
        while True:
            with contextlib.suppress(caught):
                time.sleep(0.01)

    monkeypatch.setattr(patience, "LONGEST", 0.1)
    handler = signal.getsignal(signal.SIGALRM)
    verdict = check_doubled.judge(endless)
    assert str(verdict.slip) == (
        'your function had not come back after 0.1 seconds: does every loop in it end? (see "Doubling")'
    )
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    time.sleep(0.15)  # nothing rings any more


def test_in_a_thread_a_function_is_waited_for():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(check_doubled.judge, lambda x: 2 * x).result().state == "right"


def test_a_right_attempt_is_praised(capsys):
    check_doubled(lambda x: 2 * x)
    assert capsys.readouterr().out == "✔ doubled: right.\n"


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda x: x / 2, 'halved (see "Doubling")'),
        (lambda x: x * x, 'squared (see "Squares")'),
        (in_place, "changed its input"),
        (without_return, "does it end with `return`?"),
        (lambda x: x.no_such_thing, "stopped with AttributeError"),
        (lambda x: exit(), "stopped with SystemExit"),
        (3, "wanted a function, got int"),
    ],
)
def test_a_wrong_attempt_is_told_its_slip_and_where_to_look_again(attempt, message, capsys):
    with pytest.raises(Slip) as told:
        check_doubled(attempt)
    assert message in str(told.value)
    assert "(see " in str(told.value)
    assert capsys.readouterr().out == ""


def test_a_learner_sees_the_message_alone():
    with pytest.raises(Slip) as told:
        check_doubled(lambda x: x / 2)
    assert told.value._render_traceback_() == ['✘ doubled: halved (see "Doubling")']


def test_a_function_that_stops_is_told_in_which_line():
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
def test_a_function_written_for_tensors_is_given_tensors(attempt):
    assert check_doubled.judge(attempt).state == "right"


def test_a_wrong_function_written_for_tensors_is_told_its_own_slip():
    assert check_doubled.judge(lambda x: torch.mul(x, x)).slip.message == "squared"
    told = check_doubled.judge(lambda x: torch.mul(x, x).sum(dim=3)).slip.message
    assert "Dimension out of range" in told


def test_an_answer_that_a_check_cannot_read_is_no_crash():
    assert "of another kind" in check_seven.judge(7).slip.message


def test_the_same_seed_draws_the_same_cases_and_another_one_others():
    seen = []

    def attempt(x):
        seen.append(x.copy())
        return 2 * x

    for seed in (5, 5, 6):
        check_doubled.judge(attempt, seed)
    np.testing.assert_array_equal(seen[1], seen[3])
    assert not np.array_equal(seen[1], seen[5])


def test_a_grader_is_given_the_verdict_that_the_notebook_shows():
    verdict = judge("softmax", "longest_row", 148)
    assert (verdict.state, verdict.slip.see) == ("wrong", "It cannot stay sharp")
    assert str(verdict) == '✘ longest row: the winner is a key too (see "It cannot stay sharp")'
    with pytest.raises(Slip) as told:
        list_checks("softmax")["longest_row"](148)
    assert told.value._render_traceback_() == [str(verdict)]


@pytest.mark.parametrize(
    ("slug", "name", "message"),
    [
        ("chapter_13", "x", "chapter must be one of rnn_bottleneck, .*, got 'chapter_13'"),
        ("softmax", "hardmax", "exercise of softmax must be one of stable_softmax, .*, got 'hardmax'"),
    ],
)
def test_what_does_not_exist_cannot_be_judged(slug, name, message):
    with pytest.raises(ValueError, match=message):
        judge(slug, name, 3)

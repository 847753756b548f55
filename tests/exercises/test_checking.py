import numpy as np
import pytest

from glassformer.exercises.checking import Slip, check


@check
def check_doubled(attempt):
    """Judge a function that doubles an array; the array holds a NaN, which is no change of its own."""
    if not np.array_equal(attempt(np.array([1.0, np.nan, 3.0])), [2, np.nan, 6], equal_nan=True):
        raise Slip("not doubled")


def unwritten(x): ...


def not_implemented(x):
    raise NotImplementedError


def in_place(x):
    x *= 2
    return x


@pytest.mark.parametrize("attempt", [None, ..., unwritten, not_implemented])
def test_an_attempt_not_begun_is_greeted(attempt, capsys):
    check_doubled(attempt)
    assert capsys.readouterr().out.startswith("◦ doubled: nothing to check yet")


def test_a_right_attempt_is_praised(capsys):
    check_doubled(lambda x: 2 * x)
    assert capsys.readouterr().out == "✔ doubled: right.\n"


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda x: 3 * x, "not doubled"),
        (in_place, "changed its input"),
        (lambda x: x.no_such_thing, "stopped with AttributeError: .*no_such_thing"),
    ],
)
def test_a_wrong_attempt_is_told_its_slip(attempt, message, capsys):
    with pytest.raises(Slip, match=message):
        check_doubled(attempt)
    assert capsys.readouterr().out == ""


def test_a_learner_sees_the_message_alone():
    assert Slip("not doubled")._render_traceback_() == ["✘ not doubled"]

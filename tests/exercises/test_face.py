import pytest

from glassformer.checking import Slip
from glassformer.exercises import judge, list_checks


def test_judge_returns_the_verdict_that_the_notebook_shows():
    verdict = judge("softmax", "longest_row", 148)
    section = "The softmax cannot stay sharp"
    assert (verdict.state, verdict.slip.see) == ("wrong", section)
    assert str(verdict) == f'✘ longest row: you did not count the leader itself (see "{section}")'
    with pytest.raises(Slip) as raised:
        list_checks("softmax")["longest_row"](148)
    assert raised.value._render_traceback_() == [str(verdict)]


@pytest.mark.parametrize(
    ("slug", "name", "message"),
    [
        ("chapter_13", "x", "chapter must be one of before_you_begin, .*, got 'chapter_13'"),
        ("softmax", "hardmax", "exercise of softmax must be one of stable_softmax, .*, got 'hardmax'"),
    ],
)
def test_an_unknown_chapter_or_exercise_is_an_error(slug, name, message):
    with pytest.raises(ValueError, match=message):
        judge(slug, name, 3)

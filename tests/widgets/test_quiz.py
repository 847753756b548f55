import json
import re

import pytest

from glassformer.widgets import live_quiz
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

OPTIONS = (wrong("two", "Too few."), right("three", "It is `3`."), wrong("<five>", "Too many."))
ONE = OneOf("sums-one", "How many are `1 + 2`?", OPTIONS)
SEVERAL = SeveralOf(
    "sums-several", "Which are odd?", (right("3", "Odd."), wrong("4", "Even."), right("5", "Odd."))
)
NUMBER = Number("sums-number", "Two thirds?", 2 / 3, "2/3.", within=0.01, mistakes=((1.5, "Turned round."),))


def data_of(html):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])["questions"]


def test_the_page_gets_each_question_with_its_feedback():
    one, several, number = data_of(live_quiz([ONE, SEVERAL, NUMBER])._repr_html_())
    assert (one["kind"], several["kind"], number["kind"]) == ("one", "several", "number")
    assert one["options"][2] == {"text": "<five>", "why": "Too many.", "right": False}
    assert [option["right"] for option in several["options"]] == [True, False, True]
    assert (number["answer"], number["shown"]) == (0.666667, "0.67")
    assert number["mistakes"] == [{"number": 1.5, "why": "Turned round."}]
    assert number["wanted"] == "± 0.01 counts as right"


def test_an_integer_keeps_all_its_digits():
    (number,) = data_of(live_quiz([Number("sums-large", "How many?", 16777217.0, "2²⁴ + 1.")])._repr_html_())
    assert (number["answer"], number["shown"]) == (16777217, "16777217")
    assert number["wanted"] == "a whole number"


def test_on_paper_an_integer_is_asked_for_as_such():
    whole = Number("sums-whole", "How many?", 7, "Counted.")
    assert "1. How many?</th><td>a whole number</td>" in live_quiz([whole])._repr_html_()


def test_on_paper_the_questions_come_first_and_the_answers_last():
    html = live_quiz([ONE, SEVERAL, NUMBER])._repr_html_()
    table = html[html.index("<table") : html.index("</table>")]
    assert "1. How many are 1 + 2?</th><td>a) two\nb) three\nc) &lt;five&gt;</td>" in table
    assert "<td>several may be right\na) 3\nb) 4\nc) 5</td>" in table
    assert "<td>a number, ± 0.01 counts as right</td>" in table
    assert "Answers</th><td>1: b) It is 3.\n2: a) Odd. c) Odd.\n3: 0.67. 2/3.</td></tr></tbody>" in table


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: live_quiz([]), r"questions must not be empty and must have different ids, got \[\]"),
        (lambda: live_quiz([ONE, ONE]), r"must have different ids, got \['sums-one', 'sums-one'\]"),
        (
            lambda: OneOf("sums-none", "?", (wrong("1", "No."), wrong("2", "No."), wrong("3", "No."))),
            "options of sums-none must include exactly one right option, got 0",
        ),
        (
            lambda: OneOf("sums-two", "?", SEVERAL.options),
            "options of sums-two must include exactly one right option, got 2",
        ),
        (
            lambda: SeveralOf("sums-all", "?", (right("1", "Yes."), right("2", "Yes."), right("3", "Yes."))),
            "options of sums-all must include right and wrong ones",
        ),
        (
            lambda: OneOf("sums-few", "?", OPTIONS[:2]),
            "options of sums-few must be at least three and all different, got 2 different ones",
        ),
        (
            lambda: OneOf("sums-same", "?", (*OPTIONS, wrong("two", "No."))),
            "options of sums-same must be at least three and all different, got 3 different ones",
        ),
        (
            lambda: OneOf("sums-mute", "?", (*OPTIONS, wrong("six", ""))),
            "options of sums-mute must all have feedback, but there is none for 'six'",
        ),
        (
            lambda: Number("sums-half", "?", 0.5, "Half."),
            "answer of sums-half must be whole where within is 0, got 0.5",
        ),
        (lambda: Number("sums-nan", "?", float("nan"), "?"), "answer of sums-nan must be finite, got nan"),
        (
            lambda: Number("sums-near", "?", 7.0, "7.", within=1, mistakes=((6.0, "6."),)),
            "mistakes of sums-near must differ from its answer, got 6.0",
        ),
    ],
)
def test_an_invalid_question_is_reported(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()

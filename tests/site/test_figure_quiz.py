"""A quiz gives feedback on every answer, by keyboard and for screen readers."""

import pytest

from glassformer.widgets import live_quiz
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

QUESTIONS = [
    OneOf("sums-one", "`1 + 2`?", (wrong("2", "Too few."), right("3", "Counted."), wrong("5", "Too many."))),
    SeveralOf("sums-odd", "Odd?", (right("7", "Odd."), wrong("8", "8 is even."), right("9", "9 is odd."))),
    Number("sums-half", "1/2?", 0.5, "Half.", within=0.01, mistakes=((2.0, "Inverted."),)),
]


@pytest.fixture
def figure(page, monkeypatch):
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    page.set_content(live_quiz(QUESTIONS)._repr_html_())
    return page.locator("glass-figure")


def heard(figure):
    return figure.get_by_role("status").inner_text()


def test_a_quiz_can_be_solved_by_keyboard_alone(page, figure):
    assert figure.get_by_role("group", name="1 + 2?").is_visible()
    figure.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    assert heard(figure) == "No. Too few."
    page.keyboard.press("ArrowDown")
    assert heard(figure) == ""
    page.keyboard.press("Enter")
    assert heard(figure) == "Right. Counted."
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the button now leads to the next question
    assert figure.get_by_role("checkbox").first.evaluate("box => box === document.activeElement")
    for key in ("Space", "Tab", "Tab", "Space", "Enter"):
        page.keyboard.press(key)
    assert heard(figure) == "Right. Odd. 9 is odd."
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.type("0,5")
    page.keyboard.press("Enter")
    assert heard(figure) == "Right. Half. That was the last question. You solved 2 of 3 at the first try."
    assert figure.get_by_text("3 of 3 solved").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert figure.get_by_text("0 of 3 solved").is_visible()
    assert figure.get_by_role("radio", checked=True).count() == 0


def test_multiple_choice_explains_wrong_and_counts_missing_options(figure):
    figure.get_by_role("button", name="Question 2").click()
    check = figure.get_by_role("button", name="Check")
    check.click()
    assert heard(figure) == "Please choose an answer first."
    figure.get_by_label("8").check()
    check.click()
    assert heard(figure) == "No. 8 is even."
    assert figure.locator(".option.wrong").all_inner_texts() == ["8"]
    figure.get_by_label("8").uncheck()
    figure.get_by_label("9").check()
    check.click()
    assert heard(figure) == "Your choices are right, but 1 right option is missing."


def test_common_mistakes_get_feedback_and_the_second_try_shows_the_answer(figure):
    figure.get_by_role("button", name="Question 3").click()
    number, check = figure.get_by_label("Your number"), figure.get_by_role("button", name="Check")
    said = []
    for written in ("half", "2", "-0.5"):
        number.fill(written)
        check.click()
        said.append(heard(figure))
    assert said == [
        "Please type a number, with a point or a comma for decimals.",
        "No. Inverted.",
        "No. That is too small. The answer is 0.50. Half.",
    ]


def test_numbers_can_be_written_in_common_formats(page, figure_script):
    figure_script("quiz")
    read = {
        "0,5": [0.5],
        " −0.25 ": [-0.25],
        "1/4": [0.25],
        "10,000": [10000, 10],
        "10 000": [10000],
        "1e-3": [0.001],
        "": [],
        "1,2,3": [],
        "1/0": [],
        "a half": [],
    }
    for written, numbers in read.items():
        assert page.evaluate("written => glassformer.quiz.readNumbers(written)", written) == numbers

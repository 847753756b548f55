"""Quiz on a chapter, one question at a time, with feedback on every answer."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

from glassformer.widgets.live import LiveFigure, Table
from glassformer.widgets.questions import Number, OneOf, Question


def live_quiz(questions: Sequence[Question]) -> LiveFigure:
    """Show questions that are graded in the page; nothing is sent anywhere.

    Args:
        questions: questions in the order of the page.

    Raises:
        ValueError: ``questions`` is empty, or two have the same id.
    """
    ids = [question.id for question in questions]
    if not ids or len(set(ids)) != len(ids):
        raise ValueError(f"questions must not be empty and must have different ids, got {ids}")
    answers = [f"{place}: {_answer(question)}" for place, question in enumerate(questions, start=1)]
    return LiveFigure(
        "quiz",
        label="Check yourself",
        data={"questions": [_to_json(question) for question in questions]},
        heights=(25.5, 32),
        table=Table(
            "Check yourself: the answers are at the end",
            ("question", "options"),
            [
                *(
                    (_plain(f"{place}. {question.text}"), _plain(_choices(question)))
                    for place, question in enumerate(questions, start=1)
                ),
                ("Answers", _plain("\n".join(answers))),
            ],
        ),
    )


def number_in_words(question: Number) -> str:
    """Format the answer with as many digits as its tolerance needs."""
    if question.within == 0:
        return f"{question.answer:.0f}"
    digits = max(0, len(f"{question.within:f}".rstrip("0").partition(".")[2]))
    return f"{question.answer:.{digits}f}".replace("-", "−")


def _to_json(question: Question) -> dict[str, Any]:
    """Convert a question for the page; six digits of a number are the same on every machine."""
    if isinstance(question, Number):
        return {
            "kind": "number",
            "text": question.text,
            "wanted": question.wanted,
            "answer": _six_digits(question.answer),
            "shown": number_in_words(question),
            "why": question.why,
            "within": question.within,
            "mistakes": [{"number": _six_digits(number), "why": why} for number, why in question.mistakes],
        }
    return {
        "kind": "one" if isinstance(question, OneOf) else "several",
        "text": question.text,
        "options": [
            {"text": option.text, "why": option.why, "right": option.is_right} for option in question.options
        ],
    }


def _six_digits(number: float | int) -> float | int:
    return int(number) if number == round(number) else float(f"{number:.6g}")


def _choices(question: Question) -> str:
    if isinstance(question, Number):
        return f"a number, {question.wanted}" if question.within else question.wanted
    lines = [
        f"{letter}) {option.text}" for letter, option in zip(ascii_lowercase, question.options, strict=False)
    ]
    return "\n".join(lines if isinstance(question, OneOf) else ["several may be right", *lines])


def _answer(question: Question) -> str:
    if isinstance(question, Number):
        return f"{number_in_words(question)}. {question.why}"
    pairs = zip(ascii_lowercase, question.options, strict=False)
    return " ".join(f"{letter}) {option.why}" for letter, option in pairs if option.is_right)


def _plain(text: str) -> str:
    return text.replace("`", "")

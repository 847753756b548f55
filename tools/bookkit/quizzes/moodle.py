"""Write the questions of a chapter as Moodle XML; Moodle reads QTI only with a plugin."""

from collections.abc import Sequence
from pathlib import Path

from lxml import etree
from lxml.builder import E
from lxml.etree import _Element as Element

from bookkit.quizzes.code_spans import split_code
from glassformer.files import atomic_write
from glassformer.widgets import Number, OneOf, Option, Question, SeveralOf, number_in_words


def write_moodle(path: Path, slug: str, questions: Sequence[Question]) -> None:
    """Write the questions into their own category; the file appears only when it is complete."""
    category = E.question(E.category(E.text(f"$course$/Glassformer/{slug}")), type="category")
    root = E.quiz(category, *map(_question, questions))
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        part.write_bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def _question(question: Question) -> Element:
    kind, parts = (
        ("numerical", _answers(question))
        if isinstance(question, Number)
        else ("multichoice", _options(question))
    )
    return E.question(
        E.name(E.text(question.id)),
        E.questiontext(_html(question.text), format="html"),
        E.defaultgrade("1"),
        E.penalty("0"),
        *parts,
        type=kind,
    )


def _options(question: OneOf | SeveralOf) -> list[Element]:
    counts = {kind: sum(option.is_right == kind for option in question.options) for kind in (True, False)}

    def share(option: Option) -> str:
        if isinstance(question, OneOf):
            return "100" if option.is_right else "0"
        return f"{(100 if option.is_right else -100) / counts[option.is_right]:.7g}"

    return [
        E.single(str(isinstance(question, OneOf)).lower()),
        E.shuffleanswers("0"),
        E.answernumbering("abc"),
        *(
            _answer(share(option), _html(option.text), option.why, format="html")
            for option in question.options
        ),
    ]


def _answers(question: Number) -> list[Element]:
    known = [("100", question.answer, question.why), *(("0", *mistake) for mistake in question.mistakes)]
    answers = [_answer(share, E.text(f"{number:.6g}"), why) for share, number, why in known]
    for answer in answers:
        answer.append(E.tolerance(f"{question.within:g}"))
    why = f"The answer is {number_in_words(question)}. {question.why}"
    return [*answers, _answer("0", E.text("*"), why)]


def _answer(share: str, text: Element, why: str, **attributes: str) -> Element:
    return E.answer(text, E.feedback(_html(why), format="html"), fraction=share, **attributes)


def _html(text: str) -> Element:
    """Wrap a text as escaped HTML, as Moodle expects it."""
    paragraph = E.p(*split_code(text, E.code))
    return E.text(etree.tostring(paragraph, encoding="unicode", method="html"))

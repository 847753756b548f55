"""Write questions as QTI 2.1 items: the text, the correct answer, and the feedback to each answer.

Follows the specification "IMS Question and Test Interoperability", version 2.1, assessment test, section and
item information model (2012).
"""

from collections.abc import Sequence
from string import ascii_uppercase

from lxml.builder import ElementMaker
from lxml.etree import QName
from lxml.etree import _Element as Element

from bookkit.quizzes.code_spans import split_code
from glassformer.widgets import Number, OneOf, Option, Question, SeveralOf, number_in_words

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
SCHEMA = {QName(XSI, "schemaLocation"): f"{QTI} http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd"}
Q = ElementMaker(namespace=QTI, nsmap={None: QTI, "xsi": XSI})


def write_item(question: Question) -> Element:
    """Write one question as an ``assessmentItem``."""
    parts = _number_parts(question) if isinstance(question, Number) else _choice_parts(question)
    names = {"identifier": question.id, "title": question.id, "adaptive": "false", "timeDependent": "false"}
    return Q.assessmentItem(*parts, {**names, **SCHEMA})


# ---- Single and multiple choice ----


def _choice_parts(question: OneOf | SeveralOf) -> list[Element]:
    options = dict(zip(ascii_uppercase, question.options, strict=False))
    cardinality = "single" if isinstance(question, OneOf) else "multiple"
    right = [letter for letter, option in options.items() if option.is_right]
    return [
        _response(cardinality, "identifier", right),
        _score(),
        Q.outcomeDeclaration(identifier="FEEDBACK", cardinality=cardinality, baseType="identifier"),
        Q.itemBody(
            Q.choiceInteraction(
                Q.prompt(*_text(question.text)),
                *(
                    Q.simpleChoice(*_text(option.text), identifier=letter)
                    for letter, option in options.items()
                ),
                responseIdentifier="RESPONSE",
                shuffle="false",
                maxChoices="1" if isinstance(question, OneOf) else "0",  # 0: no limit
            )
        ),
        Q.responseProcessing(
            Q.responseCondition(Q.responseIf(Q.match(_answer(), _correct()), _set("SCORE", "float", "1"))),
            Q.setOutcomeValue(_answer(), identifier="FEEDBACK"),
        ),
        *(_feedback(letter, _feedback_text(option)) for letter, option in options.items()),
    ]


def _feedback_text(option: Option) -> str:
    return f"{'Right' if option.is_right else 'No'}. {option.why}"


# ---- A number ----


def _number_parts(question: Number) -> list[Element]:
    mistakes = {f"MISTAKE{place}": mistake for place, mistake in enumerate(question.mistakes, start=1)}
    return [
        _response("single", "float", [_digits(question.answer)]),
        _score(),
        Q.outcomeDeclaration(identifier="FEEDBACK", cardinality="single", baseType="identifier"),
        Q.itemBody(
            Q.p(*_text(question.text)),
            Q.p(
                Q.textEntryInteraction(responseIdentifier="RESPONSE", expectedLength="12"),
                f" ({question.wanted})",
            ),
        ),
        Q.responseProcessing(
            Q.responseCondition(
                Q.responseIf(
                    _equal(question, _correct()),
                    _set("SCORE", "float", "1"),
                    _set("FEEDBACK", "identifier", "RIGHT"),
                ),
                *(
                    Q.responseElseIf(
                        _equal(question, Q.baseValue(_digits(number), baseType="float")),
                        _set("FEEDBACK", "identifier", name),
                    )
                    for name, (number, _) in mistakes.items()
                ),
                Q.responseElse(_set("FEEDBACK", "identifier", "WRONG")),
            )
        ),
        _feedback("RIGHT", f"Right. {question.why}"),
        *(_feedback(name, f"No. {why}") for name, (_, why) in mistakes.items()),
        _feedback("WRONG", f"No. The answer is {number_in_words(question)}. {question.why}"),
    ]


def _equal(question: Number, target: Element) -> Element:
    if question.within == 0:
        return Q.equal(_answer(), target, toleranceMode="exact")
    tolerance = f"{question.within:g}"
    return Q.equal(_answer(), target, toleranceMode="absolute", tolerance=f"{tolerance} {tolerance}")


def _digits(number: float | int) -> str:
    return f"{number:.0f}" if number == round(number) else f"{number:.6g}"


# ---- Parts of both ----


def _response(cardinality: str, base_type: str, right: Sequence[str]) -> Element:
    correct = Q.correctResponse(*(Q.value(value) for value in right))
    return Q.responseDeclaration(correct, identifier="RESPONSE", cardinality=cardinality, baseType=base_type)


def _score() -> Element:
    zero = Q.defaultValue(Q.value("0"))
    return Q.outcomeDeclaration(
        zero, identifier="SCORE", cardinality="single", baseType="float", normalMaximum="1"
    )


def _answer() -> Element:
    return Q.variable(identifier="RESPONSE")


def _correct() -> Element:
    return Q.correct(identifier="RESPONSE")


def _set(outcome: str, base_type: str, value: str) -> Element:
    return Q.setOutcomeValue(Q.baseValue(value, baseType=base_type), identifier=outcome)


def _feedback(name: str, text: str) -> Element:
    return Q.modalFeedback(*_text(text), outcomeIdentifier="FEEDBACK", identifier=name, showHide="show")


def _text(text: str) -> list[str | Element]:
    return split_code(text, Q.code)

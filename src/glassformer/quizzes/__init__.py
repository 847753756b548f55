"""Quiz questions: one module per chapter, whose numbers the package computes."""

from glassformer.checking.registry import chapter_module
from glassformer.widgets.questions import Question


def questions(slug: str) -> tuple[Question, ...]:
    """Return the quiz questions of a chapter.

    Raises:
        ValueError: the book has no such chapter.
    """
    return chapter_module(__name__, slug).QUESTIONS

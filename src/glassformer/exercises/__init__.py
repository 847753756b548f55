"""Checks for the exercises: one module per chapter, with `check_<name>(attempt)` for each exercise."""

from typing import Any

from glassformer.checking.check import Check, Verdict
from glassformer.checking.registry import CHAPTERS, chapter_module


def list_checks(slug: str) -> dict[str, Check]:
    """Return the checks of a chapter, keyed by exercise name, in the chapter's order.

    Raises:
        ValueError: the book has no such chapter.
    """
    checks = vars(chapter_module(__name__, slug)).values()
    return {found.name: found for found in checks if isinstance(found, Check)}


def judge(slug: str, name: str, attempt: Any, seed: int = 0) -> Verdict:
    """Judge an attempt at an exercise.

    Args:
        slug: name of the chapter.
        name: name of the exercise, which is the name that the learner defines.
        attempt: object that the learner has defined under this name; None or ``...`` if there is none.
        seed: seed of the randomly drawn test cases. The notebooks use 0.

    Raises:
        ValueError: there is no such chapter or exercise.
    """
    checks = list_checks(slug)
    if name not in checks:
        raise ValueError(f"exercise of {slug} must be one of {', '.join(checks)}, got {name!r}")
    return checks[name].judge(attempt, seed)

"""Read the learning objectives, and everything that can serve them: exercises, quiz questions and slides.

The quizzes are parsed, not imported: the site is built without torch.
"""

import ast
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bookkit.chapters import ROOT, read_chapters
from bookkit.slides.scripts import list_scripts, read_slides, slug_of

SERVERS = ("exercises", "questions", "slides")
OBJECTIVES = ROOT / "teach/objectives.yml"
QUIZZES = ROOT / "src/glassformer/quizzes"


@dataclass(frozen=True)
class Objective:
    """A skill that a learner has after a chapter, with the labels or ids of all that serves it."""

    id: str
    text: str
    exercises: tuple[str, ...]
    questions: tuple[str, ...]
    slides: tuple[str, ...]


def read_objectives(path: Path = OBJECTIVES) -> dict[str, list[Objective]]:
    """Read the objectives of each chapter by its slug.

    Raises:
        ValueError: an objective does not have exactly its five parts.
    """
    chapters = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {slug: [_objective(path, slug, parts) for parts in given] for slug, given in chapters.items()}


def _objective(path: Path, slug: str, parts: dict[str, Any]) -> Objective:
    expected = {"id", "text", *SERVERS}
    if set(parts) != expected:
        raise ValueError(
            f"{path.name}, {slug}: an objective must have {sorted(expected)}, got {sorted(parts)}"
        )
    return Objective(parts["id"], parts["text"], *(tuple(parts[name]) for name in SERVERS))


@cache
def exercise_titles() -> dict[str, str]:
    """Return the title of each exercise by its label, and the chapter's number if it is not unique."""
    numbered = [(chapter.number, each) for chapter in read_chapters() for each in chapter.exercises]
    counts = Counter(exercise.title for _, exercise in numbered)
    return {
        exercise.label: exercise.title
        if counts[exercise.title] == 1
        else f"{exercise.title} (chapter {number})"
        for number, exercise in numbered
    }


def read_questions(slug: str) -> dict[str, str]:
    """Return the text of each question of a chapter's quiz by its id, in order."""
    calls = ast.walk(ast.parse((QUIZZES / f"{slug}.py").read_text(encoding="utf-8")))
    found = {}
    for call in calls:
        match call:
            case ast.Call(
                ast.Name("OneOf" | "SeveralOf" | "Number"),
                [ast.Constant(str(id)), ast.Constant(str(text)), *_],
            ):
                found[id] = text
    return found


def slide_titles(slug: str) -> dict[str, str]:
    """Return the title of each slide of a chapter by its id; the first slide has no title of its own."""
    (script,) = (path for path in list_scripts() if slug_of(path) == slug)
    return {slide.id: slide.title or "the opening" for slide in read_slides(script)}

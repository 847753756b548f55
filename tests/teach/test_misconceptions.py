"""The page on misconceptions quotes the checks and quizzes correctly."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from bookkit.chapters import all_exercises, slugs

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "teach/misconceptions.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r'^\*\*"(.+?)"\*\*\n((?:(?!\n\n).)+)', PAGE, re.MULTILINE | re.DOTALL)
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry[0])


def messages():
    """Every string of the checks, in one line each."""
    files = (ROOT / "src/glassformer/exercises").glob("*.py")
    trees = (ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for path in files)
    texts = (node.value for tree in trees for node in tree if isinstance(node, ast.Constant))
    return {" ".join(text.split()) for text in texts if isinstance(text, str)}


MESSAGES = messages()
QUIZZES = [importlib.import_module(f"glassformer.quizzes.{slug}") for slug in slugs()]
QUESTIONS = {question.id for quiz in QUIZZES for question in quiz.QUESTIONS}


def test_there_are_as_many_different_misconceptions_as_the_page_says():
    assert len({idea for idea, _ in ENTRIES}) == len(ENTRIES) >= 40
    assert PAGE.count('\n**"') == len(ENTRIES)
    assert "Here are more than forty wrong ideas" in PAGE


@every_entry
def test_a_misconception_has_a_symptom_and_a_remedy(entry):
    _, told = entry
    shows, does = re.split(r"^: ", told, flags=re.MULTILINE)[1:]
    assert re.match(r"\*It shows( up)?\*", shows)
    assert re.match(r"\*[A-Z][a-z ]+\*", does)


@every_entry
def test_quoted_messages_exist_in_the_checks(entry):
    _, told = entry
    quoted = re.findall(r"(?:says|:|,|as 16\.5:) \*([^*]{15,})\*", " ".join(told.split()))
    assert set(quoted) <= MESSAGES


@every_entry
def test_named_exercises_and_questions_exist(entry):
    _, told = entry
    assert set(re.findall(r"\{ref\}`([\w-]+)`", told)) <= set(all_exercises())
    assert set(re.findall(r"\{question\}`([\w-]+)`", told)) <= QUESTIONS
    assert not re.search(r"(?<!\})`[a-z]+-[a-z-]+`", told), "an id is shown as it is"
    assert "{ref}" in told or "{question}" in told

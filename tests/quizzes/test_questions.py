"""Each chapter has a quiz whose numbers are computed and whose answers are all explained."""

import ast
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from glassformer import quizzes
from glassformer.checking import CHAPTERS
from glassformer.widgets.questions import Number, OneOf

FOLDER = Path(quizzes.__file__).parent
QUESTIONS = {slug: quizzes.questions(slug) for slug in CHAPTERS}
every_chapter = pytest.mark.parametrize("slug", CHAPTERS)
all_questions = [question for questions in QUESTIONS.values() for question in questions]
choices = [question for question in all_questions if not isinstance(question, Number)]
singles = [question for question in choices if isinstance(question, OneOf)]

BY_HAND = {  # the answers, by arithmetic alone
    "begin-dot": 2 - 4 + 6,
    "begin-chain": 2 * 5 * 5,
    "cost-triple": 3 * 3,
    "bottleneck-kept": (1 / (1 + math.exp(-3))) ** 10,
    "queries-tie": (10 + 20) / 2,
    "scaling-divisor": math.sqrt(4 * 9 * 1),
    "scaling-two-keys": math.e / (math.e + 1),
    "softmax-odds": math.exp(3 - 1),
    "softmax-filled": 1 / 4,
    "softmax-leader": math.exp(5) / (math.exp(5) + 99),
    "softmax-stream": 4 * math.exp(-2) + 1,
    "masks-joined": 1 + 2 + 3 + 4 + 5 + 5 + 5,
    "heads-maps": 6 * 12 * 12,
    "heads-mixture": (5 + 1) / (2 * 5),
    "positions-same-product": 20 - (9 - 5),
    "positions-slope": math.exp(4 / 2),
    "block-normed": -2 / math.sqrt(2),
    "block-share": 4 / (4 + 2 * 8),
    "block-factor": (1 - 0.5) * (1 + 0.2),
    "encdec-wanted": 3 + 1,
    "encdec-cross": 6 * 9,
    "train-mean-of-what": (3 * 2 + 6) / 4,
    "train-lowest": -0.85 * math.log(0.85) - 3 * 0.05 * math.log(0.05),
    "train-half-the-peak": 4000 * 2**2,
    "train-padding": (9 - 2) + (10 - 3) - (3 - 2) - (10 - 9),
    "decoding-cache": (10 * 11 / 2) / 10,
    "decoding-brevity": 100 * math.exp(1 - 8 / 4),
    "decoding-top-p": 0.3 / (0.5 + 0.3),
    "looking-covered": 0.75 * -1 + 0.25 * 5,
}


def test_the_quizzes_are_those_of_the_chapters():
    assert sorted(path.stem for path in FOLDER.glob("[a-z]*.py")) == sorted(CHAPTERS)


@every_chapter
def test_a_chapter_has_three_to_six_questions(slug):
    assert 3 <= len(QUESTIONS[slug]) <= 6


def test_ids_are_unique():
    assert len({question.id for question in all_questions}) == len(all_questions)


def test_ids_of_a_chapter_share_a_prefix_of_its_own():
    prefixes = {slug: {question.id.split("-")[0] for question in QUESTIONS[slug]} for slug in CHAPTERS}
    assert [slug for slug, words in prefixes.items() if len(words) != 1] == []
    assert len({min(words) for words in prefixes.values()}) == len(CHAPTERS)


def test_numbers_agree_with_arithmetic_by_hand():
    numbers = {question.id: question for question in all_questions if isinstance(question, Number)}
    assert numbers.keys() == BY_HAND.keys()
    for name, question in numbers.items():
        assert question.answer == pytest.approx(BY_HAND[name], abs=question.within / 2 or 1e-9), name


def test_the_tolerances_of_an_answer_and_its_known_mistakes_do_not_overlap():
    for question in all_questions:
        if isinstance(question, Number):
            known = sorted([question.answer, *{number for number, _ in question.mistakes}])
            assert min(np.diff(known)) > 2 * question.within, question.id


@every_chapter
def test_no_answer_is_a_literal(slug):
    tree = ast.parse((FOLDER / f"{slug}.py").read_text(encoding="utf-8"))
    answers = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "answer"
    ]
    assert len(answers) == sum(isinstance(question, Number) for question in QUESTIONS[slug])
    literals = [ast.unparse(answer) for answer in answers if not computes(answer, tree)]
    assert literals == []


def computes(answer, tree):
    """Return True if an expression calls the package or NumPy, directly or through assigned names."""
    assigned = {
        name.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for name in ast.walk(node.targets[0])
        if isinstance(name, ast.Name)
    }
    for node in ast.walk(answer):
        if isinstance(node, ast.Call) and ast.unparse(node.func) not in {"float", "int", "round"}:
            return True
        if isinstance(node, ast.Name) and node.id in assigned and computes(assigned[node.id], tree):
            return True
    return False


def test_the_position_of_the_right_option_is_balanced():
    positions = Counter(
        index for question in singles for index, option in enumerate(question.options) if option.is_right
    )
    assert max(positions.values()) <= len(singles) / 3
    assert len(positions) == 4


def test_the_right_option_is_not_given_away_by_its_length():
    longest = [max(question.options, key=lambda option: len(option.text)).is_right for question in singles]
    assert sum(longest) <= len(singles) / 2


def test_an_explanation_is_one_or_two_sentences():
    texts = [option.why for question in choices for option in question.options]
    texts += [why for question in all_questions if isinstance(question, Number)
              for why in [question.why, *(why for _, why in question.mistakes)]]  # fmt: skip
    assert [text for text in texts if not text.endswith((".", "?")) or len(text) > 160 or "**" in text] == []


def test_backticks_are_balanced():
    texts = [question.text for question in all_questions]
    texts += [
        text for question in choices for option in question.options for text in (option.text, option.why)
    ]
    assert [text for text in texts if text.count("`") % 2] == []


def test_float16_overflows_as_the_question_says():
    scores = np.array([12, 11, 10], dtype=np.float16)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(scores) / np.exp(scores).sum()
    assert np.isnan(weights[0])
    assert not weights[1:].any()


def test_the_length_penalties_choose_as_the_question_says():
    log_p, length = np.array([-3.0, -4.2]), np.array([4, 8])
    divisors = [np.ones(2), ((5 + length) / 6) ** 0.6, length]
    assert ["AB"[int(np.argmax(log_p / divisor))] for divisor in divisors] == ["A", "A", "B"]


def test_a_reshape_gives_the_first_head_halves_of_the_first_three_words():
    words = np.arange(6)[:, None].repeat(8, axis=1)
    assert words.reshape(2, 6, 4)[0].tolist() == [[word] * 4 for word in (0, 0, 1, 1, 2, 2)]

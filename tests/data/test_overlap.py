"""Overlap of test sentences with training sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data import Sentences, find_leaks, find_neighbours, find_repeated

TEXTS = st.lists(st.sampled_from("abcd"), max_size=5).map(" ".join)


def distance(first, second):
    """Compute the edit distance in words, by its definition."""
    if not first or not second:
        return len(first) + len(second)
    replaced = distance(first[1:], second[1:]) + (first[0] != second[0])
    return min(replaced, distance(first[1:], second) + 1, distance(first, second[1:]) + 1)


@given(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=4))
def test_neighbours_are_at_most_one_edit_apart(sentences, others):
    expected = [
        any(distance(sentence.split(), other.split()) <= 1 for other in others) for sentence in sentences
    ]
    assert find_neighbours(sentences, others) == expected


@pytest.mark.parametrize(
    ("sentence", "near"),
    [
        ("I am tired.", True),
        ("i am tired", True),
        ("I am very tired.", True),
        ("Am tired!", True),
        ("I am hungry.", True),
        ("I was hungry.", False),
        ("Tired am I.", False),
    ],
)
def test_case_and_punctuation_do_not_count(sentence, near):
    assert find_neighbours([sentence], ["I am tired."]) == [near]


def test_repeated_references_are_found_among_all_targets():
    references = [("Je suis là.", "je viens"), ("Tu dors.",)]
    assert find_repeated(references, ["Je viens !", "Tu manges."]) == [True, False]


def test_a_leak_is_a_near_source_or_a_repeated_reference():
    train = Sentences(("I sleep.", "She reads a book."), (("Je dors.",), ("Elle lit un livre.",)))
    sources = ("I sleep now.", "I am asleep.", "We walk home.")
    test = Sentences(sources, (("Je dors maintenant.",), ("Je dors.",), ("Nous rentrons à pied.",)))
    assert find_leaks(test, train) == [True, True, False]

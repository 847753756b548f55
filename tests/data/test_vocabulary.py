import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID, Vocabulary

WORDS = ("animal", "crossed", "street", "the", "was")
sentences = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), min_size=1, max_size=5)


@pytest.fixture
def vocabulary():
    return Vocabulary(WORDS)


def test_words_follow_the_special_tokens_in_order(vocabulary):
    assert (PAD_ID, START_ID, END_ID) == (0, 1, 2)
    assert vocabulary.encode(WORDS) == [3, 4, 5, 6, 7]
    assert len(vocabulary) == 8


def test_a_vocabulary_is_alphabetical_without_repetitions():
    assert Vocabulary.from_sentences([["the", "street", "the"], ["animal"]]) == Vocabulary.from_sentences(
        [["animal", "street"], ["the"]]
    )
    assert Vocabulary.from_sentences([["the", "street"], ["animal"]]).words == ("animal", "street", "the")


@given(sentences)
def test_decoding_inverts_encoding_and_batching(rows):
    vocabulary = Vocabulary(WORDS)
    for marked in (False, True):
        ids = vocabulary.batch(rows, add_special_tokens=marked)
        assert [list(vocabulary.decode(row)) for row in ids] == rows
    assert [list(vocabulary.decode(vocabulary.encode(row))) for row in rows] == rows


def test_a_batch_is_padded_on_the_right_and_has_special_tokens_on_request(vocabulary):
    rows = [["the", "street"], ["the", "animal", "crossed"]]
    np.testing.assert_array_equal(vocabulary.batch(rows), [[6, 5, 0], [6, 3, 4]])
    np.testing.assert_array_equal(
        vocabulary.batch(rows, add_special_tokens=True),
        [[START_ID, 6, 5, END_ID, PAD_ID], [START_ID, 6, 3, 4, END_ID]],
    )
    assert vocabulary.batch(rows).dtype == np.int64


def test_decoding_stops_at_the_first_end(vocabulary):
    assert vocabulary.decode([START_ID, 6, 5, END_ID, 3, END_ID]) == ("the", "street")
    assert vocabulary.decode([END_ID, 6]) == ()
    assert vocabulary.decode([]) == ()


def test_an_unknown_word_is_named(vocabulary):
    with pytest.raises(ValueError, match=r"words must be among the 5 of the vocabulary, got \['dragon'\]"):
        vocabulary.encode(["the", "dragon"])


@pytest.mark.parametrize("id", [-1, 8])
def test_an_id_outside_the_vocabulary_is_reported_with_the_bounds(vocabulary, id):
    with pytest.raises(
        ValueError, match=rf"ids .*below the vocabulary size \(8\), got ids from {id} to {id}"
    ):
        vocabulary.decode([id])


@pytest.mark.parametrize("rows", [[], [["the"], []]])
def test_an_empty_batch_or_sentence_is_reported_with_the_lengths(vocabulary, rows):
    with pytest.raises(ValueError, match=r"sentences must not be empty, got lengths"):
        vocabulary.batch(rows)


@pytest.mark.parametrize("words", [("the", "street", "the"), ("the", "<pad>")])
def test_a_repeated_word_is_named(words):
    with pytest.raises(ValueError, match=r"words must differ .*got \['(the|<pad>)'\] twice"):
        Vocabulary(words)

import doctest
import re
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.tasks import grammar
from glassformer.tasks.grammar import (
    BOOK_EXAMPLE,
    Example,
    join_words,
    make_corpus,
    parse,
    split_words,
    swaps,
    translate,
)
from glassformer.tasks.lexicon import ADJECTIVES, ANIMALS, PLACES, VERBS, adjective, noun, verb

examples = st.builds(
    Example,
    subject=st.sampled_from(ANIMALS),
    verb=st.sampled_from(VERBS),
    object=st.sampled_from(PLACES),
    adjective=st.sampled_from(ADJECTIVES),
    negated=st.booleans(),
)


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(np.random.default_rng(7), train_size=2000, test_size=200)


def pronoun_right(sentences, guess):
    return np.mean([guess(example) == example.pronoun for example in sentences])


def pronoun_of(thing):
    return "il" if thing.gender == "masculine" else "elle"


def test_the_example_sentence_of_the_book_is_generated_exactly():
    assert join_words(BOOK_EXAMPLE.source) == "the animal didn't cross the street because it was too tired"
    assert (
        join_words(BOOK_EXAMPLE.target) == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    )


@pytest.mark.parametrize(
    ("english", "french"),
    [
        (
            "the animal didn't cross the street because it was too wide",
            "l'animal n'a pas traversé la rue parce qu'elle était trop large",
        ),
        (
            "the mouse avoided the garden because it was very worried",
            "la souris a évité le jardin parce qu'elle était très inquiète",
        ),
        (
            "the swallow left the island because it was very long",
            "l'hirondelle a quitté l'île parce qu'elle était très longue",
        ),
        (
            "the owl didn't explore the staircase because it was too rocky",
            "le hibou n'a pas exploré l'escalier parce qu'il était trop rocheux",
        ),
        (
            "the bee reached the hamlet because it was very proud",
            "l'abeille a atteint le hameau parce qu'elle était très fière",
        ),
    ],
)
def test_french_elides_agrees_and_negates_as_in_these_sentences(english, french):
    assert join_words(translate(english)) == french


@given(examples)
def test_an_article_is_elided_exactly_before_a_vowel_or_a_mute_h(example):
    sentence = join_words(example.target)
    assert not re.search(r"\b(le|la) [aeiouâêéèîôy]", sentence)
    assert not re.search(r"\bl'(?![aeiouâêéèîô]|hirondelle)", sentence)
    assert "parce que" not in sentence


@given(examples)
def test_the_pronoun_and_the_adjective_have_the_gender_of_the_antecedent(example):
    means_the_animal = example.adjective.describes == "animal"
    assert example.antecedent == (example.subject if means_the_animal else example.object)
    assert {example.antecedent, example.distractor} == {example.subject, example.object}
    assert example.pronoun == pronoun_of(example.antecedent)
    masculine = example.antecedent.gender == "masculine"
    assert example.target[-1] == (example.adjective.masculine if masculine else example.adjective.feminine)


@given(examples)
def test_positions_point_at_the_words_they_name(example):
    assert example.source[example.source_pronoun_position] == "it"
    assert example.target[example.target_pronoun_position] == example.pronoun
    assert example.source[example.antecedent_position] == example.antecedent.english
    assert example.source[example.distractor_position] == example.distractor.english


@given(examples)
def test_parsing_inverts_generation(example):
    assert parse(example.source) == example
    assert parse(join_words(example.source)) == example
    assert translate(example.source) == example.target


@given(examples)
def test_splitting_inverts_joining(example):
    assert split_words(join_words(example.source)) == example.source
    assert split_words(join_words(example.target)) == example.target


@given(examples)
def test_only_negated_sentences_have_negation_in_both_languages(example):
    assert (
        ("didn't" in example.source)
        == example.negated
        == ("n'" in example.target)
        == ("pas" in example.target)
    )


def test_replacing_the_adjective_moves_the_pronoun_to_the_other_noun():
    wide = replace(BOOK_EXAMPLE, adjective=adjective("wide"))
    assert (wide.antecedent, wide.distractor) == (BOOK_EXAMPLE.distractor, BOOK_EXAMPLE.antecedent)
    assert (BOOK_EXAMPLE.pronoun, wide.pronoun) == ("il", "elle")


def test_swapping_the_animal_changes_the_pronoun_only_if_it_is_the_antecedent():
    mouse = replace(BOOK_EXAMPLE, subject=noun("mouse"))
    assert mouse.pronoun == "elle"
    assert replace(mouse, adjective=adjective("wide"), object=noun("bridge")).pronoun == "il"


@pytest.mark.parametrize(
    ("part", "role"), [("adjective", "adjective"), ("antecedent", "subject"), ("distractor", "object")]
)
def test_a_swap_changes_one_word_and_the_pronoun_unless_it_is_of_the_distractor(part, role):
    book, changed = BOOK_EXAMPLE, swaps(BOOK_EXAMPLE, part)
    assert all(replace(new, **{role: getattr(book, role)}) == book != new for new in changed)
    assert {new.pronoun for new in changed} == {"il" if part == "distractor" else "elle"}


@given(examples)
def test_swapped_adjectives_move_it_and_swapped_nouns_change_gender(example):
    assert all(new.antecedent == example.distractor for new in swaps(example, "adjective"))
    assert {new.antecedent for new in swaps(example, "antecedent")} == {
        noun
        for noun in (*ANIMALS, *PLACES)
        if noun.kind == example.antecedent.kind and noun.gender != example.antecedent.gender
    }
    assert all(new.pronoun == example.pronoun for new in swaps(example, "distractor"))


def test_an_unknown_part_to_swap_is_rejected(as_a_user):
    with pytest.raises(ValueError, match="part must be one of 'adjective', 'antecedent', 'distractor'"):
        swaps(BOOK_EXAMPLE, "verb")


def test_train_and_test_share_no_pair_of_nouns(corpus):
    train, test = ({(example.subject, example.object) for example in part} for part in corpus)
    assert train
    assert test
    assert not train & test
    assert (BOOK_EXAMPLE.subject, BOOK_EXAMPLE.object) not in train


def test_every_word_of_the_test_sentences_occurs_in_training(corpus):
    for side in ("source", "target"):
        train, test = ({word for example in part for word in getattr(example, side)} for part in corpus)
        assert test <= train


def test_no_sentence_is_drawn_twice(corpus):
    everything = [example for part in corpus for example in part]
    assert len(set(everything)) == len(everything) == 2200


def test_no_shortcut_guesses_the_pronoun_better_than_a_coin(corpus):
    for part in corpus:
        assert pronoun_right(part, lambda example: "il") == 0.5
        assert pronoun_right(part, lambda example: pronoun_of(example.subject)) == 0.5
        assert pronoun_right(part, lambda example: pronoun_of(example.object)) == 0.5


def test_only_nouns_of_different_gender_give_each_other_away():
    def without_the_animal(example):
        masculine = (example.object.gender == "masculine") == (example.adjective.describes == "place")
        return "il" if masculine else "elle"

    for genders, score in (("different", 1.0), ("any", 0.75)):
        for part in make_corpus(np.random.default_rng(7), train_size=2000, test_size=200, genders=genders):
            assert pronoun_right(part, without_the_animal) == pytest.approx(score, abs=0.1)


def test_with_any_genders_sentences_still_come_in_pairs_and_share_no_nouns():
    train, test = make_corpus(np.random.default_rng(7), train_size=2000, test_size=200, genders="any")
    pairs = [{(example.subject, example.object) for example in part} for part in (train, test)]
    assert not pairs[0] & pairs[1]
    assert (BOOK_EXAMPLE.subject, BOOK_EXAMPLE.object) not in pairs[0]
    assert len(set(train + test)) == 2200
    kinds = Counter(example.adjective.describes for example in test)
    assert kinds["animal"] == kinds["place"] == 100


def test_an_unknown_choice_of_genders_is_rejected(as_a_user):
    with pytest.raises(ValueError, match="genders must be one of 'different', 'any', got 'same'"):
        make_corpus(np.random.default_rng(0), genders="same")


def test_sentences_come_in_pairs_that_differ_only_in_the_adjective(corpus):
    for part in corpus:
        frames = Counter(replace(example, adjective=adjective("tired")) for example in part)
        kinds = Counter(
            (replace(example, adjective=adjective("tired")), example.adjective.describes) for example in part
        )
        assert all(
            2 * kinds[frame, kind] == frames[frame] for frame, kind in product(frames, ("animal", "place"))
        )


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another():
    first, again, other = (
        make_corpus(np.random.default_rng(seed), train_size=50, test_size=10) for seed in (3, 3, 5)
    )
    assert first == again
    assert first != other


def test_the_largest_corpus_is_the_whole_grammar():
    rng = np.random.default_rng(0)
    train, _ = make_corpus(rng, train_size=159 * 6 * 2 * 16, test_size=2)
    assert len(set(train)) == 159 * 6 * 2 * 16
    with pytest.raises(
        ValueError, match=r"train_size must be even and at most 30528 for 159 noun pairs, got 30530"
    ):
        make_corpus(rng, train_size=159 * 6 * 2 * 16 + 2, test_size=2)


@pytest.mark.parametrize("sizes", [{"train_size": 3}, {"test_size": 7}, {"train_size": 0}])
def test_an_odd_or_empty_corpus_size_is_named(sizes):
    (name, size), *_ = sizes.items()
    with pytest.raises(ValueError, match=rf"{name} must be .*got {size}"):
        make_corpus(np.random.default_rng(0), **sizes)


def test_english_words_are_unique_and_genders_are_balanced():
    assert len({entry.english for entry in (*ANIMALS, *PLACES, *ADJECTIVES)}) == 56
    assert set(Counter((entry.kind, entry.gender) for entry in (*ANIMALS, *PLACES)).values()) == {10}
    assert set(Counter(entry.describes for entry in ADJECTIVES).values()) == {8}


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(grammar) == (0, 4)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("the animal slept", r"source must read 'the ANIMAL .*got 'the animal slept'"),
        ("the lion crossed the road because it was very tired", r"noun must be one of animal, .*got 'lion'"),
        ("the dog crossed the road because it was very red", r"adjective must be one of tired, .*got 'red'"),
        (
            "the dog ate the road because it was very tired",
            r"verb must be one of cross, crossed, .*got 'ate'",
        ),
        (
            "the road crossed the dog because it was very wide",
            r"subject must be an animal, got the place 'road'",
        ),
        ("the dog crossed the cat because it was very wide", r"object must be a place, got the animal 'cat'"),
        (
            "the dog crossed the road because it was too wide",
            r"source must read '.*very wide', got '.*too wide'",
        ),
        (
            "the dog didn't left the road because it was too wide",
            r"source must read .*leave.*, got .*left",
        ),
    ],
)
def test_the_error_in_a_sentence_outside_the_grammar_is_named(sentence, message):
    with pytest.raises(ValueError, match=message):
        translate(sentence)


def test_a_verb_is_found_by_either_of_its_forms():
    assert verb("leave") == verb("left")

"""The sentences of the trainer use the book's words, and French that agrees with its lexicon."""

import pytest

from glassformer.tasks.lexicon import ADJECTIVES, ANIMALS, adjective, noun, verb

SAMPLE = """([count, heldOut]) => {
  const { sampleSentence, translate, isSentence, isHeldOut } = glassformer.sentences;
  const random = glassformer.seededRandom(3);
  return Array.from({ length: count }, () => {
    const words = sampleSentence(random, { heldOut });
    return { words, french: translate(words), isSentence: isSentence(words), isHeldOut: isHeldOut(words) };
  });
}"""


def french_phrase(words):
    """Translate "the (ADJECTIVE) ANIMAL" by the lexicon."""
    animal = noun(words[-1])
    described = [adjective(words[1]).agree(animal.gender)] if len(words) == 3 else []
    return [*animal.with_article(), *described]


def french_phrases(words):
    """Translate one phrase, or two joined by "and"."""
    if "and" not in words:
        return french_phrase(words)
    place = words.index("and")
    return [*french_phrase(words[:place]), "et", *french_phrase(words[place + 1 :])]


def french_sentence(words):
    place = next(place for place, word in enumerate(words) if is_verb(word))
    negated = words[place - 1] == "didn't"
    subject, object = words[: place - negated], words[place + 1 :]
    auxiliary = "ont" if "and" in subject else "a"
    predicate = ["n'", auxiliary, "pas"] if negated else [auxiliary]
    return [*french_phrases(subject), *predicate, verb(words[place]).participle, *french_phrases(object)]


def is_verb(word):
    return word in {"reach", "reached", "leave", "left", "avoid", "avoided", "choose", "chose"}


@pytest.fixture(scope="module")
def samples(learning):
    return learning(SAMPLE, [400, False]) + learning(SAMPLE, [100, True])


def test_translations_follow_the_lexicon(samples):
    for sample in samples:
        assert [each["word"] for each in sample["french"]] == french_sentence(sample["words"])


def test_samples_are_sentences_of_many_kinds(samples):
    assert all(sample["isSentence"] for sample in samples)
    used = {word for sample in samples for word in sample["words"]}
    assert {animal.english for animal in ANIMALS} | {"didn't", "and"} < used
    assert {each.english for each in ADJECTIVES if each.describes == "animal"} < used
    assert {len(sample["words"]) for sample in samples} >= set(range(5, 14))


def test_no_sequence_of_animals_is_in_both_parts(samples):
    animals = {animal.english for animal in ANIMALS}
    kinds = {}
    for sample in samples:
        sequence = tuple(word for word in sample["words"] if word in animals)
        kinds.setdefault(sequence, set()).add(sample["isHeldOut"])
    assert {len(kind) for kind in kinds.values()} == {1}
    assert {True, False} == set.union(*kinds.values())


def test_french_words_point_to_the_english_words_that_they_translate(learning):
    words = ["the", "tired", "hen", "and", "the", "ant", "didn't", "leave", "the", "shy", "goat"]
    found = learning("(words) => glassformer.sentences.translate(words)", words)
    pairs = [(each["word"], words[each["from"]]) for each in found if each["from"] is not None]
    expected = ["poule hen", "fatiguée tired", "fourmi ant", "quitté leave", "chèvre goat", "timide shy"]
    assert pairs == [tuple(pair.split()) for pair in expected]


@pytest.mark.parametrize(
    "text", ["the hen left", "the hen tired left the ant", "hen left ant", "the hen didn't left the ant"]
)
def test_other_word_orders_are_not_sentences(learning, text):
    assert not learning("(words) => glassformer.sentences.isSentence(words)", text.split())


def test_text_is_read_with_capitals_full_stops_and_typographic_apostrophes(learning):
    read = "(text) => glassformer.sentences.readSentence(text)"
    words = ["the", "hen", "didn't", "leave", "the", "ant"]
    assert learning(read, " The hen didn’t  leave the ant. ") == words


def test_unknown_words_are_named(learning):
    refuse = """(text) => {
      try {
        glassformer.sentences.readSentence(text);
      } catch (error) {
        return error.message;
      }
    }"""
    assert learning(refuse, "the elephant left a hen") == "It doesn’t know “elephant”, “a”."


def test_ids_and_words_are_inverses(learning):
    there_and_back = """() => {
      const { english, french, NUM_SPECIAL_TOKENS, toIds, toFrench } = glassformer.sentences;
      const ids = french.map((_, place) => place + NUM_SPECIAL_TOKENS);
      return [toFrench(ids), french, toIds(english).source, toFrench([2])];
    }"""
    words, french, ids, marks = learning(there_and_back)
    assert words == french
    assert len(set(french)) == len(french)
    assert ids == [*range(3, 3 + len(ids))]
    assert marks == ["·"]

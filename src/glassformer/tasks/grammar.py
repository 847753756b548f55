"""A tiny English-French grammar in which one adjective decides what "it" means.

Every sentence says what an animal did or did not do to a place, "because it was ..." something that only
the animal ("tired") or only the place ("wide") can be. English says "it" either way; French has to choose
between "il" and "elle", by the gender of the noun that is meant. A translator has to find that noun.

Words are what whitespace separates, except that in French an elided word stands by itself with its
apostrophe ("l' animal n' a pas ... parce qu' il"), so that articles, nouns and pronouns are always words of
their own. The English "didn't" is one word.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from glassformer.tasks.lexicon import (
    ADJECTIVES,
    ANIMALS,
    PLACES,
    VERBS,
    Adjective,
    Noun,
    Verb,
    adjective,
    noun,
    verb,
)
from glassformer.validation import require_choice, require_probability, require_whole

Words = tuple[str, ...]

_SOURCE = re.compile(
    r"the (?P<subject>\w+) (?P<negation>didn't )?(?P<verb>\w+) the (?P<object>\w+)"
    r" because it was (?:too|very) (?P<adjective>\w+)"
)


def split_words(sentence: str) -> Words:
    """Cut a sentence into words: at spaces, and after an elided French word.

    >>> split_words("l'animal n'a pas")
    ("l'", 'animal', "n'", 'a', 'pas')
    """
    return tuple(re.sub(r"\b(l|n|qu)'", r"\1' ", sentence).split())


def join_words(words: Iterable[str]) -> str:
    """Write words as a sentence: the inverse of `split_words`."""
    return " ".join(words).replace("' ", "'")


@dataclass(frozen=True)
class Example:
    """A sentence and its translation, both derived from the choices that make it.

    To ask "what if", replace a choice, and the translation follows:

    >>> from dataclasses import replace
    >>> join_words(replace(BOOK_EXAMPLE, adjective=adjective("wide")).target)
    "l'animal n'a pas traversé la rue parce qu'elle était trop large"

    Attributes:
        subject: the animal.
        verb: what it did to the place, or did not.
        object: the place.
        adjective: what "it" was; it decides which of the two nouns "it" is.
        negated: whether the animal did not. A negated deed has "too", a plain one "very".

    Raises:
        ValueError: the subject is no animal, or the object no place.
    """

    subject: Noun
    verb: Verb
    object: Noun
    adjective: Adjective
    negated: bool

    def __post_init__(self) -> None:
        if self.subject.kind != "animal":
            raise ValueError(
                f"subject must be an animal, got the {self.subject.kind} {self.subject.english!r}"
            )
        if self.object.kind != "place":
            raise ValueError(f"object must be a place, got the {self.object.kind} {self.object.english!r}")

    @property
    def antecedent(self) -> Noun:
        """The noun that "it" means."""
        return self.subject if self.adjective.describes == "animal" else self.object

    @property
    def distractor(self) -> Noun:
        """The noun that "it" does not mean."""
        return self.object if self.adjective.describes == "animal" else self.subject

    @property
    def pronoun(self) -> Literal["il", "elle"]:
        """The French word for "it"."""
        return "il" if self.antecedent.gender == "masculine" else "elle"

    @property
    def source(self) -> Words:
        """The English words."""
        deed = ("didn't", self.verb.infinitive) if self.negated else (self.verb.past,)
        reason = ("because", "it", "was", "too" if self.negated else "very", self.adjective.english)
        return ("the", self.subject.english, *deed, "the", self.object.english, *reason)

    @property
    def target(self) -> Words:
        """The French words."""
        auxiliary = ("n'", "a", "pas") if self.negated else ("a",)
        degree = "trop" if self.negated else "très"
        quality = self.adjective.agree(self.antecedent.gender)
        reason = ("parce", "qu'", self.pronoun, "était", degree, quality)
        return (
            *self.subject.with_article(),
            *auxiliary,
            self.verb.participle,
            *self.object.with_article(),
            *reason,
        )

    @property
    def source_pronoun_position(self) -> int:
        """Where "it" stands among the English words."""
        return self.source.index("it")

    @property
    def target_pronoun_position(self) -> int:
        """Where "il" or "elle" stands among the French words."""
        return self.target.index(self.pronoun)

    @property
    def antecedent_position(self) -> int:
        """Where the noun that "it" means stands among the English words."""
        return self.source.index(self.antecedent.english)

    @property
    def distractor_position(self) -> int:
        """Where the other noun stands among the English words."""
        return self.source.index(self.distractor.english)


def parse(source: str | Iterable[str]) -> Example:
    """Read an English sentence of the grammar back into the choices that make it.

    Raises:
        ValueError: the grammar does not make this sentence; the message names the first thing wrong.
    """
    sentence = source if isinstance(source, str) else join_words(source)
    found = _SOURCE.fullmatch(sentence)
    if found is None:
        raise ValueError(
            "source must read 'the ANIMAL [didn't] VERB the PLACE because it was too|very ADJECTIVE', "
            f"got {sentence!r}"
        )
    example = Example(
        subject=noun(found["subject"]),
        verb=verb(found["verb"]),
        object=noun(found["object"]),
        adjective=adjective(found["adjective"]),
        negated=found["negation"] is not None,
    )
    if (wanted := join_words(example.source)) != sentence:
        raise ValueError(f"source must read {wanted!r}, got {sentence!r}")
    return example


def translate(source: str | Iterable[str]) -> Words:
    """Translate an English sentence of the grammar into French words, by rule: the gold standard.

    Raises:
        ValueError: the grammar does not make this sentence.
    """
    return parse(source).target


def make_corpus(
    rng: np.random.Generator,
    *,
    train_size: int = 4000,
    test_size: int = 400,
    held_out: float = 0.2,
    genders: Literal["different", "any"] = "different",
) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """Draw sentences for training and for testing that share no pair of nouns, none of them twice.

    Sentences come in twos that differ in nothing but the adjective. The pair of nouns of `BOOK_EXAMPLE` is
    always held out for testing.

    Args:
        rng: where chance comes from; the same state gives the same corpus.
        train_size: how many sentences to train on, an even number.
        test_size: how many sentences to test on, an even number.
        held_out: which share of the noun pairs is kept for testing.
        genders: "different" draws only nouns of different gender, so that whoever guesses one pronoun, or
            always the subject's, or always the object's, is right half the time. But then either noun gives
            away the gender of the other; with "any", each has to be read for itself.

    Raises:
        ValueError: a size is odd, or more than the noun pairs can make.
    """
    require_probability(held_out=held_out)
    require_choice(("different", "any"), genders=genders)
    pairs = [
        (animal, place)
        for animal, place in product(ANIMALS, PLACES)
        if genders == "any" or animal.gender != place.gender
    ]
    book_pair = (BOOK_EXAMPLE.subject, BOOK_EXAMPLE.object)
    pairs.remove(book_pair)
    rng.shuffle(pairs)
    count = round(held_out * len(pairs))
    test_pairs, train_pairs = [book_pair, *pairs[:count]], pairs[count:]
    return _draw(rng, train_pairs, train_size=train_size), _draw(rng, test_pairs, test_size=test_size)


def _draw(rng: np.random.Generator, pairs: list[tuple[Noun, Noun]], **sizes: int) -> tuple[Example, ...]:
    """Draw different sentences with these nouns, in twos that differ in nothing but the adjective."""
    of_animals = [choice for choice in ADJECTIVES if choice.describes == "animal"]
    of_places = [choice for choice in ADJECTIVES if choice.describes == "place"]
    twos = list(product(pairs, VERBS, (False, True), zip(of_animals, of_places, strict=True)))
    require_whole(**sizes)
    (name, size), *_ = sizes.items()
    if size % 2 or size > 2 * len(twos):
        raise ValueError(
            f"{name} must be even and at most {2 * len(twos)} for {len(pairs)} noun pairs, got {size}"
        )
    chosen = [twos[index] for index in rng.choice(len(twos), size // 2, replace=False)]
    examples = [
        Example(animal, verb, place, adjective, negated)
        for (animal, place), verb, negated, adjectives in chosen
        for adjective in adjectives
    ]
    return tuple(examples[index] for index in rng.permutation(size))


BOOK_EXAMPLE = parse("the animal didn't cross the street because it was too tired")

"""A tiny English-French grammar in which one adjective decides what "it" means.

In every sentence, an animal did or did not do something to a place, "because it was" followed by an adjective
that fits only the animal ("tired") or only the place ("wide"). English uses "it" in both cases. French uses
"il" or "elle", depending on the gender of the antecedent, so a translator has to find that noun.

Words are separated by spaces. In French, an elided word is a word of its own, with its apostrophe ("l' animal
n' a pas ... parce qu' il"), so that articles, nouns and pronouns are always separate words. The English
"didn't" is one word.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np

from glassformer.tasks import lexicon
from glassformer.tasks.lexicon import ADJECTIVES, ANIMALS, PLACES, VERBS, Adjective, Noun, Verb
from glassformer.validation import require_choice, require_positive_int, require_probability

Words = tuple[str, ...]

_SOURCE = re.compile(
    r"the (?P<subject>\w+) (?P<negation>didn't )?(?P<verb>\w+) the (?P<object>\w+)"
    r" because it was (?:too|very) (?P<adjective>\w+)"
)


def split_words(sentence: str) -> Words:
    """Split a sentence into words: at spaces, and after an elided French word.

    >>> split_words("l'animal n'a pas")
    ("l'", 'animal', "n'", 'a', 'pas')
    """
    return tuple(re.sub(r"\b(l|n|qu)'", r"\1' ", sentence).split())


def join_words(words: Iterable[str]) -> str:
    """Join words into a sentence: the inverse of `split_words`."""
    return " ".join(words).replace("' ", "'")


@dataclass(frozen=True)
class Example:
    """A sentence and its translation, both derived from the chosen words.

    If you replace a word, the translation changes with it:

    >>> from dataclasses import replace
    >>> join_words(replace(BOOK_EXAMPLE, adjective=lexicon.adjective("wide")).target)
    "l'animal n'a pas traversé la rue parce qu'elle était trop large"

    Attributes:
        subject: animal.
        verb: verb between subject and object.
        object: place.
        adjective: adjective of "it", which decides whether "it" is the subject or the object.
        negated: True for "didn't ... too", False for "... very".

    Raises:
        ValueError: the subject is not an animal, or the object is not a place.
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
        """The noun that "it" refers to."""
        return self.subject if self.adjective.describes == "animal" else self.object

    @property
    def distractor(self) -> Noun:
        """The noun that "it" does not refer to."""
        return self.object if self.adjective.describes == "animal" else self.subject

    @property
    def pronoun(self) -> Literal["il", "elle"]:
        """The French pronoun for "it"."""
        return "il" if self.antecedent.gender == "masculine" else "elle"

    @property
    def source(self) -> Words:
        """The English words."""
        predicate = ("didn't", self.verb.infinitive) if self.negated else (self.verb.past,)
        reason = ("because", "it", "was", "too" if self.negated else "very", self.adjective.english)
        return ("the", self.subject.english, *predicate, "the", self.object.english, *reason)

    @property
    def target(self) -> Words:
        """The French words."""
        auxiliary = ("n'", "a", "pas") if self.negated else ("a",)
        degree = "trop" if self.negated else "très"
        adjective = self.adjective.agree(self.antecedent.gender)
        reason = ("parce", "qu'", self.pronoun, "était", degree, adjective)
        return (
            *self.subject.with_article(),
            *auxiliary,
            self.verb.participle,
            *self.object.with_article(),
            *reason,
        )

    @property
    def source_pronoun_position(self) -> int:
        """Position of "it" in the English sentence."""
        return self.source.index("it")

    @property
    def target_pronoun_position(self) -> int:
        """Position of "il" or "elle" in the French sentence."""
        return self.target.index(self.pronoun)

    @property
    def antecedent_position(self) -> int:
        """Position of the antecedent in the English sentence."""
        return self.source.index(self.antecedent.english)

    @property
    def distractor_position(self) -> int:
        """Position of the distractor in the English sentence."""
        return self.source.index(self.distractor.english)


def swaps(example: Example, part: Literal["adjective", "antecedent", "distractor"]) -> tuple[Example, ...]:
    """List the sentences that differ from an example in one swapped word.

    >>> [changed.adjective.english for changed in swaps(BOOK_EXAMPLE, "adjective")][:3]
    ['wide', 'narrow', 'long']

    Args:
        example: sentence to change.
        part: word to swap. "adjective" takes every adjective that makes "it" refer to the other noun.
            "antecedent" and "distractor" take every noun of the same kind and the other gender.
    """
    require_choice(("adjective", "antecedent", "distractor"), part=part)
    if part == "adjective":
        described = example.adjective.describes
        return tuple(replace(example, adjective=new) for new in ADJECTIVES if new.describes != described)
    noun = example.antecedent if part == "antecedent" else example.distractor
    if noun.kind == "animal":
        return tuple(replace(example, subject=new) for new in ANIMALS if new.gender != noun.gender)
    return tuple(replace(example, object=new) for new in PLACES if new.gender != noun.gender)


def parse(source: str | Iterable[str]) -> Example:
    """Parse an English sentence of the grammar.

    Raises:
        ValueError: the sentence is not in the grammar; the message names the first error.
    """
    sentence = source if isinstance(source, str) else join_words(source)
    found = _SOURCE.fullmatch(sentence)
    if found is None:
        raise ValueError(
            "source must read 'the ANIMAL [didn't] VERB the PLACE because it was too|very ADJECTIVE', "
            f"got {sentence!r}"
        )
    example = Example(
        subject=lexicon.noun(found["subject"]),
        verb=lexicon.verb(found["verb"]),
        object=lexicon.noun(found["object"]),
        adjective=lexicon.adjective(found["adjective"]),
        negated=found["negation"] is not None,
    )
    if (expected := join_words(example.source)) != sentence:
        raise ValueError(f"source must read {expected!r}, got {sentence!r}")
    return example


def translate(source: str | Iterable[str]) -> Words:
    """Translate an English sentence of the grammar into French words by rule.

    Raises:
        ValueError: the sentence is not in the grammar.
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
    """Sample distinct training and test sentences that share no pair of nouns.

    Sentences come in pairs that differ only in the adjective. The nouns of `BOOK_EXAMPLE` are always held out
    for testing.

    Args:
        rng: random number generator; the same state gives the same corpus.
        train_size: number of training sentences, an even number.
        test_size: number of test sentences, an even number.
        held_out: fraction of the noun pairs held out for testing.
        genders: "different" combines only nouns of different gender. A constant pronoun, the subject's
            pronoun and the object's pronoun are then each right half the time, but each noun reveals the
            gender of the other. With "any", each gender has to be learned.

    Raises:
        ValueError: a size is odd or exceeds the number of possible sentences.
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
    """Sample distinct sentences with these nouns, in pairs that differ only in the adjective."""
    of_animals = [choice for choice in ADJECTIVES if choice.describes == "animal"]
    of_places = [choice for choice in ADJECTIVES if choice.describes == "place"]
    candidates = list(product(pairs, VERBS, (False, True), zip(of_animals, of_places, strict=True)))
    require_positive_int(**sizes)
    (name, size), *_ = sizes.items()
    if size % 2 or size > 2 * len(candidates):
        raise ValueError(
            f"{name} must be even and at most {2 * len(candidates)} for {len(pairs)} noun pairs, got {size}"
        )
    drawn = [candidates[index] for index in rng.choice(len(candidates), size // 2, replace=False)]
    examples = [
        Example(animal, verb, place, adjective, negated)
        for (animal, place), verb, negated, adjectives in drawn
        for adjective in adjectives
    ]
    return tuple(examples[index] for index in rng.permutation(size))


BOOK_EXAMPLE = parse("the animal didn't cross the street because it was too tired")

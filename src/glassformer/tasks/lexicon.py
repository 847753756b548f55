"""The words of the grammar: animals, places, verbs, and adjectives that fit one or the other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

Gender = Literal["masculine", "feminine"]
Kind = Literal["animal", "place"]
Entry = TypeVar("Entry")

_ELIDING = tuple("aâeéèêhiîoôuy")  # including h, which is usually mute; `Noun.aspirated` marks the exceptions


@dataclass(frozen=True)
class Noun:
    """A noun in English and French, with its gender in French.

    Attributes:
        english: English word.
        french: French word.
        gender: grammatical gender, which decides the article, the pronoun and the form of the adjective.
        kind: animal or place, which decides the adjectives that fit.
        aspirated: True for an aspirated h, before which "le" is not elided.
    """

    english: str
    french: str
    gender: Gender
    kind: Kind
    aspirated: bool = False

    def with_article(self) -> tuple[str, str]:
        """Return the article le, la or l', and the noun."""
        if self.french.startswith(_ELIDING) and not self.aspirated:
            return "l'", self.french
        return "le" if self.gender == "masculine" else "la", self.french


@dataclass(frozen=True)
class Adjective:
    """An adjective that fits only animals or only places.

    Attributes:
        english: English word.
        masculine: French masculine form.
        feminine: French feminine form.
        describes: kind of noun that the adjective fits.
    """

    english: str
    masculine: str
    feminine: str
    describes: Kind

    def agree(self, gender: Gender) -> str:
        """Return the French form that agrees with a gender."""
        return self.masculine if gender == "masculine" else self.feminine


@dataclass(frozen=True)
class Verb:
    """A verb in the forms of the grammar: "cross" after "didn't", "crossed", and "traversé" after "a"."""

    infinitive: str
    past: str
    participle: str


ANIMALS = (
    Noun("animal", "animal", "masculine", "animal"),
    Noun("dog", "chien", "masculine", "animal"),
    Noun("cat", "chat", "masculine", "animal"),
    Noun("horse", "cheval", "masculine", "animal"),
    Noun("donkey", "âne", "masculine", "animal"),
    Noun("squirrel", "écureuil", "masculine", "animal"),
    Noun("bird", "oiseau", "masculine", "animal"),
    Noun("owl", "hibou", "masculine", "animal", aspirated=True),
    Noun("rabbit", "lapin", "masculine", "animal"),
    Noun("fox", "renard", "masculine", "animal"),
    Noun("mouse", "souris", "feminine", "animal"),
    Noun("cow", "vache", "feminine", "animal"),
    Noun("goat", "chèvre", "feminine", "animal"),
    Noun("frog", "grenouille", "feminine", "animal"),
    Noun("turtle", "tortue", "feminine", "animal"),
    Noun("bee", "abeille", "feminine", "animal"),
    Noun("spider", "araignée", "feminine", "animal"),
    Noun("swallow", "hirondelle", "feminine", "animal"),
    Noun("ant", "fourmi", "feminine", "animal"),
    Noun("hen", "poule", "feminine", "animal"),
)

PLACES = (
    Noun("bridge", "pont", "masculine", "place"),
    Noun("field", "champ", "masculine", "place"),
    Noun("path", "chemin", "masculine", "place"),
    Noun("garden", "jardin", "masculine", "place"),
    Noun("tunnel", "tunnel", "masculine", "place"),
    Noun("park", "parc", "masculine", "place"),
    Noun("canal", "canal", "masculine", "place"),
    Noun("corridor", "couloir", "masculine", "place"),
    Noun("staircase", "escalier", "masculine", "place"),
    Noun("hamlet", "hameau", "masculine", "place", aspirated=True),
    Noun("street", "rue", "feminine", "place"),
    Noun("road", "route", "feminine", "place"),
    Noun("river", "rivière", "feminine", "place"),
    Noun("square", "place", "feminine", "place"),
    Noun("forest", "forêt", "feminine", "place"),
    Noun("valley", "vallée", "feminine", "place"),
    Noun("beach", "plage", "feminine", "place"),
    Noun("hill", "colline", "feminine", "place"),
    Noun("avenue", "avenue", "feminine", "place"),
    Noun("island", "île", "feminine", "place"),
)

VERBS = (
    Verb("cross", "crossed", "traversé"),
    Verb("reach", "reached", "atteint"),
    Verb("leave", "left", "quitté"),
    Verb("avoid", "avoided", "évité"),
    Verb("explore", "explored", "exploré"),
    Verb("choose", "chose", "choisi"),
)

ADJECTIVES = (
    Adjective("tired", "fatigué", "fatiguée", "animal"),
    Adjective("hungry", "affamé", "affamée", "animal"),
    Adjective("lazy", "paresseux", "paresseuse", "animal"),
    Adjective("curious", "curieux", "curieuse", "animal"),
    Adjective("worried", "inquiet", "inquiète", "animal"),
    Adjective("proud", "fier", "fière", "animal"),
    Adjective("shy", "timide", "timide", "animal"),
    Adjective("clumsy", "maladroit", "maladroite", "animal"),
    Adjective("wide", "large", "large", "place"),
    Adjective("narrow", "étroit", "étroite", "place"),
    Adjective("long", "long", "longue", "place"),
    Adjective("deep", "profond", "profonde", "place"),
    Adjective("steep", "raide", "raide", "place"),
    Adjective("rocky", "rocheux", "rocheuse", "place"),
    Adjective("slippery", "glissant", "glissante", "place"),
    Adjective("crowded", "bondé", "bondée", "place"),
)


def noun(english: str) -> Noun:
    """Return the noun with this English word; a ValueError lists the known ones."""
    return _find(english, {entry.english: entry for entry in (*ANIMALS, *PLACES)}, "noun")


def adjective(english: str) -> Adjective:
    """Return the adjective with this English word; a ValueError lists the known ones."""
    return _find(english, {entry.english: entry for entry in ADJECTIVES}, "adjective")


def verb(english: str) -> Verb:
    """Return the verb with this infinitive or past form; a ValueError lists the known ones."""
    return _find(english, {form: entry for entry in VERBS for form in (entry.infinitive, entry.past)}, "verb")


def _find(word: str, entries: Mapping[str, Entry], part: str) -> Entry:
    if word not in entries:
        raise ValueError(f"{part} must be one of {', '.join(entries)}, got {word!r}")
    return entries[word]

"""Parallel corpora: sentences, their translations, and splits that never change."""

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from glassformer.data.downloads import read_pinned
from glassformer.data.sources import SOURCES, Source
from glassformer.validation import require_choice, require_whole

_SPLIT_SEED = 1
_MULTI30K_TESTS = {
    "test2016": "test_2016_flickr",
    "test2017": "test_2017_flickr",
    "mscoco2017": "test_2017_mscoco",
    "test2018": "test_2018_flickr",
}


class Sentences(NamedTuple):
    """Sentences of one language and, for each, its translations into another.

    Attributes:
        sources: what is translated.
        references: for each source, one translation or more.
    """

    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    def pairs(self) -> tuple[list[str], list[str]]:
        """Return every source with each of its references, side by side: what a model trains on."""
        together = [
            (source, target)
            for source, references in zip(self.sources, self.references, strict=True)
            for target in references
        ]
        return [source for source, _ in together], [target for _, target in together]


@dataclass(frozen=True)
class Corpus:
    """Sentences in two languages, split for training and scoring.

    Attributes:
        name: as in `load_corpus`.
        source_language: two letters, such as "en".
        target_language: two letters, such as "fr".
        licence: the terms it may be used on.
        train: what a model learns from.
        validation: what a training is watched and stopped by.
        tests: what a finished model is scored on, by name.
    """

    name: str
    source_language: str
    target_language: str
    licence: str
    train: Sentences
    validation: Sentences
    tests: Mapping[str, Sentences]


def load_corpus(
    name: str,
    *,
    folder: Path | str | None = None,
    cache: Path | str | None = None,
    sources: Mapping[str, Source] = SOURCES,
) -> Corpus:
    """Load a corpus: from a local folder, from the cache, or from the network on first use.

    "tatoeba-en-fr" holds everyday sentences that volunteers translated. Its test has 2,500 English sentences
    and its validation 1,000, each with every translation there is. No English sentence of either is in train,
    whatever its case and punctuation; a French one may be, as another sentence's translation.

    "multi30k-en-de" and "multi30k-en-fr" hold captions of photographs (Elliott et al., 2016 and 2017), split
    as published, for non-commercial research and education only.

    Accents are composed (NFC) and every run of white space is one plain space. Tatoeba's typographic
    apostrophes are plain; Multi30k's stay, so that published scores can be compared.

    Args:
        name: "tatoeba-en-fr", "multi30k-en-de" or "multi30k-en-fr".
        folder: a local folder that stands in for the network; without it, the environment's GLASSFORMER_DATA.
            It holds "tatoeba_en_fr/fra.txt.gz" or "multi30k/train.en.gz" and so on, or the plain files.
        cache: where downloads are kept; without it, the user's cache folder.
        sources: the files of each corpus, with their checksums and addresses.

    Raises:
        ValueError: there is no corpus of this name.
        DataFileError: a file is missing, damaged, another version or out of reach (an OSError).
    """
    require_choice(tuple(sources), name=name)
    source = sources[name]
    terms = f"{name}: {source.licence}. {source.attribution}."
    texts = read_pinned(source.files, folder=folder, cache=cache, terms=terms)
    lines = {file: text.removesuffix("\n").split("\n") for file, text in texts.items()}
    collection, source_language, target_language = name.split("-")
    if collection == "tatoeba":
        train, validation, tests = _split_tatoeba(lines["fra.txt"])
    else:
        train, validation, tests = _published_splits(lines, source_language, target_language)
    return Corpus(name, source_language, target_language, source.licence, train, validation, tests)


def _split_tatoeba(lines: list[str]) -> tuple[Sentences, Sentences, dict[str, Sentences]]:
    columns = (line.split("\t") for line in lines)
    pairs = ((plain_apostrophes(tidy(source)), plain_apostrophes(tidy(target))) for source, target in columns)
    train, validation, test = split_pairs(pairs, num_test=2500, num_validation=1000, seed=_SPLIT_SEED)
    return train, validation, {"test": test}


def _published_splits(
    lines: Mapping[str, list[str]], source_language: str, target_language: str
) -> tuple[Sentences, Sentences, dict[str, Sentences]]:
    def sentences(split: str) -> Sentences:
        sources = tuple(map(tidy, lines[f"{split}.{source_language}"]))
        return Sentences(sources, tuple((tidy(target),) for target in lines[f"{split}.{target_language}"]))

    tests = {test: sentences(split) for test, split in _MULTI30K_TESTS.items()}
    return sentences("train"), sentences("val"), tests


def tidy(text: str) -> str:
    """Compose accents (NFC), and make every run of white space, no-break spaces too, one plain space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def plain_apostrophes(text: str) -> str:
    """Write the typographic apostrophe as the keyboard does."""
    return text.replace("’", "'")


def sentence_key(sentence: str) -> str:
    """Return the letters and digits of a sentence, without case: copies that differ in the rest share it."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    return "".join(character for character in folded if character.isalnum())


def split_pairs(
    pairs: Iterable[tuple[str, str]], *, num_test: int, num_validation: int, seed: int
) -> tuple[Sentences, Sentences, Sentences]:
    """Split pairs by their source, so that no source of test or validation has a copy in train.

    Pairs whose sources share a `sentence_key` stay together. Groups are drawn in the order of a hash of the
    seed and the key, which is the same on every machine and in every version. A group that is drawn counts
    as one sentence, its most frequent source, with every translation of the group as a reference.

    Args:
        pairs: sentences and their translations; those that come twice count once.
        num_test: how many sentences the test holds.
        num_validation: how many sentences the validation holds.
        seed: other seeds draw other sentences.

    Returns:
        Train, validation and test.

    Raises:
        ValueError: there are too few sentences to leave any for train.
    """
    require_whole(num_test=num_test, num_validation=num_validation)
    groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for source, target in dict.fromkeys(pairs):
        groups[sentence_key(source)].append((source, target))
    if len(groups) <= num_test + num_validation:
        raise ValueError(
            f"pairs must hold more than num_test + num_validation ({num_test + num_validation}) different "
            f"sentences, got {len(groups)}"
        )
    drawn = sorted(groups, key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).digest())
    test = [groups.pop(key) for key in drawn[:num_test]]
    validation = [groups.pop(key) for key in drawn[num_test : num_test + num_validation]]
    references: dict[str, list[str]] = defaultdict(list)
    for group in groups.values():
        for source, target in group:
            references[source].append(target)
    train = Sentences(tuple(references), tuple(map(tuple, references.values())))
    return train, _one_source_each(validation), _one_source_each(test)


def _one_source_each(groups: list[list[tuple[str, str]]]) -> Sentences:
    sources = [Counter(source for source, _ in group).most_common(1)[0][0] for group in groups]
    references = [tuple(dict.fromkeys(target for _, target in group)) for group in groups]
    return Sentences(tuple(sources), tuple(references))

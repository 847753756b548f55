"""Parallel corpora: sentences, their translations, and fixed splits."""

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from glassformer.data.downloads import read_pinned
from glassformer.data.sources import SOURCES, Source
from glassformer.validation import require_choice, require_positive_int

_SPLIT_SEED = 1
_MULTI30K_TESTS = {
    "test2016": "test_2016_flickr",
    "test2017": "test_2017_flickr",
    "mscoco2017": "test_2017_mscoco",
    "test2018": "test_2018_flickr",
}


class Sentences(NamedTuple):
    """Source sentences with their human translations.

    Attributes:
        sources: sentences to translate.
        references: one or more translations per source.
    """

    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    def pairs(self) -> tuple[list[str], list[str]]:
        """Return the sources and targets of all pairs: each source with each of its references."""
        pairs = [
            (source, target)
            for source, references in zip(self.sources, self.references, strict=True)
            for target in references
        ]
        return [source for source, _ in pairs], [target for _, target in pairs]


@dataclass(frozen=True)
class Corpus:
    """A parallel corpus, split for training, validation and testing.

    Attributes:
        name: name as in `load_corpus`.
        source_language: two-letter code, such as "en".
        target_language: two-letter code, such as "fr".
        licence: terms of use.
        train: training sentences.
        validation: validation sentences.
        test_sets: test sets by name.
    """

    name: str
    source_language: str
    target_language: str
    licence: str
    train: Sentences
    validation: Sentences
    test_sets: Mapping[str, Sentences]


def load_corpus(
    name: str,
    *,
    folder: Path | str | None = None,
    cache: Path | str | None = None,
    sources: Mapping[str, Source] = SOURCES,
) -> Corpus:
    """Load a corpus from a local folder, from the cache, or, on first use, from the network.

    "tatoeba-en-fr" holds everyday sentences translated by volunteers. Its test set has 2,500 English
    sentences and its validation set 1,000, each with all of its translations. No English sentence of either
    is in the training set, ignoring case and punctuation. A French sentence may be, as the translation of
    another sentence.

    "multi30k-en-de" and "multi30k-en-fr" hold captions of photographs (Elliott et al., 2016 and 2017) with
    the published splits, for non-commercial research and education only.

    Accents are composed (NFC), and white space is normalised. Typographic apostrophes become plain ones in
    Tatoeba but stay in Multi30k, so that scores are comparable with published ones.

    Args:
        name: "tatoeba-en-fr", "multi30k-en-de" or "multi30k-en-fr".
        folder: local folder to read instead of downloading; by default, that in GLASSFORMER_DATA, if set. It
            contains "tatoeba_en_fr/fra.txt.gz" or "multi30k/train.en.gz" and so on, or the unpacked files.
        cache: folder for downloads; by default the user's cache folder.
        sources: source of each corpus, by name.

    Raises:
        ValueError: there is no corpus with this name.
        DataFileError: a file is missing, damaged, of another version or cannot be downloaded.
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
    pairs = (
        (plain_apostrophes(normalize_text(source)), plain_apostrophes(normalize_text(target)))
        for source, target in columns
    )
    train, validation, test = split_pairs(pairs, num_test=2500, num_validation=1000, seed=_SPLIT_SEED)
    return train, validation, {"test": test}


def _published_splits(
    lines: Mapping[str, list[str]], source_language: str, target_language: str
) -> tuple[Sentences, Sentences, dict[str, Sentences]]:
    def sentences(split: str) -> Sentences:
        sources = tuple(map(normalize_text, lines[f"{split}.{source_language}"]))
        return Sentences(
            sources, tuple((normalize_text(target),) for target in lines[f"{split}.{target_language}"])
        )

    tests = {test: sentences(split) for test, split in _MULTI30K_TESTS.items()}
    return sentences("train"), sentences("val"), tests


def normalize_text(text: str) -> str:
    """Compose accents (NFC), and replace runs of white space, including no-break spaces, with one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def plain_apostrophes(text: str) -> str:
    """Replace typographic apostrophes with plain ones."""
    return text.replace("’", "'")


def sentence_key(sentence: str) -> str:
    """Return the letters and digits of a sentence in lower case, by which near-copies are found."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    return "".join(character for character in folded if character.isalnum())


def split_pairs(
    pairs: Iterable[tuple[str, str]], *, num_test: int, num_validation: int, seed: int
) -> tuple[Sentences, Sentences, Sentences]:
    """Split pairs by their source, so that no test or validation source has a near-copy in the training set.

    Pairs whose sources share a `sentence_key` form a group. Groups are drawn in the order of a hash of the
    seed and the key, which is the same on every machine and in every version. A drawn group counts as one
    sentence: its most frequent source, with all translations of the group as references.

    Args:
        pairs: sentences and their translations; repeated pairs count once.
        num_test: number of test sentences.
        num_validation: number of validation sentences.
        seed: seed for the split.

    Returns:
        Training, validation and test sentences.

    Raises:
        ValueError: there are too few sentences to leave any for training.
    """
    require_positive_int(num_test=num_test, num_validation=num_validation)
    groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for source, target in dict.fromkeys(pairs):
        groups[sentence_key(source)].append((source, target))
    if len(groups) <= num_test + num_validation:
        raise ValueError(
            f"pairs must have more than num_test + num_validation ({num_test + num_validation}) different "
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

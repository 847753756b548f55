"""Find test sentences that overlap with the training sentences, so that a score on them measures memory."""

import re
from collections.abc import Iterable, Iterator, Sequence

from glassformer.data.corpora import Sentences

Words = tuple[str, ...]

_ANY = "*"  # not a word: stands for any one word


def find_neighbours(sentences: Iterable[str], others: Iterable[str]) -> list[bool]:
    """Find the sentences that equal one of the others up to one word.

    One word may be replaced, inserted or deleted; case and punctuation do not count. The time grows with the
    total number of words, not with the number of pairs: two sentences are neighbours if and only if they have
    a common variant in which at most one word is deleted or replaced by a wildcard.

    Args:
        sentences: sentences to test.
        others: sentences to compare them with.

    Returns:
        For each sentence, True if it is within one word of any of the others.
    """
    known = [set[Words](), set[Words](), set[Words]()]
    for words in map(_words, others):
        known[0].add(words)
        known[1].update(_replaced(words))
        known[2].update(_shortened(words))
    return [_is_near(_words(sentence), *known) for sentence in sentences]


def find_repeated(references: Iterable[Sequence[str]], others: Iterable[str]) -> list[bool]:
    """Find the sentences one of whose references is among the others, up to case and punctuation.

    Args:
        references: references of each sentence.
        others: sentences to compare them with, such as the targets of a training set.
    """
    known = set(map(_words, others))
    return [any(_words(reference) in known for reference in choices) for choices in references]


def find_leaks(test: Sentences, train: Sentences) -> list[bool]:
    """Find the test sentences that the training set nearly contains.

    Returns:
        For each test sentence, True if its source is within one word of a training source, or if one of its
        references is a training target.
    """
    near = find_neighbours(test.sources, train.sources)
    targets = (target for choices in train.references for target in choices)
    repeated = find_repeated(test.references, targets)
    return [source or target for source, target in zip(near, repeated, strict=True)]


def _words(sentence: str) -> Words:
    return tuple(re.findall(r"\w+", sentence.lower()))


def _replaced(words: Words) -> Iterator[Words]:
    return ((*words[:index], _ANY, *words[index + 1 :]) for index in range(len(words)))


def _shortened(words: Words) -> Iterator[Words]:
    return ((*words[:index], *words[index + 1 :]) for index in range(len(words)))


def _is_near(words: Words, equal: set[Words], replaced: set[Words], shortened: set[Words]) -> bool:
    return (
        words in equal
        or words in shortened
        or any(variant in replaced for variant in _replaced(words))
        or any(variant in equal for variant in _shortened(words))
    )

"""Scores of translations: BLEU, chrF and exact match."""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacremoses import MosesPunctNormalizer, MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes

from glassformer.validation import require_choice, require_positive_int


class Score(NamedTuple):
    """A score, and the signature of how it was computed.

    Attributes:
        value: score from 0 to 100; higher is better.
        signature: settings of the metric, in sacreBLEU's notation; only scores with the same signature are
            comparable.
    """

    value: float
    signature: str


def exact_match(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Compute the fraction of translations that equal their reference.

    Raises:
        ValueError: translations and references differ in number, or there are none.
    """
    _require_same_number(translations, references)
    same = [tuple(one) == tuple(other) for one, other in zip(translations, references, strict=True)]
    return sum(same) / len(same)


def bleu(
    translations: Sequence[str], references: Sequence[Sequence[str]], *, max_ngram_order: int = 4
) -> Score:
    """Compute BLEU of plain, cased text (Papineni et al., 2002) with sacreBLEU (Post, 2018).

    BLEU is computed over all sentences together: the geometric mean of the n-gram precisions for n from 1 to
    ``max_ngram_order``, times the brevity penalty exp(1 − reference length / translation length) if that is
    below 1.

    Args:
        translations: translations as plain text.
        references: one or more references per translation, as plain text; their number may vary.
        max_ngram_order: maximum length of the n-grams; the standard is 4.

    Raises:
        ValueError: translations and references differ in number, there are none, or a translation has no
            reference.
    """
    require_positive_int(max_ngram_order=max_ngram_order)
    metric = BLEU(max_ngram_order=max_ngram_order)
    score = _score_corpus(metric, translations, references)
    if max_ngram_order == 4:
        return score
    return Score(score.value, f"{score.signature}|order:{max_ngram_order}")


def moses_bleu(translations: Sequence[str], references: Sequence[Sequence[str]], *, language: str) -> Score:
    """Compute BLEU of lower-cased Moses tokens, as published for Multi30k.

    Wu et al. (2021) train on text that is normalised, lower-cased and tokenised, merge subwords, and score
    with fairseq: BLEU of order 4 over the tokens of all sentences, without smoothing, as in
    Moses' multi-bleu.perl. Here `moses_tokenize` converts plain text to that form first. The references equal
    the published ones token for token: 12,103 tokens for test2016 in German, as their log reports. Two
    differences remain. Their translations are scored in the tokens that the model generated, while ours are
    detokenised and tokenised again. And fairseq counts a reference token outside the vocabulary as missed.

    Args:
        translations: translations as plain text.
        references: references as in `bleu`.
        language: two-letter code of the language of both.

    Raises:
        ValueError: as in `bleu`, or Moses does not support the language.
    """
    _require_references(translations, references)
    own_tokens = moses_tokenize(translations, language=language)
    their_tokens = [moses_tokenize(one, language=language) for one in references]
    metric = BLEU(lowercase=True, tokenize="none", smooth_method="none", force=True)
    score = _score_corpus(metric, own_tokens, their_tokens)
    tokens = f"tok:moses-{language}-sacremoses-{version('sacremoses')}"
    return Score(score.value, score.signature.replace("tok:none", tokens))


def moses_tokenize(sentences: Sequence[str], *, language: str) -> list[str]:
    """Normalise punctuation, lower-case, and tokenise sentences, as Moses' scripts do.

    This is how Multi30k's "lc.norm.tok" files were made (Elliott et al., 2016). XML special characters are
    escaped: ' becomes &apos;.

    Args:
        sentences: sentences as plain text.
        language: two-letter code of their language.

    Raises:
        ValueError: Moses does not support the language.
    """
    require_choice(_moses_languages(), language=language)
    normalizer, tokenizer = _moses(language)
    # Moses' scripts see each line with its newline, which one rule for closing quotation marks depends on.
    normal = (normalizer.normalize(f"{sentence}\n").lower() for sentence in sentences)
    return [tokenizer.tokenize(sentence, return_str=True, escape=True) for sentence in normal]


def chrf(translations: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """Compute chrF, the F-score of character n-grams up to length 6 (Popović, 2015).

    Unlike `bleu`, it gives credit for words that are nearly right.

    Args:
        translations: translations as plain text.
        references: references as in `bleu`.

    Raises:
        ValueError: as in `bleu`.
    """
    return _score_corpus(CHRF(), translations, references)


def sentence_bleu_mean(translations: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """Compute the mean of sentence BLEU, which is not BLEU, although it is often reported as such.

    Many sentences share no 4-gram with their reference, so each score must be smoothed. Short sentences
    also weigh as much as long ones.

    Args:
        translations: translations as plain text.
        references: references as in `bleu`.

    Raises:
        ValueError: as in `bleu`.
    """
    _require_references(translations, references)
    metric = BLEU(effective_order=True)  # skips orders longer than the sentence
    scores = [
        metric.sentence_score(translation, list(own)).score
        for translation, own in zip(translations, references, strict=True)
    ]
    whole = _score_corpus(metric, translations, references)  # only for its signature
    return Score(sum(scores) / len(scores), f"{whole.signature}|mean:sentences")


def _score_corpus(
    metric: BLEU | CHRF, translations: Sequence[str], references: Sequence[Sequence[str]]
) -> Score:
    _require_references(translations, references)
    most = max(map(len, references))
    # The library reads references by column; None pads sentences with fewer references.
    columns: list[list[Any]] = [
        [own[column] if column < len(own) else None for own in references] for column in range(most)
    ]
    score = metric.corpus_score(list(translations), columns)
    return Score(float(score.score), str(metric.get_signature()))


@cache
def _moses(language: str) -> tuple[MosesPunctNormalizer, MosesTokenizer]:
    return MosesPunctNormalizer(lang=language), MosesTokenizer(lang=language)


@cache
def _moses_languages() -> tuple[str, ...]:
    """Return the languages that Moses supports; for any other, it silently applies English rules."""
    return tuple(sorted(set(NonbreakingPrefixes().available_langs.values())))


def _require_same_number(translations: Sequence[Any], references: Sequence[Any]) -> None:
    if len(translations) != len(references) or not references:
        raise ValueError(
            f"translations ({len(translations)}) and references ({len(references)}) "
            f"must have the same length, at least 1"
        )


def _require_references(translations: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Require strings, each with one or more references in a list."""
    _require_same_number(translations, references)
    if isinstance(translations, str):
        raise ValueError("translations must be a list of sentences, got one string")
    for number, own in enumerate(references):
        if isinstance(own, str):
            raise ValueError(
                f"references[{number}] must be a list of sentences, got one string: {own[:40]!r}"
            )
        if not own:
            raise ValueError(f"references[{number}] must hold at least one sentence, got none")

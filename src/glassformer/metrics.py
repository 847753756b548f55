"""How good translations are."""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacremoses import MosesPunctNormalizer, MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes

from glassformer.validation import require_choice, require_whole


class Score(NamedTuple):
    """A number that means nothing without the way it was counted.

    Attributes:
        value: from 0 to 100, higher is better.
        signature: how it was counted, as sacreBLEU writes it; only scores that share it can be compared.
    """

    value: float
    signature: str


def exact_match(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Share of translations that are their reference, word for word.

    Raises:
        ValueError: there are not equally many of both, or none.
    """
    _require_equally_many(translations, references)
    same = [tuple(one) == tuple(other) for one, other in zip(translations, references, strict=True)]
    return sum(same) / len(same)


def bleu(
    translations: Sequence[str], references: Sequence[Sequence[str]], *, max_ngram_order: int = 4
) -> Score:
    """BLEU of plain, cased text (Papineni et al., 2002), as sacreBLEU counts it (Post, 2018).

    Over all sentences together: the geometric mean of the shares of n-grams that a reference holds too, for
    n from 1 to ``max_ngram_order``, times exp(1 − references' length / translations' length) where that is
    below 1.

    Args:
        translations: what is scored, as a reader would see it.
        references: for each translation, one right one or more; not all need have equally many.
        max_ngram_order: the longest n-gram that counts. BLEU without further words means 4.

    Raises:
        ValueError: there are not equally many of both, none, or a translation has no reference.
    """
    require_whole(max_ngram_order=max_ngram_order)
    metric = BLEU(max_ngram_order=max_ngram_order)
    score = _score_corpus(metric, translations, references)
    if max_ngram_order == 4:
        return score
    return Score(score.value, f"{score.signature}|order:{max_ngram_order}")


def moses_bleu(translations: Sequence[str], references: Sequence[Sequence[str]], *, language: str) -> Score:
    """BLEU of lower-cased words and symbols as Moses cuts them: what published Multi30k numbers are.

    Wu et al. (2021) train on text that is normalised, lower-cased and tokenised, join the pieces of words
    that come out, and let fairseq count: BLEU to order 4 over the tokens of all sentences, without smoothing,
    as Moses' multi-bleu.perl does. Here plain text is brought into that form first, by `moses_tokenize`, and
    counted in the same way. The references come out as the published ones, token for token: for test2016 in
    German the 12,103 that their log reports. Two things may differ: their translations are counted in the
    tokens they were written in, ours are written as plain text and cut anew; and fairseq takes a reference
    token that the vocabulary does not hold for missed, whatever was written.

    Args:
        translations: what is scored, as a reader would see it.
        references: as in `bleu`, as plain text.
        language: the language of both, in two letters.

    Raises:
        ValueError: as in `bleu`, or Moses does not know the language.
    """
    _require_references(translations, references)
    own_tokens = moses_tokenize(translations, language=language)
    their_tokens = [moses_tokenize(one, language=language) for one in references]
    metric = BLEU(lowercase=True, tokenize="none", smooth_method="none", force=True)
    score = _score_corpus(metric, own_tokens, their_tokens)
    tokens = f"tok:moses-{language}-sacremoses-{version('sacremoses')}"
    return Score(score.value, score.signature.replace("tok:none", tokens))


def moses_tokenize(sentences: Sequence[str], *, language: str) -> list[str]:
    """Normalise punctuation, lower the case, and put a space between all tokens, as Moses' scripts do.

    It is what made Multi30k's files "lc.norm.tok" from the raw ones (Elliott et al., 2016). Symbols that mean
    something in XML are escaped: ' becomes &apos;.

    Args:
        sentences: plain text.
        language: its language, in two letters.

    Raises:
        ValueError: Moses does not know the language.
    """
    require_choice(_moses_languages(), language=language)
    normalizer, tokenizer = _moses(language)
    # Moses' scripts see each line with its end, on which a rule for closing quotation marks depends.
    normal = (normalizer.normalize(f"{sentence}\n").lower() for sentence in sentences)
    return [tokenizer.tokenize(sentence, return_str=True, escape=True) for sentence in normal]


def chrf(translations: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """How many n-grams of letters, up to 6, translations and references share (Popović, 2015).

    A word that is nearly right counts for something here, and for nothing in `bleu`.

    Args:
        translations: what is scored, as a reader would see it.
        references: as in `bleu`.

    Raises:
        ValueError: as in `bleu`.
    """
    return _score_corpus(CHRF(), translations, references)


def sentence_bleu_mean(translations: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """Mean of the BLEU of each sentence alone, which is not BLEU and often printed as if it were.

    Most single sentences share no four words in a row with their reference, so that each has to be smoothed,
    and short sentences weigh as much as long ones.

    Args:
        translations: what is scored, as a reader would see it.
        references: as in `bleu`.

    Raises:
        ValueError: as in `bleu`.
    """
    _require_references(translations, references)
    metric = BLEU(effective_order=True)  # leaves out orders that the sentence is too short for
    scores = [
        metric.sentence_score(translation, list(own)).score
        for translation, own in zip(translations, references, strict=True)
    ]
    whole = _score_corpus(metric, translations, references)  # for its signature
    return Score(sum(scores) / len(scores), f"{whole.signature}|mean:sentences")


def _score_corpus(
    metric: BLEU | CHRF, translations: Sequence[str], references: Sequence[Sequence[str]]
) -> Score:
    _require_references(translations, references)
    most = max(map(len, references))
    # The library reads references by column, where None fills up what a sentence has fewer of.
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
    """Return the languages that Moses knows; for any other it would take English rules without a word."""
    return tuple(sorted(set(NonbreakingPrefixes().available_langs.values())))


def _require_equally_many(translations: Sequence[Any], references: Sequence[Any]) -> None:
    if len(translations) != len(references) or not references:
        raise ValueError(
            f"translations ({len(translations)}) and references ({len(references)}) "
            f"must be equally many, and at least 1"
        )


def _require_references(translations: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Every translation is a string with a list of one reference or more."""
    _require_equally_many(translations, references)
    if isinstance(translations, str):
        raise ValueError("translations must be a list of sentences, got one string")
    for number, own in enumerate(references):
        if isinstance(own, str):
            raise ValueError(
                f"references[{number}] must be a list of sentences, got one string: {own[:40]!r}"
            )
        if not own:
            raise ValueError(f"references[{number}] must hold at least one sentence, got none")

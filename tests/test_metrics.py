import json
import math
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from glassformer.data.corpora import load_corpus
from glassformer.metrics import (
    bleu,
    chrf,
    exact_match,
    moses_bleu,
    moses_tokenize,
    sentence_bleu_mean,
)

needs_data = pytest.mark.skipif(
    "GLASSFORMER_DATA" not in os.environ, reason="GLASSFORMER_DATA names no folder with Multi30k"
)
SCORES = [bleu, chrf, sentence_bleu_mean, lambda own, right: moses_bleu(own, right, language="en")]
every_score = pytest.mark.parametrize(
    "score", SCORES, ids=["bleu", "chrf", "sentence_bleu_mean", "moses_bleu"]
)
WORDS = ["a", "cat", "sat", "on", "the", "mat", "and", "dog", "ran", "to", "red", "house", "by", "river"]


def ngrams(words, order):
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def papineni(translations, references, max_order=4):
    """Compute BLEU step by step after Papineni et al. (2002), section 2, for words separated by spaces."""
    found, written = [0] * max_order, [0] * max_order
    own_length = right_length = 0
    for translation, several in zip(translations, references, strict=True):
        own, right = translation.split(), [one.split() for one in several]
        own_length += len(own)
        right_length += min((abs(len(one) - len(own)), len(one)) for one in right)[1]
        for order in range(1, max_order + 1):
            counts = ngrams(own, order)
            most = Counter()
            for one in right:
                most |= ngrams(one, order)
            found[order - 1] += (counts & most).total()
            written[order - 1] += counts.total()
    mean_log = sum(math.log(f / w) for f, w in zip(found, written, strict=True)) / max_order
    return 100 * min(1, math.exp(1 - right_length / own_length)) * math.exp(mean_log)


@pytest.fixture
def spoiled():
    """Return eleven translations with a few changed words, and one to three references each."""
    rng = random.Random(0)
    references, translations = [], []
    for _ in range(11):
        sentence = rng.choices(WORDS, k=rng.randint(7, 13))
        own = [word if rng.random() < 0.8 else rng.choice(WORDS) for word in sentence]
        translations.append(" ".join(own[: rng.randint(6, 13)]))
        others = [" ".join(rng.sample(sentence, len(sentence) - 1)) for _ in range(rng.randint(0, 2))]
        references.append([" ".join(sentence), *others])
    return translations, references


def test_exact_match_counts_only_whole_sentences():
    references = [("le", "chat"), ("la", "rue"), ("l'", "île"), ("il",)]
    translations = [["le", "chat"], ("la", "route"), ("l'",), ("il", "il")]
    assert exact_match(translations, references) == 0.25
    assert exact_match(references, references) == 1


def test_bleu_by_hand():
    # Found in the reference: 5 of 6 words, 3 of 5 bigrams, 2 of 4 trigrams and 1 of 3 4-grams.
    score = bleu(["the cat sat on a mat"], [["the cat sat on the red mat"]])
    expected = 100 * math.exp(1 - 7 / 6) * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert score.value == pytest.approx(expected)


def test_scores_and_signatures_equal_those_of_the_sacrebleu_command(spoiled, tmp_path):
    translations, references = spoiled[0], [own[:1] for own in spoiled[1]]
    (tmp_path / "own").write_text("\n".join(translations), encoding="utf-8")
    (tmp_path / "right").write_text("\n".join(own[0] for own in references), encoding="utf-8")
    options = ["right", "-i", "own", "-m", "bleu", "chrf", "-w", "6", "-f", "json"]
    command = [sys.executable, "-m", "sacrebleu", *options]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, encoding="utf-8").stdout
    for theirs, score in zip(json.loads(answer), (bleu, chrf), strict=True):
        ours = score(translations, references)
        assert ours.value == pytest.approx(theirs["score"], abs=1e-6)
        assert ours.signature == theirs["signature"]


@pytest.mark.parametrize("max_ngram_order", [1, 2, 3, 4, 5])
def test_bleu_follows_the_formula_of_papineni_with_any_number_of_references(spoiled, max_ngram_order):
    score = bleu(*spoiled, max_ngram_order=max_ngram_order)
    assert score.value == pytest.approx(papineni(*spoiled, max_ngram_order))
    assert 0 < score.value < 100


def test_moses_bleu_follows_the_formula_of_papineni_over_its_tokens(spoiled):
    translations = ["The cat's  mat , sir!" + one for one in spoiled[0]]
    references = [["the cat's mat, Sir! " + one for one in several] for several in spoiled[1]]
    tokens = [moses_tokenize(several, language="en") for several in references]
    expected = papineni(moses_tokenize(translations, language="en"), tokens)
    assert moses_bleu(translations, references, language="en").value == pytest.approx(expected)


def test_the_mean_of_sentence_bleu_is_not_bleu(spoiled):
    alone = [bleu([own], [right]).value for own, right in zip(*spoiled, strict=True)]
    mean = sentence_bleu_mean(*spoiled)
    assert mean.value == pytest.approx(sum(alone) / len(alone))
    assert abs(mean.value - bleu(*spoiled).value) > 0.5


def test_a_sentence_too_short_for_a_4_gram_can_score_100():
    assert sentence_bleu_mean(["Il dort"], [["Il dort"]]).value == pytest.approx(100)


@every_score
def test_references_score_100_and_other_words_almost_0(score):
    sentences = ["A cat sat on the mat.", "The dog ran to the old house!"]
    assert score(sentences, [[one] for one in sentences]).value == pytest.approx(100)
    assert score(["Zum Blumen", "Zwölf Boxkämpfer"], [[one] for one in sentences]).value < 10


@every_score
def test_a_second_reference_can_only_raise_the_score(score):
    translations = ["I am so tired now.", "She is at home again."]
    near = [["I am very tired now."], ["She is home again."]]
    both = [[*near[0], translations[0]], near[1]]
    assert score(translations, both).value > score(translations, near).value + 1


@every_score
def test_an_empty_translation_counts(score):
    sentences = ["A cat sat on the mat.", "The dog ran to the old house!"]
    references = [[one] for one in sentences]
    half = score(["", sentences[1]], references).value
    assert 0 < half < 90
    assert score(["", ""], references).value == 0


def test_case_matters_in_bleu_but_not_in_moses_bleu():
    reference = [["The Dog ran to the Old House!"]]
    assert bleu([reference[0][0].lower()], reference).value < 50
    assert moses_bleu([reference[0][0].lower()], reference, language="en").value == pytest.approx(100)


@pytest.mark.parametrize(
    ("metric", "options", "pattern"),
    [
        (bleu, {}, r"nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:[^|]*"),
        (bleu, {"max_ngram_order": 2}, r"nrefs:1\|.*\|order:2"),
        (chrf, {}, r"nrefs:1\|case:mixed\|eff:yes\|nc:6\|nw:0\|space:no\|version:[^|]*"),
        (
            moses_bleu,
            {"language": "fr"},
            r"nrefs:1\|case:lc\|eff:no\|tok:moses-fr-sacremoses-.*\|smooth:none\|.*",
        ),
        (sentence_bleu_mean, {}, r"nrefs:1\|case:mixed\|eff:yes\|.*\|mean:sentences"),
    ],
)
def test_scores_have_the_signature_of_their_metric(spoiled, metric, options, pattern):
    translations, references = spoiled
    score = metric(translations, [one[:1] for one in references], **options)
    assert re.fullmatch(pattern, score.signature)


def test_the_signature_tells_that_the_number_of_references_varies(spoiled):
    assert bleu(*spoiled).signature.startswith("nrefs:var|")


def test_moses_lower_cases_splits_and_escapes():
    assert moses_tokenize(["L'homme «dort», n'est-ce pas?"], language="fr") == [
        "l&apos; homme &quot; dort &quot; , n&apos; est-ce pas ?"
    ]
    assert moses_tokenize(['Sie  sagt: "Am 5. Mai."', ""], language="de") == [
        "sie sagt : &quot; am 5. mai &quot; .",
        "",
    ]


@needs_data
@pytest.mark.parametrize("pair", ["en-de", "en-fr"])
@pytest.mark.parametrize("year", [2016, 2017])
def test_moses_tokenize_reproduces_the_published_tokens_of_multi30k(pair, year):
    sentences = load_corpus(f"multi30k-{pair}").test_sets[f"test{year}"]
    targets = [own[0] for own in sentences.references]
    for language, plain in zip(pair.split("-"), (sentences.sources, targets), strict=True):
        name = f"multi30k_tok/test_{year}_flickr.lc.norm.tok.{language}"
        text = (Path(os.environ["GLASSFORMER_DATA"]) / name).read_text(encoding="utf-8")
        published = text.removesuffix("\n").split("\n")
        assert len(plain) == len(published) == 1000
        assert moses_tokenize(plain, language=language) == [line.strip() for line in published]


@needs_data
def test_the_references_have_as_many_tokens_as_wu_et_al_report():
    # "reflen=12103" is reported with their 41.02: github.com/LividWo/Revisit-MMT, README-baseline.md
    references = load_corpus("multi30k-en-de").test_sets["test2016"].references
    tokens = moses_tokenize([own[0] for own in references], language="de")
    assert sum(len(sentence.split()) for sentence in tokens) == 12_103


@pytest.mark.parametrize(
    ("translations", "references"), [([], []), ([("il",)], []), ([("il",)], [("il",)] * 2)]
)
def test_translations_and_references_must_have_the_same_length(translations, references):
    with pytest.raises(ValueError, match=rf"translations \({len(translations)}\) and references"):
        exact_match(translations, references)


@pytest.mark.usefixtures("as_a_user")
@every_score
@pytest.mark.parametrize(
    ("translations", "references", "message"),
    [
        ([], [], r"translations \(0\) and references \(0\) must have the same length, at least 1"),
        (["il"], [["il"], ["elle"]], r"translations \(1\) and references \(2\) must have the same length"),
        (["il", "elle"], [["il"], []], r"references\[1\] must hold at least one sentence, got none"),
        (["il"], ["il"], r"references\[0\] must be a list of sentences, got one string: 'il'"),
        ("il", [["i"], ["l"]], "translations must be a list of sentences, got one string"),
    ],
)
def test_an_invalid_argument_is_named(score, translations, references, message):
    with pytest.raises(ValueError, match=message):
        score(translations, references)


@pytest.mark.usefixtures("as_a_user")
def test_unknown_languages_and_orders_are_rejected():
    with pytest.raises(ValueError, match="max_ngram_order must be a positive integer, got 0"):
        bleu(["il"], [["il"]], max_ngram_order=0)
    with pytest.raises(ValueError, match=r"language must be one of .*'de', .*, got 'german'"):
        moses_bleu(["il"], [["il"]], language="german")

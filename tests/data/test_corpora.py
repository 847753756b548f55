import gzip
import hashlib
import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.corpora import (
    Sentences,
    load_corpus,
    normalize_text,
    plain_apostrophes,
    sentence_key,
    split_pairs,
)
from glassformer.data.downloads import DataFileError, PinnedFile
from glassformer.data.sources import Source

DATA = os.environ.get("GLASSFORMER_DATA")
MOSES = Path(DATA or "absent") / "multi30k_tok"
needs_data = pytest.mark.skipif(not DATA, reason="GLASSFORMER_DATA names no folder with the corpora")
needs_moses_references = pytest.mark.skipif(
    not MOSES.is_dir(), reason="GLASSFORMER_DATA names no folder with multi30k_tok, the tokenised references"
)

ENGLISH = [f"There are {number} of us{mark}" for number in range(11) for mark in ".!?"]
PAIRS = st.lists(st.tuples(st.sampled_from(ENGLISH), st.text("xyz é", min_size=1, max_size=5)), max_size=41)
NUM_TEST, NUM_VALIDATION = 5, 3


@pytest.fixture(autouse=True)
def _no_data_from_outside(monkeypatch):
    monkeypatch.delenv("GLASSFORMER_DATA", raising=False)


def pairs_of(sentences):
    return list(zip(*sentences.pairs(), strict=True))


def keys_of(sentences):
    return {sentence_key(source) for source in sentences.sources}


def test_pairs_combine_every_source_with_each_of_its_references():
    sentences = Sentences(("Run!", "Wait."), (("Cours !", "Courez !"), ("Attends.",)))
    assert sentences.pairs() == (["Run!", "Run!", "Wait."], ["Cours !", "Courez !", "Attends."])


def test_no_sentences_are_no_pairs():
    assert Sentences((), ()).pairs() == ([], [])


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("Cours\u202f!", "Cours !"),
        ("«\u00a0Oui\u2009»", "« Oui »"),
        ("  a\t b \n", "a b"),
        ("e\u0301te\u0301", "été"),
        ("l’eau", "l’eau"),
        ("", ""),
    ],
)
def test_normalisation_changes_only_white_space_and_accents(text, normalized):
    assert normalize_text(text) == normalized


@given(st.text())
def test_normalisation_is_idempotent(text):
    assert normalize_text(normalize_text(text)) == normalize_text(text)
    assert normalize_text(text).split(" ") == unicodedata.normalize("NFC", text).split() or not text.strip()


def test_apostrophes_become_plain():
    assert plain_apostrophes("L’eau d'Aix") == "L'eau d'Aix"


@pytest.mark.parametrize(
    ("sentence", "key"),
    [
        ("Stop!", "stop"),
        ("STOP.", "stop"),
        ("It's 8 o’clock.", "its8oclock"),
        ("ﬁne ²", "fine2"),
        ("Straße", "strasse"),
        ("?!", ""),
    ],
)
def test_a_key_has_letters_and_digits_in_lower_case(sentence, key):
    assert sentence_key(sentence) == key


def split(pairs, seed=7):
    # so that there are always enough
    more = [(f"More {number}", "z") for number in range(13)]
    return split_pairs([*pairs, *more], num_test=NUM_TEST, num_validation=NUM_VALIDATION, seed=seed)


@given(PAIRS)
def test_every_key_is_in_exactly_one_split(pairs):
    train, validation, test = (keys_of(sentences) for sentences in split(pairs))
    assert not train & validation
    assert not train & test
    assert not validation & test
    assert train | validation | test == {sentence_key(source) for source, _ in pairs} | {
        f"more{number}" for number in range(13)
    }


@given(PAIRS)
def test_the_training_set_has_every_pair_of_its_keys_once(pairs):
    train, *_ = split(pairs)
    keys = keys_of(train)
    kept = [pair for pair in pairs_of(train) if not pair[0].startswith("More")]
    assert len(set(kept)) == len(kept)
    assert set(kept) == {pair for pair in pairs if sentence_key(pair[0]) in keys}
    assert len(set(train.sources)) == len(train.sources)


@given(PAIRS)
def test_test_and_validation_have_one_source_per_key_with_all_translations_of_the_key(pairs):
    _, *held_out = split(pairs)
    for sentences, size in zip(held_out, (NUM_VALIDATION, NUM_TEST), strict=True):
        assert len(sentences.sources) == len(sentences.references) == len(keys_of(sentences)) == size
        for source, references in zip(*sentences, strict=True):
            if not source.startswith("More"):
                same_key = [pair for pair in pairs if sentence_key(pair[0]) == sentence_key(source)]
                assert set(references) == {target for _, target in same_key}
                assert len(set(references)) == len(references)
                times = [sum(other == pair[0] for other, _ in set(same_key)) for pair in same_key]
                assert sum(other == source for other, _ in set(same_key)) == max(times)


@given(PAIRS, st.randoms(use_true_random=False))
def test_the_drawn_keys_do_not_depend_on_the_order_of_the_pairs(pairs, rng):
    shuffled = rng.sample(pairs, len(pairs))
    for before, after in zip(split(pairs), split(shuffled), strict=True):
        assert keys_of(before) == keys_of(after)


def test_a_seed_always_draws_the_same_sentences():
    pairs = [(letter, letter.upper()) for letter in "abcdefghijklm"]
    _, validation, test = split_pairs(pairs, num_test=3, num_validation=2, seed=1)
    by_hand = sorted("abcdefghijklm", key=lambda key: hashlib.sha256(f"1:{key}".encode()).hexdigest())
    assert test.sources == tuple(by_hand[:3]) == ("i", "d", "g")
    assert validation.sources == tuple(by_hand[3:5])
    assert split_pairs(pairs, num_test=3, num_validation=2, seed=2)[2].sources != test.sources


def test_selected_keys_are_drawn_uniformly():
    pairs = [(f"{number}", "x") for number in range(1009)]
    drawn = [
        int(source)
        for seed in range(23)
        for source in split_pairs(pairs, num_test=101, num_validation=1, seed=seed)[2].sources
    ]
    assert sum(drawn) / len(drawn) == pytest.approx(504, abs=4 * 291 / len(drawn) ** 0.5)
    assert len(set(drawn)) > 870  # 1009 x (1 - 0.9 ** 23) = 919


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"num_test": 0, "num_validation": 1}, r"num_test must be a positive integer, got 0"),
        ({"num_test": 1, "num_validation": 0}, r"num_validation must be a positive integer, got 0"),
        ({"num_test": 2, "num_validation": 1}, r"pairs must have more than .* \(3\) .*, got 3"),
    ],
)
def test_too_few_sentences_or_an_empty_split_is_an_error(sizes, message):
    with pytest.raises(ValueError, match=message):
        split_pairs([("a", "x"), ("b", "y"), ("b!", "y"), ("c", "z")], seed=1, **sizes)


def source_of(folder, texts):
    """Write made-up files and pin them."""
    files = []
    for path, text in texts.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / f"{path}.gz").write_bytes(gzip.compress(text.encode()))
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        files.append(PinnedFile(path, sha256, ("http://127.0.0.1:9/absent",)))
    return Source("free", "made up", tuple(files))


def test_tatoeba_is_split_by_english_sentences_and_normalised(tmp_path):
    lines = [f"It’s\u00a0{number}.\tC’est\u202f{number} !" for number in range(3511)]
    lines += ["IT'S 7!\tC'est 7.", "It's 7.\tC'est 7 !"]
    sources = {"tatoeba-en-fr": source_of(tmp_path, {"tatoeba_en_fr/fra.txt": "\n".join(lines) + "\n"})}
    corpus = load_corpus("tatoeba-en-fr", folder=tmp_path, sources=sources)
    test, validation = corpus.test_sets["test"], corpus.validation
    assert (len(test.sources), len(validation.sources), len(corpus.train.sources)) in [
        (2500, 1000, 11),
        (2500, 1000, 12),  # if "It's 7." and "IT'S 7!" are in train, they are two sources
    ]
    assert list(corpus.test_sets) == ["test"]
    assert (corpus.name, corpus.licence) == ("tatoeba-en-fr", "free")
    assert (corpus.source_language, corpus.target_language) == ("en", "fr")
    together = dict(pairs_of(corpus.train) + pairs_of(validation) + pairs_of(test))
    assert together["It's 23."] == "C'est 23 !"
    everything = [pair for part in (corpus.train, validation, test) for pair in pairs_of(part)]
    assert len(everything) == 3512


def test_multi30k_has_the_published_splits_with_aligned_lines(tmp_path):
    splits = {"train": 7, "val": 5} | {f"test_{year}": 3 for year in ("2016_flickr", "2017_flickr")}
    splits |= {"test_2017_mscoco": 2, "test_2018_flickr": 11}
    texts = {
        f"multi30k/{split}.{language}": "".join(
            f"{split}\u00a0 l’{language} {line} \n" for line in range(size)
        )
        for split, size in splits.items()
        for language in ("en", "de")
    }
    sources = {"multi30k-en-de": source_of(tmp_path, texts)}
    corpus = load_corpus("multi30k-en-de", folder=tmp_path, sources=sources)
    assert pairs_of(corpus.train) == [(f"train l’en {line}", f"train l’de {line}") for line in range(7)]
    assert pairs_of(corpus.validation) == [(f"val l’en {line}", f"val l’de {line}") for line in range(5)]
    sizes = {name: len(sentences.sources) for name, sentences in corpus.test_sets.items()}
    assert sizes == {"test2016": 3, "test2017": 3, "mscoco2017": 2, "test2018": 11}
    assert corpus.test_sets["mscoco2017"].references[1] == ("test_2017_mscoco l’de 1",)
    assert (corpus.source_language, corpus.target_language) == ("en", "de")


def test_the_terms_are_printed_before_a_download(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    sources = {"tatoeba-en-fr": source_of(tmp_path, {"tatoeba_en_fr/fra.txt": "a\tb\n"})}
    with pytest.raises(DataFileError, match=r"fra.txt could not be downloaded"):
        load_corpus("tatoeba-en-fr", cache=tmp_path / "cache", sources=sources)
    assert capsys.readouterr().err.startswith("tatoeba-en-fr: free. made up.\n")


def test_an_unknown_corpus_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"name must be one of 'tatoeba-en-fr', .*, got 'tatoeba'"):
        load_corpus("tatoeba")


@needs_data
def test_the_splits_of_tatoeba_are_those_of_the_stored_scores():
    corpus = load_corpus("tatoeba-en-fr", folder=DATA)
    test, validation = corpus.test_sets["test"], corpus.validation
    assert [len(part.sources) for part in (corpus.train, validation, test)] == [113_327, 1_000, 2_500]
    assert [len(pairs_of(part)) for part in (corpus.train, validation, test)] == [161_988, 1_433, 3_512]
    assert not keys_of(corpus.train) & (keys_of(validation) | keys_of(test))
    digests = [
        hashlib.sha256(json.dumps(part).encode()).hexdigest()[:16]
        for part in (corpus.train, validation, test)
    ]
    assert digests == ["e93014187b16b646", "33c63281a6a74f40", "72ec191cd995c826"]


@needs_data
@pytest.mark.parametrize("target_language", ["de", "fr"])
def test_the_splits_of_multi30k_are_the_published_ones(target_language):
    corpus = load_corpus(f"multi30k-en-{target_language}", folder=DATA)
    assert len(pairs_of(corpus.train)) == 29_000
    assert len(pairs_of(corpus.validation)) == 1_014
    sizes = {name: len(pairs_of(sentences)) for name, sentences in corpus.test_sets.items()}
    assert sizes == {"test2016": 1_000, "test2017": 1_000, "mscoco2017": 461, "test2018": 1_071}
    assert all(source and target for source, target in pairs_of(corpus.train))


@needs_moses_references
@pytest.mark.parametrize("target_language", ["de", "fr"])
@pytest.mark.parametrize("year", [2016, 2017])
def test_normalisation_preserves_the_tokens_of_published_multi30k_scores(target_language, year):
    sacremoses = pytest.importorskip("sacremoses")
    normalise = sacremoses.MosesPunctNormalizer(target_language).normalize
    tokenize = sacremoses.MosesTokenizer(target_language).tokenize
    test = load_corpus(f"multi30k-en-{target_language}", folder=DATA).test_sets[f"test{year}"]
    # Moses's rules match the end of the line, too.
    got = [tokenize(normalise(f"{target.lower()}\n"), return_str=True) for (target,) in test.references]
    official = (MOSES / f"test_{year}_flickr.lc.norm.tok.{target_language}").read_text("utf-8")
    assert got == official.removesuffix("\n").split("\n")

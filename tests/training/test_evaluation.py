import json
from dataclasses import replace

import pytest
from small_run import small_corpus, small_trainer

from glassformer.data.corpora import Sentences
from glassformer.metrics import bleu, chrf, moses_bleu
from glassformer.training.evaluation import (
    evaluate,
    require_record,
    rescore,
    score_translations,
    summarize,
    write_record,
)

TRAINING = {"command": "glassformer train", "seed": 3, "device": "cpu", "seconds": 5.5}


@pytest.fixture(scope="module")
def corpus():
    small = small_corpus()
    both = Sentences(small.train.sources[:5], tuple((*own, "Il dort.") for own in small.train.references[:5]))
    return replace(small, tests={"seen": both, "unseen": small.validation})


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    return small_trainer(tmp_path_factory.mktemp("run")).translator


@pytest.fixture(scope="module")
def record(translator, corpus):
    return evaluate(translator, corpus, beam_size=2, max_length=11)


@pytest.fixture
def whole(record):
    """A record with all that a result file needs, which a test may spoil."""
    return json.loads(json.dumps(record | TRAINING))


def test_translations_are_scored_with_every_metric():
    translations, references = (
        ["Le chat dort.", "La rue est large."],
        [["Le chat dort."], ["La route est large."]],
    )
    scores = score_translations(translations, references, language="fr")
    assert scores == {
        "bleu": bleu(translations, references),
        "moses_bleu": moses_bleu(translations, references, language="fr"),
        "chrf": chrf(translations, references),
    }


def test_several_references_are_also_scored_by_the_first_alone():
    references = [["Le chat dort.", "Il dort."], ["La route est large."]]
    scores = score_translations(["Il dort.", "La rue est large."], references, language="fr")
    firsts = [right[:1] for right in references]
    assert scores["bleu_first_reference"] == bleu(["Il dort.", "La rue est large."], firsts)
    assert scores["bleu_first_reference"].value < scores["bleu"].value


def test_a_record_has_the_translations_and_their_scores(record, translator, corpus):
    assert record["hypotheses"].keys() == {"seen", "unseen"}
    for name, sentences in corpus.tests.items():
        written = translator.translate(sentences.sources, beam_size=2, max_length=11)
        assert record["hypotheses"][name] == written
        scores = score_translations(written, sentences.references, language="fr")
        assert record["scores"][name] == {metric: score.value for metric, score in scores.items()}
        assert record["signatures"][name] == {metric: score.signature for metric, score in scores.items()}
        assert record["translating"]["seconds"][name] >= 0
    assert record["decoding"] == {"beam_size": 2, "max_length": 11}
    assert record["parameters"] == sum(weight.numel() for weight in translator.model.parameters())
    assert record["translating"]["device"].startswith("cpu, ")
    assert {"glassformer", "python", "torch", "tokenizers", "sacrebleu", "sacremoses"} == record[
        "versions"
    ].keys()


def test_a_single_test_set_can_be_evaluated(translator, corpus):
    assert evaluate(translator, corpus, tests=["unseen"], beam_size=1)["scores"].keys() == {"unseen"}


def test_recomputing_a_stored_record_gives_the_same_scores(whole, corpus, tmp_path):
    write_record(tmp_path / "deep" / "translation_small.json", whole)
    again = json.loads((tmp_path / "deep" / "translation_small.json").read_text(encoding="utf-8"))
    assert again == whole
    assert rescore(again, corpus) == again["scores"]
    again["hypotheses"]["seen"] = [references[0] for references in corpus.tests["seen"].references]
    counted = rescore(again, corpus)
    assert counted["seen"]["bleu"] == pytest.approx(100)
    assert counted["unseen"] == again["scores"]["unseen"]


def test_an_incomplete_record_leaves_the_old_file(whole, tmp_path):
    path = tmp_path / "translation_small.json"
    write_record(path, whole)
    before = path.read_bytes()
    del whole["seed"]
    with pytest.raises(ValueError, match="but seed is missing"):
        write_record(path, whole)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_value_that_json_cannot_represent_leaves_no_file(whole, tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_record(tmp_path / "translation_small.json", whole | {"loss": float("nan")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda record: record.pop("hypotheses"), "but hypotheses is missing"),
        (lambda record: record.update(seed="3"), "seed has the wrong type in a record: '3'"),
        (lambda record: record.update(seed=True), "seed has the wrong type in a record: True"),
        (lambda record: record.update(hypotheses={}), "hypotheses must hold at least one test set, got none"),
        (lambda record: record["scores"].pop("seen"), r"scores \(\['unseen'\]\) and hypotheses"),
        (lambda record: record["signatures"]["seen"].pop("bleu"), "of seen must each have a signature"),
        (
            lambda record: record["scores"]["seen"].update(bleu=101.0),
            r"bleu of seen must be a number from 0 to 100, got 101\.0",
        ),
        (
            lambda record: record["scores"]["seen"].update(bleu=float("nan")),
            "bleu of seen must be a number from 0 to 100, got nan",
        ),
    ],
)
def test_an_error_in_a_record_is_named(whole, spoil, message):
    require_record(whole)
    spoil(whole)
    with pytest.raises(ValueError, match=message):
        require_record(whole)


@pytest.mark.usefixtures("as_a_user")
def test_a_record_of_another_corpus_is_rejected(whole, translator, corpus):
    with pytest.raises(ValueError, match="record is of the corpus 'grammar', got 'other'"):
        rescore(whole, replace(corpus, name="other"))
    whole["hypotheses"]["seen"].pop()
    with pytest.raises(
        ValueError, match=r"translations \(4\) and references \(5\) must have the same length"
    ):
        rescore(whole, corpus)
    with pytest.raises(ValueError, match="tests must be one of 'seen', 'unseen', got 'test2016'"):
        evaluate(translator, corpus, tests=["test2016"])


def test_a_summary_has_a_line_for_each_score_with_its_signature(record):
    lines = summarize(record)
    assert len(lines) == sum(map(len, record["scores"].values()))
    for test, scores in record["scores"].items():
        for metric, value in scores.items():
            signature = record["signatures"][test][metric]
            assert f"{test}: {metric} {value:.2f}  ({signature})" in lines

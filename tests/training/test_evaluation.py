from dataclasses import asdict, replace

import pytest
from rescoring import read_results, rescore
from small_run import small_corpus, small_trainer

from glassformer.data.corpora import Sentences
from glassformer.metrics import bleu, chrf, moses_bleu
from glassformer.training.evaluation import (
    evaluate,
    score_translations,
    summarise,
    write_results,
)

TRAINING = {"command": "glassformer train", "seed": 3, "device": "cpu", "seconds": 5.5}


@pytest.fixture(scope="module")
def corpus():
    small = small_corpus()
    both = Sentences(small.train.sources[:5], tuple((*own, "Il dort.") for own in small.train.references[:5]))
    return replace(small, test_sets={"seen": both, "unseen": small.validation})


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    return small_trainer(tmp_path_factory.mktemp("run")).translator


@pytest.fixture(scope="module")
def evaluation(translator, corpus):
    return evaluate(translator, corpus, beam_size=2, max_length=11)


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


def test_an_evaluation_has_the_translations_and_their_scores(evaluation, translator, corpus):
    assert evaluation.hypotheses.keys() == {"seen", "unseen"}
    for name, sentences in corpus.test_sets.items():
        written = translator.translate(sentences.sources, beam_size=2, max_length=11)
        assert evaluation.hypotheses[name] == written
        scores = score_translations(written, sentences.references, language="fr")
        assert evaluation.scores[name] == {metric: score.value for metric, score in scores.items()}
        assert evaluation.signatures[name] == {metric: score.signature for metric, score in scores.items()}
        assert evaluation.translating["seconds"][name] >= 0
    assert evaluation.decoding == {"beam_size": 2, "max_length": 11}
    assert evaluation.parameters == sum(weight.numel() for weight in translator.model.parameters())
    assert evaluation.translating["device"].startswith("cpu, ")
    libraries = {"glassformer", "python", "torch", "tokenizers", "sacrebleu", "sacremoses"}
    assert evaluation.versions.keys() == libraries


def test_a_single_test_set_can_be_evaluated(translator, corpus):
    assert evaluate(translator, corpus, test_sets=["unseen"], beam_size=1).scores.keys() == {"unseen"}


def test_rescoring_a_stored_evaluation_gives_the_same_scores(evaluation, corpus, tmp_path):
    path = tmp_path / "deep" / "translation_small.json"
    write_results(path, evaluation, **TRAINING, recipe={"steps": 3})
    stored = read_results(path)
    assert stored == asdict(evaluation) | TRAINING | {"recipe": {"steps": 3}}
    assert rescore(stored, corpus) == evaluation.scores


def test_a_value_that_json_cannot_represent_leaves_no_file(evaluation, tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_results(tmp_path / "translation_small.json", evaluation, **TRAINING, loss=float("nan"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("as_a_user")
def test_an_unknown_test_set_is_named(translator, corpus):
    with pytest.raises(ValueError, match="test_sets must be one of 'seen', 'unseen', got 'test2016'"):
        evaluate(translator, corpus, test_sets=["test2016"])


def test_a_summary_has_a_line_for_each_score_with_its_signature(evaluation):
    lines = summarise(evaluation)
    assert len(lines) == sum(map(len, evaluation.scores.values()))
    for test, scores in evaluation.scores.items():
        for metric, value in scores.items():
            assert f"{test}: {metric} {value:.2f}  ({evaluation.signatures[test][metric]})" in lines

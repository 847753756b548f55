import json

import pytest
from rescoring import read_results, rescore

from glassformer.cli import evaluate as evaluate_command
from glassformer.cli import main
from glassformer.data.corpora import load_corpus
from glassformer.data.downloads import DataFileError

SEARCH = ["--beam-size", "2", "--max-length", "5"]


def evaluate(model, *arguments):
    return main(["evaluate", "--model", str(model), *SEARCH, *map(str, arguments)])


@pytest.fixture
def own_files(tmp_path):
    for name, lines in (
        ("mine.en", ["a cat", "a dog"]),
        ("one.fr", ["un chat", "un chien"]),
        ("other.fr", ["le chat", "it"]),
    ):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_every_score_is_printed_with_its_signature(model, corpus_name, capsys):
    assert evaluate(model, "--corpus", corpus_name, "--test-sets", "test2016", "test2018") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[0].rpartition(" ")[0] for line in lines] == [
        f"{test}: {metric}" for test in ("test2016", "test2018") for metric in ("bleu", "moses_bleu", "chrf")
    ]
    assert all("version:" in line for line in lines)


def test_scores_can_be_recomputed_from_the_file(model, corpus_name, tmp_path):
    path = tmp_path / "deep" / "scores.json"
    assert evaluate(model, "--corpus", corpus_name, "--test-sets", "test2017", "--json", path) == 0
    record = read_results(path)
    assert rescore(record, load_corpus(corpus_name)) == record["scores"]
    assert record["decoding"] == {"beam_size": 2, "length_penalty": "gnmt", "max_length": 5}
    assert (record["command"], record["seed"]) == (record["evaluated_by"], -1)
    assert record["command"].startswith("glassformer evaluate --model")


def test_results_record_how_the_translator_was_trained(translator, corpus_name, tmp_path):
    training = {"command": "glassformer train it", "seed": 7, "device": "abacus", "seconds": 3.5}
    translator.save(tmp_path / "model", corpus=corpus_name, training=training)
    assert evaluate(tmp_path / "model", "--test-sets", "test2016", "--json", tmp_path / "scores.json") == 0
    record = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert training.items() <= record.items()
    assert record["corpus"] == corpus_name


def test_own_sentences_may_have_several_references(model, own_files, tmp_path):
    files = ["--source", own_files / "mine.en", "--reference", own_files / "one.fr"]
    several = ["--reference", own_files / "other.fr"]
    scores = []
    for more in ([], several):
        assert evaluate(model, *files, *more, "--language", "fr", "--json", tmp_path / "scores.json") == 0
        record = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
        scores.append((record["signatures"]["mine"]["bleu"], len(record["hypotheses"]["mine"])))
    assert [count for _, count in scores] == [2, 2]
    assert "nrefs:1" in scores[0][0]
    assert "nrefs:2" in scores[1][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "x"], "--source, --reference and --language must be given together"),
        (
            ["--source", "x", "--reference", "y", "--language", "fr", "--test-sets", "z"],
            "--corpus, --test-sets and --data cannot be combined with --source",
        ),
    ],
)
def test_incompatible_options_are_rejected(model, arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        evaluate(model, *arguments)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"un chat\n", "must have equally many lines, got 1 and 2"),
        (b"", "is empty"),
        (b"\xff\n\n", "is not valid UTF-8"),
    ],
)
def test_invalid_references_are_named(model, own_files, content, message, capsys):
    (own_files / "one.fr").write_bytes(content)
    files = ["--source", own_files / "mine.en", "--reference", own_files / "one.fr"]
    assert evaluate(model, *files, "--language", "fr") == 1
    assert message in (told := capsys.readouterr().err)
    assert "one.fr" in told


def test_a_translator_without_a_training_corpus_needs_a_corpus_option(model, capsys):
    assert evaluate(model) == 1
    assert "name a test corpus with --corpus" in capsys.readouterr().err


def test_a_test_that_the_corpus_lacks_is_named(model, corpus_name, capsys):
    with pytest.raises(SystemExit) as end:
        evaluate(model, "--corpus", corpus_name, "--test-sets", "test1066")
    assert end.value.code == 2
    assert "--test-sets must be one of 'test2016'" in capsys.readouterr().err


def test_the_names_of_tests_are_validated_before_a_download(model, monkeypatch, capsys):
    monkeypatch.setattr(evaluate_command, "load_corpus", lambda *_, **__: pytest.fail("downloaded"))
    with pytest.raises(SystemExit):
        evaluate(model, "--corpus", "tatoeba-en-fr", "--test-sets", "test2016")
    assert "--test-sets must be one of 'test', got 'test2016'" in capsys.readouterr().err


def test_the_test_names_are_those_of_the_corpus(corpus_name):
    assert evaluate_command._TEST_SETS["multi30k"] == tuple(load_corpus(corpus_name).test_sets)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "pass --data FOLDER or set GLASSFORMER_DATA"),
        (["--data", "absent"], "glassformer: --data (absent)"),
    ],
)
def test_a_corpus_out_of_reach_names_the_option(model, monkeypatch, capsys, options, message):
    monkeypatch.delenv("GLASSFORMER_DATA", raising=False)
    if not options:

        def fail(*_, **__):
            raise DataFileError("fra.txt could not be downloaded")

        monkeypatch.setattr(evaluate_command, "load_corpus", fail)
    assert evaluate(model, "--corpus", "tatoeba-en-fr", *options) == 1
    assert message in capsys.readouterr().err

import json
from dataclasses import replace

import pytest
import torch
from rescoring import read_results, rescore
from small_run import SETTINGS
from small_source import pin_small_corpus
from torch.testing import assert_close

from glassformer.data.corpora import load_corpus
from glassformer.training.checkpoints import list_checkpoints
from glassformer.training.log import read_log
from glassformer.training.run import Recipe, describe_origin, read_recipe, run_recipe, small_config
from glassformer.training.trainer import Trainer
from glassformer.translator import Translator

SIZES = {"d_model": 12, "num_heads": 2, "d_ff": 20, "num_encoder_layers": 1, "num_decoder_layers": 1}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpus_name(tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield pin_small_corpus(tmp_path_factory.mktemp("data"), monkeypatch)


@pytest.fixture(scope="module")
def recipe(corpus_name):
    return Recipe(corpus=corpus_name, vocabulary_size=300, model=SIZES, settings=SETTINGS)


@pytest.fixture(scope="module")
def whole_run(recipe, tmp_path_factory):
    folder, lines = tmp_path_factory.mktemp("runs") / "deep" / "whole", []
    translator = run_recipe(recipe, folder, device=CPU, command="glassformer train it", report=lines.append)
    return folder, translator, lines


def stored_recipe(folder):
    return json.loads((folder / "recipe.json").read_text(encoding="utf-8"))


def test_a_run_saves_a_translator_with_its_origin(whole_run, recipe):
    folder, translator, _ = whole_run
    loaded = Translator.load(folder / "translator")
    assert_close(loaded.model.state_dict(), translator.model.state_dict(), rtol=0, atol=0)
    notes = json.loads((folder / "translator" / "model.json").read_text(encoding="utf-8"))
    assert describe_origin(recipe).items() <= notes.items()
    assert notes["licence"] == "ours"
    assert notes["training"]["command"] == "glassformer train it"
    assert notes["training"]["seconds"] > 0


def test_the_scores_of_a_run_can_be_recomputed(whole_run, recipe):
    record = read_results(whole_run[0] / "results.json")
    assert rescore(record, load_corpus(recipe.corpus)) == record["scores"]
    assert record["seed"] == recipe.settings.seed
    assert record["recipe"] == stored_recipe(whole_run[0])["recipe"]


def test_a_run_reports_its_progress(whole_run):
    folder, translator, lines = whole_run
    told = "\n".join(lines)
    assert (
        "corpus: multi30k-en-fr (ours), 53 training and 7 validation sentences; test sets: test2016 (2), "
        in told
    )
    size = sum(parameter.numel() for parameter in translator.model.parameters())
    assert f"transformer, {size:,} parameters, vocabulary of 300 tokens" in told
    assert f"{folder} starts, 9 steps in all; log: {folder / 'log.jsonl'}" in told
    assert "test2016: bleu" in told


def test_a_finished_run_is_not_trained_again(whole_run, recipe, monkeypatch):
    folder, translator, _ = whole_run
    monkeypatch.delattr(Trainer, "_step")
    lines = []
    again = run_recipe(recipe, folder, device=CPU, command="glassformer train it", report=lines.append)
    assert "resumes after step_00000009" in "\n".join(lines)
    assert_close(again.model.state_dict(), translator.model.state_dict(), rtol=0, atol=0)
    assert [entry["step"] for entry in read_log(folder / "log.jsonl")][-1] == SETTINGS.steps


def test_an_interrupted_run_resumes_to_the_same_translator(whole_run, recipe, tmp_path, monkeypatch):
    step = Trainer._step

    def interrupted(self, group):
        if self.progress.step == 5:
            raise KeyboardInterrupt
        return step(self, group)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_recipe(recipe, tmp_path, device=CPU)
    assert list_checkpoints(tmp_path / "checkpoints")
    resumed = run_recipe(recipe, tmp_path, device=CPU)
    assert_close(resumed.model.state_dict(), whole_run[1].model.state_dict(), rtol=0, atol=0)


def test_the_folder_of_another_recipe_is_left_alone(whole_run, recipe):
    other = replace(recipe, model=SIZES | {"d_ff": 23}, settings=replace(SETTINGS, steps=11))
    before = stored_recipe(whole_run[0])
    differences = r"model\.d_ff was 20 and is now 23; settings\.steps was 9 and is now 11"
    with pytest.raises(ValueError, match=differences):
        run_recipe(other, whole_run[0], device=CPU)
    assert stored_recipe(whole_run[0]) == before


def test_an_older_recipe_without_a_setting_has_its_default(whole_run, recipe, tmp_path):
    stored = stored_recipe(whole_run[0])
    del stored["recipe"]["model"]["max_length"], stored["recipe"]["settings"]["accumulation_steps"]
    (tmp_path / "recipe.json").write_text(json.dumps(stored), encoding="utf-8")
    assert read_recipe(tmp_path) == recipe


def test_a_recipe_with_older_names_of_settings_still_loads(whole_run, recipe, tmp_path):
    stored = stored_recipe(whole_run[0])
    settings = stored["recipe"]["settings"]
    settings["accumulate"] = settings.pop("accumulation_steps") + 1
    stored["recipe"]["kind"] = stored["recipe"].pop("architecture")
    stored["recipe"]["model"]["positions"] = "linear_bias"
    (tmp_path / "recipe.json").write_text(json.dumps(stored), encoding="utf-8")
    settings = replace(recipe.settings, accumulation_steps=2)
    assert read_recipe(tmp_path) == replace(recipe, model=SIZES | {"positions": "alibi"}, settings=settings)


@pytest.mark.parametrize("spoil", [lambda text: text[:50], lambda text: text.replace("d_model", "breadth")])
def test_a_damaged_recipe_is_named(whole_run, tmp_path, spoil):
    text = (whole_run[0] / "recipe.json").read_text(encoding="utf-8")
    (tmp_path / "recipe.json").write_text(spoil(text), encoding="utf-8")
    with pytest.raises(ValueError, match=r"recipe\.json is damaged or was written by another version"):
        read_recipe(tmp_path)


def test_a_run_without_its_corpus_creates_no_folder(recipe, tmp_path):
    with pytest.raises(OSError, match="must contain"):
        run_recipe(recipe, tmp_path / "run", device=CPU, data_folder=tmp_path)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("architecture", ["transformer", "fixed_context", "additive_attention"])
def test_a_recipe_without_sizes_has_those_of_a_small_model(corpus_name, architecture):
    assert Recipe(corpus=corpus_name, architecture=architecture).model == small_config(architecture)
    assert small_config(architecture)["d_model"] == 128


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"corpus": "tatoeba"}, "corpus must be one of .*'tatoeba-en-fr'.* got 'tatoeba'"),
        ({"architecture": "lstm"}, "architecture must be one of 'transformer', .* got 'lstm'"),
        ({"vocabulary_size": 0}, "vocabulary_size must be a positive integer, got 0"),
        ({"model": {"d_model": 7}}, r"d_model \(7\) must be a multiple of num_heads \(4\)"),
        (
            {"architecture": "fixed_context", "model": {"num_heads": 2}},
            "a fixed_context has no settings num_heads",
        ),
    ],
)
def test_an_invalid_setting_of_a_recipe_is_named_before_the_run_starts(corpus_name, wrong, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**({"corpus": corpus_name} | wrong))

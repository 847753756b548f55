import json
import shutil

import pytest
import torch
from small_run import small_trainer
from torch.testing import assert_close

from glassformer.training.checkpoints import average_weights, list_checkpoints
from glassformer.training.folders import average_checkpoints, find_translator, read_metadata
from glassformer.training.run import Recipe, read_recipe
from glassformer.translator import Translator

MODEL = {"d_model": 12, "num_heads": 2, "d_ff": 20, "num_encoder_layers": 1, "num_decoder_layers": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Folder of an interrupted run, with recipe, tokenizer and three checkpoints."""
    folder = tmp_path_factory.mktemp("run")
    trainer = small_trainer(folder, steps=3, checkpoint_every=1, keep_checkpoints=3, validate_every=99)
    trainer.translator.tokenizer.save(folder / "tokenizer.json")
    trainer._finish = lambda: trainer.translator
    trainer._validate = dict
    trainer.run()
    recipe = {
        "corpus": "tatoeba-en-fr",
        "architecture": "transformer",
        "vocabulary_size": 330,
        "model": MODEL,
    }
    (folder / "recipe.json").write_text(json.dumps({"recipe": recipe | {"settings": {}}}), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("choice", "steps"),
    [({}, [1, 2, 3]), ({"last": 2}, [2, 3]), ({"steps": [3, 1]}, [1, 3]), ({"steps": (2,)}, [2])],
)
def test_an_average_is_the_mean_of_the_selected_checkpoints(run, choice, steps):
    translator, notes = average_checkpoints(run, **choice)
    assert notes["averaged_steps"] == steps
    mean = average_weights([run / "checkpoints" / f"step_{step:08d}" for step in steps])
    for name, weight in mean.items():
        assert_close(translator.model.state_dict()[name], weight, rtol=0, atol=0)
    assert not translator.model.training


def test_an_average_records_its_training_corpus(run):
    _, notes = average_checkpoints(run)
    assert (notes["corpus"], notes["licence"]) == ("tatoeba-en-fr", "CC BY 2.0 FR")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"steps": (2, 5, 7)}, r"has checkpoints of steps 1, 2, 3, got 5, 7"),
        ({"last": 5}, r"steps 1, 2, 3: last must be at most 3, got 5"),
        ({"last": 0}, "last must be a positive integer, got 0"),
    ],
)
def test_missing_checkpoints_are_named(run, choice, message):
    with pytest.raises(ValueError, match=message):
        average_checkpoints(run, **choice)


def cut(place):
    (place / "model.safetensors").write_bytes((place / "model.safetensors").read_bytes()[:50])


def lose(place):
    (place / "model.safetensors").unlink()


@pytest.mark.parametrize("harm", [cut, lose])
def test_averaging_names_a_damaged_checkpoint(run, tmp_path, harm):
    shutil.copytree(run, tmp_path / "run")
    harm(list_checkpoints(tmp_path / "run" / "checkpoints")[1])
    with pytest.raises(ValueError, match=r"checkpoint .*step_00000002 is damaged"):
        average_checkpoints(tmp_path / "run")


def test_averaging_names_checkpoints_of_other_sizes(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    text = (run / "recipe.json").read_text(encoding="utf-8").replace('"d_ff": 20', '"d_ff": 23')
    (tmp_path / "run" / "recipe.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"(?s)does not fit this model.*torch\.Size\(\[20"):
        average_checkpoints(tmp_path / "run")


def test_a_run_without_checkpoints_has_nothing_to_average(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    with pytest.raises(ValueError, match=r"\(none yet\): there is nothing to average"):
        average_checkpoints(tmp_path / "run")


def test_averaging_a_folder_without_a_run_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"contains no recipe\.json: it is not the folder of a run"):
        average_checkpoints(tmp_path)


def test_the_translator_of_a_finished_run_is_found(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    with pytest.raises(FileNotFoundError, match=r"is not finished.* glassformer average"):
        find_translator(tmp_path / "run")
    translator, notes = average_checkpoints(run)
    translator.save(tmp_path / "run" / "translator", **notes)
    place = find_translator(tmp_path / "run")
    assert find_translator(place) == place == tmp_path / "run" / "translator"
    assert read_metadata(place) == notes
    assert_close(Translator.load(place).model.state_dict(), translator.model.state_dict(), rtol=0, atol=0)


def test_an_unknown_folder_or_name_is_reported():
    with pytest.raises(FileNotFoundError, match="no folder 'xx-yy'"):
        find_translator("xx-yy")


def test_a_recipe_without_sizes_or_settings_is_read(run):
    recipe = read_recipe(run)
    assert recipe == Recipe(corpus="tatoeba-en-fr", vocabulary_size=330, model=MODEL)
    assert torch.nn.Module in type(recipe.make_model(average_checkpoints(run)[0].tokenizer)).__mro__

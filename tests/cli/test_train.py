import json
import re

import pytest

from glassformer.cli import main, train
from glassformer.data.sources import SOURCES
from glassformer.training.run import Recipe, small_config
from glassformer.training.settings import TrainingSettings
from glassformer.training.trainer import Trainer

TINY = "--d-model 12 --num-heads 2 --d-ff 20 --num-encoder-layers 1 --num-decoder-layers 1"
SHORT = "--vocabulary-size 300 --steps 3 --warmup-steps 1 --checkpoint-every 2 --max-tokens 211"
ON_CPU = ["--device", "cpu"]


@pytest.fixture
def recipes(monkeypatch):
    """Record recipes instead of running them."""
    caught = []
    monkeypatch.setattr(
        train, "run_recipe", lambda recipe, folder, **how: caught.append((recipe, folder, how))
    )
    return caught


def test_without_options_a_small_model_is_trained_with_the_default_settings(recipes, tmp_path):
    assert main(["train", "--folder", str(tmp_path), *ON_CPU]) == 0
    [(recipe, folder, _)] = recipes
    assert recipe == Recipe(corpus="tatoeba-en-fr")
    assert recipe.settings == TrainingSettings()
    assert folder == tmp_path


def test_each_option_reaches_the_recipe(recipes, tmp_path):
    options = (
        "--corpus multi30k-en-de --vocabulary-size 99 --d-model 20 --num-heads 5 --d-ff 7 --dropout 0.3 "
    )
    options += "--attention-dropout 0 --activation-dropout 0.2 "
    options += (
        "--num-encoder-layers 2 --num-decoder-layers 3 --norm post --positions learned --max-length 11 "
    )
    options += "--tie-embeddings target --steps 13 --warmup-steps 2 --learning-rate 3e-3 --schedule cosine "
    options += "--precision bfloat16 --compile --seed 4 --keep-checkpoints 6"
    arguments = ["train", "--folder", "x", "--data", str(tmp_path), *ON_CPU, *options.split()]
    assert main(arguments) == 0
    [(recipe, _, how)] = recipes
    assert recipe == Recipe(
        corpus="multi30k-en-de",
        vocabulary_size=99,
        model={
            "d_model": 20,
            "num_heads": 5,
            "d_ff": 7,
            "dropout": 0.3,
            "attention_dropout": 0.0,
            "activation_dropout": 0.2,
            "num_encoder_layers": 2,
            "num_decoder_layers": 3,
            "norm": "post",
            "positions": "learned",
            "max_length": 11,
            "tie_embeddings": "target",
        },
        settings=TrainingSettings(
            steps=13,
            warmup_steps=2,
            learning_rate=3e-3,
            schedule="cosine",
            precision="bfloat16",
            compile=True,
            seed=4,
            keep_checkpoints=6,
        ),
    )
    assert how["data_folder"] == tmp_path
    assert how["command"] == "glassformer " + " ".join(arguments)


def test_boolean_options_can_be_negated(recipes):
    assert main(["train", "--folder", "x", *ON_CPU, "--no-compile"]) == 0
    assert (
        main(["train", "--folder", "x", *ON_CPU, "--architecture", "fixed_context", "--bidirectional"]) == 0
    )
    assert not recipes[0][0].settings.compile
    assert recipes[1][0].model == small_config("fixed_context") | {"bidirectional": True}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--architecture", "fixed_context", "--num-heads", "2"],
            r"--num-heads: not an option of --architecture fixed_context",
        ),
        (
            ["--num-layers", "2", "--no-bidirectional"],
            r"--num-layers, --bidirectional: not an option of --architecture transformer",
        ),
        (["--architecture", "bird"], "invalid choice: 'bird'"),
        (["--corpus", "opus"], "invalid choice: 'opus'"),
        (["--positions", "none at all"], "invalid choice"),
        (["--steps", "many"], "invalid int value: 'many'"),
        (["--threads", "0"], "error: --threads must be a positive integer, got 0"),
        (["--learning_rate", "1"], "unrecognized arguments"),
    ],
)
def test_an_unknown_or_foreign_option_is_rejected(recipes, arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        main(["train", "--folder", "x", *arguments])
    assert end.value.code == 2
    assert re.search(message, capsys.readouterr().err)
    assert not recipes


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--num-heads", "5"], "--d-model (128) must be a multiple of --num-heads (5)"),
        (["--steps", "10"], "--warmup-steps must be at least 0 and at most --steps (10), got 1000"),
        (["--dropout", "1.5"], "--dropout must be at least 0 and below 1, got 1.5"),
        (["--device", "abacus"], "got 'abacus'"),
    ],
)
def test_an_invalid_value_is_reported(recipes, arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        main(["train", "--folder", "x", *arguments])
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not recipes


def test_the_help_groups_options_by_architecture(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    told = capsys.readouterr().out
    shared, transformer, recurrent = re.split(r"model: .* only:", told)
    assert "--d-model" in shared
    assert "--num-heads" in transformer
    assert "--bidirectional" in recurrent
    for name in SOURCES:
        assert name in shared
    for field in ("(default: 128)", "(default: tatoeba-en-fr)", "(default: pre)", "(default: no)"):
        assert field in " ".join(told.split())  # wherever the lines break


def test_an_interrupted_run_is_resumed(corpus_name, tmp_path, capsys, monkeypatch):
    step = Trainer._step

    def interrupted(self, group):
        if self.progress.step == 2:
            raise KeyboardInterrupt
        return step(self, group)

    command = [
        "train",
        "--folder",
        str(tmp_path),
        "--corpus",
        corpus_name,
        *TINY.split(),
        *SHORT.split(),
        *ON_CPU,
    ]
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", interrupted)
        assert main(command) == 130
    assert "interrupted. The same command resumes from step_00000002" in capsys.readouterr().err
    assert main([*command, "--seed", "1"]) == 1
    assert "settings.seed was 0 and is now 1" in capsys.readouterr().err
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "resumes after step_00000002, 3 steps in all" in told
    assert "test2016: bleu" in told
    record = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert record["command"] == "glassformer " + " ".join(command)


def test_an_interruption_before_the_first_checkpoint_is_reported(recipes, tmp_path, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "run_recipe", interrupted)
    assert main(["train", "--folder", str(tmp_path), *ON_CPU]) == 130
    assert "starts again: there is no checkpoint yet" in capsys.readouterr().err


def test_shared_settings_have_the_same_defaults_in_every_architecture():
    transformer, *recurrent = map(small_config, ("transformer", "fixed_context", "additive_attention"))
    for other in recurrent:
        for name in transformer.keys() & other.keys():
            assert transformer[name] == other[name]

import pytest
from torch.testing import assert_close

from glassformer.cli import average, main
from glassformer.translator import Translator


@pytest.fixture
def asked(translator, monkeypatch):
    """Record the calls of `average_checkpoints`, which returns a translator without averaging."""
    caught = []

    def average_checkpoints(folder, **choice):
        caught.append((folder, choice))
        return translator, {"averaged_steps": [3, 5]}

    monkeypatch.setattr(average, "average_checkpoints", average_checkpoints)
    return caught


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ([], {"last": None, "steps": ()}),
        (["--last", "2"], {"last": 2, "steps": ()}),
        (["--steps", "5", "3"], {"last": None, "steps": [5, 3]}),
    ],
)
def test_the_mean_of_the_chosen_checkpoints_is_saved(asked, translator, tmp_path, options, choice, capsys):
    assert main(["average", "runs/mine", "--output", str(tmp_path / "mean"), *options]) == 0
    assert [(str(folder), given) for folder, given in asked] == [("runs/mine", choice)]
    saved = Translator.load(tmp_path / "mean")
    assert_close(saved.model.state_dict(), translator.model.state_dict(), rtol=0, atol=0)
    assert capsys.readouterr().out == f"{tmp_path / 'mean'}: average of the checkpoints of steps 3, 5\n"


def test_a_folder_without_a_run_is_reported(tmp_path, capsys):
    assert main(["average", str(tmp_path), "--output", str(tmp_path / "mean")]) == 1
    assert "contains no recipe.json: it is not the folder of a run" in capsys.readouterr().err
    assert not (tmp_path / "mean").exists()


def test_last_and_steps_are_mutually_exclusive(capsys):
    with pytest.raises(SystemExit) as end:
        main(["average", "x", "--output", "y", "--last", "2", "--steps", "3"])
    assert end.value.code == 2
    assert "not allowed with" in capsys.readouterr().err

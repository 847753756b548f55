import json

import pytest
import torch
from safetensors.torch import load_file
from torch.testing import assert_close

from glassformer.cli import export, main
from glassformer.translator import Translator


@pytest.mark.parametrize(("options", "dtype"), [([], torch.float16), (["--dtype", "float32"], torch.float32)])
def test_an_exported_translator_has_the_same_weights(model, translator, tmp_path, options, dtype):
    assert main(["export", str(model), "--output", str(tmp_path / "out"), *options]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "model.json",
        "model.safetensors",
        "tokenizer.json",
    }
    stored = load_file(tmp_path / "out" / "model.safetensors")
    assert {weight.dtype for weight in stored.values()} == {dtype}
    again = Translator.load(tmp_path / "out").model.state_dict()
    wanted = {name: weight.to(dtype).float() for name, weight in translator.model.state_dict().items()}
    assert_close(again, wanted, rtol=0, atol=0)


def test_metadata_is_exported(model, tmp_path):
    assert main(["export", str(model), "--output", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["note"] == "made up"


def test_exported_files_are_readable_by_everyone(model, tmp_path):
    assert main(["export", str(model), "--output", str(tmp_path)]) == 0
    assert len({path.stat().st_mode for path in tmp_path.iterdir()}) == 1


@pytest.mark.parametrize(("most", "verdict"), [(12_000_000, ""), (10_000, "too large: ")])
def test_the_size_of_the_export_is_printed(model, tmp_path, capsys, monkeypatch, most, verdict):
    monkeypatch.setattr(export, "MAX_BYTES", most)
    assert main(["export", str(model), "--output", str(tmp_path)]) == 0
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    told = capsys.readouterr().out
    assert f" ({verdict}limit for pretrained translators: {export._size(most)})" in told
    assert f"total: {export._size(size)}" in told


def test_small_sizes_are_printed_in_kilobytes():
    assert [export._size(size) for size in (1234, 99_900, 100_000, 12_000_000)] == [
        "1.2 kB",
        "99.9 kB",
        "0.10 MB",
        "12.00 MB",
    ]


def test_a_folder_without_a_translator_is_reported(tmp_path, capsys):
    assert main(["export", str(tmp_path), "--output", str(tmp_path / "out")]) == 1
    assert "contains no model.json, so it is not a model folder" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()

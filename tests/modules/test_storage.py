import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from glassformer.modules.recurrent import AdditiveAttentionTranslator, FixedContextTranslator, RecurrentConfig
from glassformer.modules.storage import build_model, describe_model, load_model, save_model
from glassformer.modules.transformer import Transformer, TransformerConfig

SOURCE_SIZE, TARGET_SIZE = 11, 13


def make_transformer(**overrides):
    sizes = {"d_model": 6, "num_heads": 3, "d_ff": 7, "num_encoder_layers": 1, "num_decoder_layers": 2}
    config = TransformerConfig.tiny(SOURCE_SIZE, TARGET_SIZE, **(sizes | overrides))
    return Transformer(config, generator=torch.Generator().manual_seed(0)).eval()


def make_recurrent(model_class):
    config = RecurrentConfig(
        source_vocabulary_size=SOURCE_SIZE, target_vocabulary_size=TARGET_SIZE, d_model=5
    )
    return model_class(config, generator=torch.Generator().manual_seed(0)).eval()


MODELS = {
    "transformer": make_transformer,
    "fixed_context": lambda: make_recurrent(FixedContextTranslator),
    "additive_attention": lambda: make_recurrent(AdditiveAttentionTranslator),
}


@pytest.mark.parametrize("architecture", MODELS)
def test_a_saved_model_gives_the_same_logits(architecture, tmp_path):
    model = MODELS[architecture]()
    save_model(model, tmp_path)
    ids = torch.tensor([[3, 4, 5], [6, 7, 0]]), torch.tensor([[1, 3], [1, 4]])
    assert describe_model(model)["architecture"] == architecture
    assert torch.equal(load_model(tmp_path)(*ids), model(*ids))


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_every_parameter_is_saved(positions, tmp_path):
    model = make_transformer(positions=positions)
    save_model(model, tmp_path)
    torch.testing.assert_close(load_model(tmp_path).state_dict(), model.state_dict(), atol=0, rtol=0)


def test_positions_load_by_the_name_of_older_files(tmp_path):
    model = make_transformer(positions="alibi")
    save_model(model, tmp_path)
    file = tmp_path / "model.json"
    file.write_text(file.read_text().replace("alibi", "linear_bias"))
    assert load_model(tmp_path).config == model.config


@pytest.mark.parametrize(("tie", "matrices"), [("none", 3), ("target", 2), ("all", 1)])
def test_a_shared_matrix_is_saved_once_and_shared_again_when_loaded(tie, matrices, tmp_path):
    target_size = None if tie == "all" else TARGET_SIZE
    model = Transformer(
        TransformerConfig.tiny(SOURCE_SIZE, target_size, d_model=6, num_heads=3, d_ff=7, tie_embeddings=tie)
    )
    save_model(model, tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    vocabularies = (SOURCE_SIZE, TARGET_SIZE)
    assert sum(len(weight) in vocabularies and weight.ndim == 2 for weight in stored.values()) == matrices
    loaded = load_model(tmp_path)
    tables = (loaded.source_embedding.token, loaded.target_embedding.token, loaded.output_proj)
    assert len({id(table.weight) for table in tables}) == matrices


def test_half_precision_halves_the_file_and_is_loaded_as_float32(tmp_path):
    model = make_transformer(d_model=48)
    save_model(model, tmp_path / "full")
    save_model(model, tmp_path / "half", dtype=torch.float16)
    full, half = (load_file(tmp_path / name / "model.safetensors") for name in ("full", "half"))
    assert all(half[name].nbytes * 2 == full[name].nbytes for name in full)
    loaded = dict(load_model(tmp_path / "half").named_parameters())
    assert {weight.dtype for weight in loaded.values()} == {torch.float32}
    for name, weight in model.named_parameters():
        assert torch.equal(loaded[name], weight.half().float())


def test_weights_that_overflow_raise_an_error_and_nothing_is_written(tmp_path):
    model = make_transformer()
    model.decoder.layers[1].feed_forward.inner.weight.data[0, 0] = 1e5
    save_model(model, tmp_path)
    before = (tmp_path / "model.safetensors").read_bytes()
    with pytest.raises(ValueError, match=r"float16, but decoder\.layers\.1\.feed_forward\.inner\.weight"):
        save_model(model, tmp_path, dtype=torch.float16)
    assert (tmp_path / "model.safetensors").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2


def test_a_subclass_cannot_be_saved(tmp_path):
    class Other(Transformer):
        pass

    with pytest.raises(ValueError, match=r"model must be one of Transformer, .*, got Other"):
        save_model(Other(make_transformer().config), tmp_path / "there")
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda model: model.update(architecture="oracle"),
            "architecture must be one of 'transformer', .*, got 'oracle'",
        ),
        (lambda model: model.pop("architecture"), "architecture must be one of .*, got None"),
        (lambda model: model.update(config=3), "config must be an object with the model's settings, got int"),
        (lambda model: model["config"].update(depth=3), "config of a transformer has no settings depth"),
        (lambda model: model["config"].pop("source_vocabulary_size"), "must have the settings source_vocab"),
        (lambda model: model["config"].update(num_heads=4), r"d_model \(6\) must be a multiple of num_heads"),
        (lambda model: model["config"].update(d_ff="wide"), "d_ff must be a positive integer"),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_an_invalid_description_is_explained(change, message):
    description = describe_model(make_transformer())
    change(description)
    with pytest.raises(ValueError, match=message):
        build_model(description)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: weights.pop("decoder.final_norm.bias"), r"missing: decoder\.final_norm\.bias"),
        (lambda weights: weights.update(extra=torch.zeros(2)), "no parameters extra"),
        (
            lambda weights: weights.update({"decoder.final_norm.bias": torch.zeros(5)}),
            r"bias must have shape \(6,\), got \(5,\)",
        ),
        (
            lambda weights: weights["decoder.final_norm.bias"].fill_(torch.nan),
            "must be finite .*bias holds NaN",
        ),
    ],
)
def test_weights_of_another_model_are_rejected(change, message, tmp_path):
    save_model(make_transformer(norm="pre"), tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    change(weights)
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=rf"model\.safetensors: .*{message}"):
        load_model(tmp_path)


@pytest.mark.parametrize("name", ["model.json", "model.safetensors"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"PK\x03\x04" * 20])
def test_a_file_of_another_format_is_named(name, content, tmp_path):
    save_model(make_transformer(), tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=name):
        load_model(tmp_path)


def test_a_truncated_file_is_named(tmp_path):
    save_model(make_transformer(), tmp_path)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:-10])
    with pytest.raises(ValueError, match=r"model\.safetensors"):
        load_model(tmp_path)


def test_a_save_killed_while_files_are_moved_leaves_no_mixture(tmp_path, monkeypatch):
    save_model(make_transformer(), tmp_path)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        save_model(make_transformer(d_ff=19), tmp_path)
    with pytest.raises(FileNotFoundError, match=r"model\.json"):
        load_model(tmp_path)


def test_a_description_from_before_kind_was_renamed_to_architecture_still_loads(tmp_path):
    description = describe_model(make_transformer())
    description["kind"] = description.pop("architecture")
    assert describe_model(build_model(description)) == describe_model(make_transformer())


def test_the_description_is_plain_json(tmp_path):
    save_model(make_transformer(), tmp_path, corpus="Tatoeba", score=51.2)
    description = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert {name: description[name] for name in ("corpus", "score")} == {"corpus": "Tatoeba", "score": 51.2}

"""Invalid model files are rejected with a clear message."""

import json
import struct

import pytest
import torch
from engine import PRETRAINED, give_model, make_model, refusal
from safetensors.torch import save

from glassformer.data.tokenizer import Tokenizer


def weights_file(header, numbers=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


WHOLE = weights_file({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, bytes(8))

BAD_WEIGHTS = {
    "nothing": (b"", "only 0 bytes"),
    "a page of HTML": (b"<!doctype html><title>404</title>", "its header should have"),
    "no JSON": (weights_file(b"{oops"), "its header is not JSON"),
    "no names": (weights_file([1]), "its header"),
    "truncated": (WHOLE[:-1], "7 follow the header"),
    "too long": (WHOLE + b"x", "9 follow the header"),
    "integers": (
        weights_file({"a": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
        "dtype I32",
    ),
    "no shape": (weights_file({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, bytes(4)), "lacks the shape"),
    "a wrong size": (
        weights_file({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, bytes(4)),
        "8 bytes",
    ),
    "a hole": (
        weights_file({"a": {"dtype": "F16", "shape": [1], "data_offsets": [2, 4]}}, bytes(4)),
        "begin at byte 0",
    ),
    "another model": (WHOLE, "does not fit model.json: it lacks"),
}


def load_with(engine, part, content):
    """Load a translator with one part replaced; return the error message."""
    engine.give("other", content if isinstance(content, bytes) else content.encode())
    read = "bytesOf" if part == "weights" else "textOf"
    return refusal(
        engine,
        f"""async () => glassformer.loadTranslator({{ ...pretrained, {part}: await {read}("other") }})""",
    )


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_an_invalid_weights_file_is_reported(engine, name):
    content, words = BAD_WEIGHTS[name]
    found = load_with(engine, "weights", content)
    assert found.startswith("The weights file")
    assert words in found


@pytest.mark.parametrize("damage", ["NaN", "shape", "left over"])
def test_weights_that_do_not_fit_the_model_are_reported(engine, tmp_path, damage):
    model = make_model()
    script = give_model(engine, model, tmp_path)
    tensors = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    if damage == "NaN":
        tensors["encoder.final_norm.bias"][5] = torch.nan
    else:
        tensors["encoder.final_norm.bias" if damage == "shape" else "memory"] = torch.zeros(5)
    engine.give("small/model.safetensors", save(tensors))
    words = {"NaN": "NaN or infinity in encoder.final_norm.bias", "shape": "(5) instead of (24)"}
    assert words.get(damage, "which the model does not have") in refusal(engine, f"async () => {script}")


DESCRIPTION = json.loads((PRETRAINED / "model.json").read_text(encoding="utf-8"))

BAD_MODELS = {
    "fixed_context": "recurrent model (fixed_context)",
    "additive_attention": "recurrent model (additive_attention)",
    "mamba": "must describe a transformer",
}


@pytest.mark.parametrize("architecture", BAD_MODELS)
def test_another_architecture_is_reported(engine, architecture):
    description = json.dumps(DESCRIPTION | {"architecture": architecture})
    assert BAD_MODELS[architecture] in load_with(engine, "model", description)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"positions": "spiral"},
            "positions: it must be one of sinusoidal, learned, rotary, alibi, none, got spiral",
        ),
        ({"norm": None}, "unknown value of norm"),
        ({"d_model": "192"}, "d_model"),
        ({"num_heads": 7}, "not a multiple of num_heads (7)"),
        ({"pad_id": 6000}, "pad_id"),
        ({"gated": True}, "unknown settings: gated"),
        ({"d_ff": 256}, "instead of (256, 192)"),
        ({"num_decoder_layers": 4}, "lacks decoder.layers.3"),
        ({"num_decoder_layers": 2}, "which the model does not have"),
        ({"source_vocabulary_size": 6001}, "its vocabularies differ in size"),
    ],
    ids=str,
)
def test_an_invalid_setting_is_named(engine, settings, words):
    description = DESCRIPTION | {"config": DESCRIPTION["config"] | settings}
    assert words in load_with(engine, "model", json.dumps(description))


def test_a_model_json_with_old_names_is_still_read(engine):
    config = DESCRIPTION["config"] | {"positions": "linear_bias"}
    text = json.dumps({"kind": "transformer", "config": config})
    assert engine.run("text => glassformer.readConfiguration(text).positions", text) == "alibi"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"architecture": "transformer"}', "<!doctype html>"]
)
def test_an_invalid_description_is_reported(engine, text):
    assert load_with(engine, "model", text).startswith("model.json ")


TOKENIZER = (PRETRAINED / "tokenizer.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "{}",
        '{"model": {"type": "BPE", "merges": [["a", "b"]]}}',
        TOKENIZER[:-100],
        TOKENIZER.replace("[stmd]", "[st]"),
        TOKENIZER.replace('"<pad>":0', '"<nil>":0'),
        TOKENIZER.replace('"type":"NFC"', '"type":"NFD"'),
        TOKENIZER.replace('"ignore_merges":false', '"ignore_merges":true'),
    ],
    ids=range(9),
)
def test_an_invalid_tokenizer_is_reported(engine, text):
    assert text != TOKENIZER
    assert load_with(engine, "tokenizer", text).startswith("tokenizer.json must ")


def test_a_tokenizer_of_another_vocabulary_size_is_reported(engine, tmp_path):
    Tokenizer.train(["a"], vocabulary_size=259).save(tmp_path / "tokenizer.json")
    text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    assert "must have the same vocabulary size" in load_with(engine, "tokenizer", text)

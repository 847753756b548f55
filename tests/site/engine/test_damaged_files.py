"""Files that are damaged, or something else, are refused in words."""

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
    "no JSON": (weights_file(b"{oops"), "its header is no JSON"),
    "no names": (weights_file([1]), "its header"),
    "truncated": (WHOLE[:-1], "the file has 7 for them"),
    "too long": (WHOLE + b"x", "the file has 9 for them"),
    "integers": (
        weights_file({"a": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
        "type I32",
    ),
    "no shape": (weights_file({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, bytes(4)), "no shape"),
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
    """The words in which a translator is refused of which one part is another."""
    engine.give("other", content if isinstance(content, bytes) else content.encode())
    read = "bytesOf" if part == "weights" else "textOf"
    return refusal(
        engine,
        f"""async () => glassformer.loadTranslator({{ ...pretrained, {part}: await {read}("other") }})""",
    )


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_weights_that_are_damaged_or_foreign_are_refused_in_words(engine, name):
    content, words = BAD_WEIGHTS[name]
    found = load_with(engine, "weights", content)
    assert found.startswith("The file of weights")
    assert words in found


@pytest.mark.parametrize("damage", ["NaN", "shape", "left over"])
def test_weights_that_do_not_fit_the_model_are_refused_in_words(engine, tmp_path, damage):
    model = make_model()
    script = give_model(engine, model, tmp_path)
    tensors = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    if damage == "NaN":
        tensors["encoder.final_norm.bias"][5] = torch.nan
    else:
        tensors["encoder.final_norm.bias" if damage == "shape" else "memory"] = torch.zeros(5)
    engine.give("small/model.safetensors", save(tensors))
    words = {"NaN": "NaN or infinity in encoder.final_norm.bias", "shape": "(5) in place of (24)"}
    assert words.get(damage, "no place") in refusal(engine, f"async () => {script}")


DESCRIPTION = json.loads((PRETRAINED / "model.json").read_text(encoding="utf-8"))

BAD_MODELS = {
    "fixed_context": "recurrent model (fixed_context)",
    "additive_attention": "recurrent model (additive_attention)",
    "mamba": "must describe a transformer",
}


@pytest.mark.parametrize("architecture", BAD_MODELS)
def test_another_architecture_is_refused_in_words(engine, architecture):
    description = json.dumps(DESCRIPTION | {"architecture": architecture})
    assert BAD_MODELS[architecture] in load_with(engine, "model", description)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"positions": "spiral"}, "positions that is not known here: spiral"),
        ({"norm": None}, "norm that is not known here"),
        ({"d_model": "192"}, "d_model"),
        ({"num_heads": 7}, "no multiple of num_heads (7)"),
        ({"pad_id": 6000}, "pad_id"),
        ({"gated": True}, "not known here: gated"),
        ({"d_ff": 256}, "in place of (256, 192)"),
        ({"num_decoder_layers": 4}, "lacks decoder.layers.3"),
        ({"num_decoder_layers": 2}, "has no place"),
        ({"source_vocabulary_size": 6001}, "ties all embeddings of two vocabularies"),
    ],
    ids=str,
)
def test_a_setting_that_does_not_fit_is_named(engine, settings, words):
    description = DESCRIPTION | {"config": DESCRIPTION["config"] | settings}
    assert words in load_with(engine, "model", json.dumps(description))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"architecture": "transformer"}', "<!doctype html>"]
)
def test_a_description_that_is_none_is_refused_in_words(engine, text):
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
def test_a_tokenizer_that_is_damaged_or_foreign_is_refused_in_words(engine, text):
    assert text != TOKENIZER
    assert load_with(engine, "tokenizer", text).startswith("tokenizer.json must ")


def test_a_tokenizer_of_another_model_is_refused_in_words(engine, tmp_path):
    Tokenizer.train(["a"], vocabulary_size=259).save(tmp_path / "tokenizer.json")
    text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    assert "must share their vocabulary" in load_with(engine, "tokenizer", text)

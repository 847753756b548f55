"""The model in JavaScript computes the same logits and attention weights as PyTorch."""

import copy

import pytest
import torch
from engine import give_model, make_model, refusal, stack
from safetensors.torch import save

from glassformer.data.vocabulary import START_ID
from glassformer.inspection import ablate_heads, find_attention_layers, record_attention

CLOSE = 1e-5


@torch.no_grad()
def expect(engine, model, pairs, heads=None):
    """Serve Python's logits and attention weights for pairs of sentences.

    Computed in float64, because PyTorch's float32 is off by up to 1e-5.
    """
    model = copy.deepcopy(model).double()
    source_ids = stack([source for source, _ in pairs])
    target_ids = stack([[START_ID, *target[:-1]] for _, target in pairs])
    with record_attention(model) as weights_of, ablate_heads(model, heads or {}):
        logits = model(source_ids, target_ids)
    tensors = {}
    for number, (source, target) in enumerate(pairs):
        length = {"encoder": len(source), "decoder": len(target)}
        tensors[f"{number}.logits"] = logits[number, : len(target)]
        for name, weights in weights_of.items():
            queries = length[name.split(".")[0]]
            keys = len(source) if "cross" in name else queries
            tensors[f"{number}.{name}"] = weights[number, :, :queries, :keys]
    return engine.give(
        "expected", save({name: tensor.float().contiguous() for name, tensor in tensors.items()})
    )


def worst_differences(engine, model, pairs, script, heads=None):
    name = expect(engine, model, pairs, heads)
    function = f"async ([pairs, heads, name]) => worstDifferences({script}, pairs, heads, name)"
    return engine.run(function, [pairs, heads or {}, name])


def test_logits_and_attention_weights_are_those_of_pytorch(engine, translator, pairs):
    worst = worst_differences(engine, translator.model, pairs[:100], "translator.model")
    assert max(worst.values()) < CLOSE, worst


CONFIGS = {
    "post-norm": {"norm": "post"},
    "learned positions": {"positions": "learned", "max_length": 13},
    "rotary positions": {"positions": "rotary"},
    "ALiBi": {"positions": "alibi"},
    "no positions": {"positions": "none"},
    "target tied": {"tie_embeddings": "target", "target_vocabulary_size": 43},
    "nothing tied": {"tie_embeddings": "none", "target_vocabulary_size": 43, "positions": "learned"},
    "one head": {"num_heads": 1, "num_decoder_layers": 1},
    "odd sizes": {"d_model": 21, "num_heads": 3, "d_ff": 5, "norm": "post"},
}


@pytest.mark.parametrize("name", CONFIGS)
def test_every_transformer_setting_is_supported(engine, tmp_path, name):
    model = make_model(**CONFIGS[name])
    pairs = [([3, 36, 5, 7, 11, 2], [9, 4, 4, 30, 17, 2]), ([8, 2], [3]), ([5] * 13, [6] * 13)]
    worst = worst_differences(engine, model, pairs, give_model(engine, model, tmp_path))
    assert max(worst.values()) < CLOSE, worst


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_weights_of_every_dtype_are_read(engine, tmp_path, dtype):
    model = make_model()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))
        model.output_proj.weight[20, 0] = 2.0**-20  # subnormal in float16
    worst = worst_differences(
        engine, model, [([3, 20, 2], [9, 20, 2])], give_model(engine, model, tmp_path, dtype=dtype)
    )
    assert max(worst.values()) < CLOSE, worst


HEADS = {
    "one of the encoder": {"encoder.layers.1.self_attention": [4]},
    "some of the decoder": {
        "decoder.layers.0.self_attention": [0, 5],
        "decoder.layers.2.self_attention": [1],
    },
    "one of cross-attention": {"decoder.layers.1.cross_attention": [3]},
    "some everywhere": {
        "encoder.layers.0.self_attention": [0, 1],
        "decoder.layers.2.self_attention": [2],
        "decoder.layers.0.cross_attention": [5],
    },
}


@pytest.mark.parametrize("name", HEADS)
def test_ablating_heads_gives_the_same_logits_as_in_python(engine, translator, pairs, name):
    worst = worst_differences(engine, translator.model, pairs[:5], "translator.model", HEADS[name])
    assert max(worst.values()) < CLOSE, worst


def test_without_cross_attention_the_source_has_no_effect(engine, translator, pairs):
    names = [name for name in find_attention_layers(translator.model) if name.endswith("cross_attention")]
    heads = {name: list(range(translator.model.config.num_heads)) for name in names}
    worst = worst_differences(engine, translator.model, pairs[:5], "translator.model", heads)
    assert max(worst.values()) < CLOSE, worst
    blind = """([texts, ablated]) =>
      texts.map((text) => translator.translate(text, { ablated, maxLength: 9 }).text)"""
    one, other = engine.run(blind, [["I am a dog.", "We saw it once."], heads])
    assert one == other


def test_attention_layers_have_the_same_names_as_in_python(engine, translator):
    names = engine.run("() => translator.model.attentionNames")
    assert set(names) == set(find_attention_layers(translator.model))


@pytest.mark.parametrize(
    "heads", [{"encoder.layers.3.self_attention": [0]}, {"encoder.layers.0.self_attention": [6]}]
)
def test_ablating_a_missing_head_is_an_error(engine, heads):
    function = "heads => translator.translate('No.', { ablated: heads })"
    assert next(iter(heads)) in refusal(engine, function, heads)

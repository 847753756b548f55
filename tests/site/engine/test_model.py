"""The model in JavaScript computes the logits and maps that torch computes."""

import copy

import pytest
import torch
from engine import give_model, make_model, refusal, stack
from safetensors.torch import save

from glassformer.data.vocabulary import START_ID
from glassformer.inspection import ablate_heads, find_attentions, record_attention

CLOSE = 1e-5


@torch.no_grad()
def expect(engine, model, pairs, heads=None):
    """What Python computes for pairs of sentences, where the page can fetch it.

    In float64: torch's own float32 is 1e-5 away from it.
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


def test_logits_and_all_maps_are_those_of_torch(engine, translator, pairs):
    worst = worst_differences(engine, translator.model, pairs[:100], "translator.model")
    assert max(worst.values()) < CLOSE, worst


CONFIGS = {
    "post-norm": {"norm": "post"},
    "learned positions": {"positions": "learned", "max_length": 13},
    "rotary positions": {"positions": "rotary"},
    "linear bias": {"positions": "linear_bias"},
    "no positions": {"positions": "none"},
    "target tied": {"tie_embeddings": "target", "target_vocabulary_size": 43},
    "nothing tied": {"tie_embeddings": "none", "target_vocabulary_size": 43, "positions": "learned"},
    "one head": {"num_heads": 1, "num_decoder_layers": 1},
    "odd sizes": {"d_model": 21, "num_heads": 3, "d_ff": 5, "norm": "post"},
}


@pytest.mark.parametrize("name", CONFIGS)
def test_every_setting_of_a_transformer_is_known(engine, tmp_path, name):
    model = make_model(**CONFIGS[name])
    pairs = [([3, 36, 5, 7, 11, 2], [9, 4, 4, 30, 17, 2]), ([8, 2], [3]), ([5] * 13, [6] * 13)]
    worst = worst_differences(engine, model, pairs, give_model(engine, model, tmp_path))
    assert max(worst.values()) < CLOSE, worst


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_numbers_of_each_size_are_read(engine, tmp_path, dtype):
    model = make_model()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))
        model.output_proj.weight[20, 0] = 2.0**-20  # below the normal numbers of float16
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
    "one that looks at the source": {"decoder.layers.1.cross_attention": [3]},
    "some everywhere": {
        "encoder.layers.0.self_attention": [0, 1],
        "decoder.layers.2.self_attention": [2],
        "decoder.layers.0.cross_attention": [5],
    },
}


@pytest.mark.parametrize("name", HEADS)
def test_heads_are_switched_off_as_inspection_does(engine, translator, pairs, name):
    worst = worst_differences(engine, translator.model, pairs[:5], "translator.model", HEADS[name])
    assert max(worst.values()) < CLOSE, worst


def test_all_that_looks_at_the_source_can_be_switched_off(engine, translator, pairs):
    names = [name for name in find_attentions(translator.model) if name.endswith("cross_attention")]
    heads = {name: list(range(translator.model.config.num_heads)) for name in names}
    assert engine.run("() => glassformer.crossHeads(translator.model)") == heads
    worst = worst_differences(engine, translator.model, pairs[:5], "translator.model", heads)
    assert max(worst.values()) < CLOSE, worst
    blind = """([texts, switchedOff]) =>
      texts.map((text) => translator.translate(text, { switchedOff, maxLength: 9 }).text)"""
    one, other = engine.run(blind, [["I am a dog.", "We saw it once."], heads])
    assert one == other


def test_the_attentions_have_the_names_that_python_gives_them(engine, translator):
    names = engine.run("() => translator.model.attentionNames")
    assert set(names) == set(find_attentions(translator.model))


@pytest.mark.parametrize(
    "heads", [{"encoder.layers.3.self_attention": [0]}, {"encoder.layers.0.self_attention": [6]}]
)
def test_heads_that_are_not_there_are_named(engine, heads):
    function = "heads => translator.translate('No.', { switchedOff: heads })"
    assert next(iter(heads)) in refusal(engine, function, heads)

import pytest
import torch
from torch.testing import assert_close

from glassformer.decoding.cache import KeyValueCache, NoCache, start_cache
from glassformer.inspection import ablate_heads
from glassformer.modules.transformer import Transformer

from .conftest import PAD, RECURRENT, SOURCE_SIZE, START, TARGET_SIZE, make_model, make_sources

SENTENCES, MAX_LENGTH, BEAMS = 5, 7, 3
POSITIONS = ["sinusoidal", "learned", "rotary", "linear_bias", "none"]


def assert_same_steps(model, source_ids, *, atol=1e-5):
    """Go on with changing beams, one sentence lost on the way: with and without a cache, the same logits."""
    generator = torch.Generator().manual_seed(3)
    options = {"max_length": MAX_LENGTH, "beam_size": BEAMS}
    caches = [start_cache(model, source_ids, cached=cached, **options) for cached in (True, False)]
    assert type(caches[0]) is not type(caches[1])
    rows, beams = len(source_ids), 1
    last_ids = torch.full((rows, 1), START)
    for time in range(MAX_LENGTH):
        first, second = (cache.step(last_ids.to(source_ids.device)) for cache in caches)
        assert first.shape == (rows, beams, TARGET_SIZE)
        assert_close(first, second, atol=atol, rtol=0)
        new_beams = [BEAMS, BEAMS, 2, 1, 2, BEAMS, 1][time]
        parents = torch.randint(beams, (rows, new_beams), generator=generator)
        for cache in caches:
            cache.reorder(parents.to(source_ids.device))
        if time in (1, 4):
            rows, kept = rows - 1, torch.tensor([0, 2, 3, 4][: rows - 1])
            for cache in caches:
                cache.keep(kept.to(source_ids.device))
        beams = new_beams
        last_ids = torch.randint(3, TARGET_SIZE, (rows, beams), generator=generator)


@torch.no_grad()
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("tie_embeddings", ["none", "target", "all"])
def test_every_transformer_steps_as_it_would_without_a_cache(norm, positions, tie_embeddings):
    options = {"norm": norm, "positions": positions, "tie_embeddings": tie_embeddings}
    model = make_model(wild=1.0, source_size=TARGET_SIZE, max_length=MAX_LENGTH, **options)
    assert_same_steps(model, make_sources(SENTENCES).clamp(max=TARGET_SIZE - 1))


@torch.no_grad()
@pytest.mark.parametrize("kind", ["transformer", *RECURRENT])
def test_every_model_steps_as_it_would_without_a_cache(kind, device):
    model = make_model(kind, wild=1.0).to(device)
    assert_same_steps(model, make_sources(SENTENCES, seed=1).to(device))


@torch.no_grad()
def test_sentences_without_padding_and_of_padding_alone_step_as_without_a_cache():
    full = torch.randint(3, SOURCE_SIZE, (SENTENCES, 4), generator=torch.Generator().manual_seed(0))
    assert_same_steps(make_model(wild=1.0), full)
    full[2] = PAD
    assert_same_steps(make_model(wild=1.0), full)


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_steps_nearly_as_without_a_cache(dtype):
    assert_same_steps(make_model().to(dtype), make_sources(SENTENCES), atol=0.1)


@torch.no_grad()
def test_heads_that_are_switched_off_are_off_in_a_step():
    model = make_model()
    heads = {"decoder.layers.0.self_attention": [1], "decoder.layers.1.cross_attention": [0, 2]}
    last_ids = torch.full((SENTENCES, 1), START)
    with_all = start_cache(model, make_sources(SENTENCES), max_length=2).step(last_ids)
    with ablate_heads(model, heads):
        assert_same_steps(model, make_sources(SENTENCES))
        without = start_cache(model, make_sources(SENTENCES), max_length=2).step(last_ids)
    assert (with_all - without).abs().max() > 1e-3


@torch.no_grad()
def test_the_source_is_read_and_projected_once():
    model, calls = make_model(), []
    for layer in model.decoder.layers:
        layer.cross_attention.key_proj.register_forward_hook(lambda *_: calls.append("key"))
        layer.cross_attention.value_proj.register_forward_hook(lambda *_: calls.append("value"))
    model.encoder.layers[0].feed_forward.register_forward_hook(lambda *_: calls.append("read"))
    cache = start_cache(model, make_sources(SENTENCES), max_length=MAX_LENGTH, beam_size=BEAMS)
    for _ in range(MAX_LENGTH):
        cache.step(torch.full((SENTENCES, BEAMS), START)[:, : 1 if not cache._time else BEAMS])
        cache.reorder(torch.zeros(SENTENCES, BEAMS, dtype=torch.int64))
    assert sorted(calls) == ["key"] * 2 + ["read"] + ["value"] * 2


@torch.no_grad()
def test_a_step_computes_keys_for_the_new_tokens_alone():
    model, rows = make_model(), []
    model.decoder.layers[1].self_attention.key_proj.register_forward_hook(
        lambda module, args, output: rows.append(output.shape[:-1].numel())
    )
    cache = start_cache(model, make_sources(SENTENCES), max_length=MAX_LENGTH)
    for _ in range(MAX_LENGTH):
        cache.step(torch.full((SENTENCES, 1), START))
    assert rows == [SENTENCES] * MAX_LENGTH


@torch.no_grad()
def test_memory_is_allocated_once_and_moved_by_no_change_of_beams():
    cache = start_cache(make_model(), make_sources(SENTENCES), max_length=MAX_LENGTH, beam_size=BEAMS)
    places = set()
    for time in range(MAX_LENGTH):
        cache.step(torch.full((SENTENCES, BEAMS if time else 1), START))
        cache.reorder(torch.full((SENTENCES, BEAMS), BEAMS - 1 if time else 0))
        places.add((cache._kept.data_ptr(), cache._memory[0][0].data_ptr()))
    assert len(places) == 1


def test_a_class_that_decodes_in_its_own_way_is_not_cached():
    class Own(Transformer):
        def decode(self, target_ids, memory, memory_mask=None):
            return super().decode(target_ids, memory, memory_mask)

    model = make_model()
    source_ids = make_sources(2)
    assert type(start_cache(model, source_ids, max_length=3)) is KeyValueCache
    assert type(start_cache(model, source_ids, max_length=3, cached=False)) is NoCache
    assert type(start_cache(Own(model.config).eval(), source_ids, max_length=3)) is NoCache

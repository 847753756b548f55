import pytest
import torch
from torch.testing import assert_close

from glassformer.decoding.cache import CachedDecoding, UncachedDecoding, start_decoding
from glassformer.decoding.generate import greedy_decode
from glassformer.inspection import ablate_heads
from glassformer.modules.layers import DecoderLayer
from glassformer.modules.transformer import Transformer

from .conftest import END, PAD, RECURRENT, SOURCE_SIZE, START, TARGET_SIZE, make_model, make_sources

SENTENCES, MAX_LENGTH, BEAMS = 5, 7, 3
POSITIONS = ["sinusoidal", "learned", "rotary", "alibi", "none"]


def assert_same_steps(model, source_ids, *, atol=1e-5):
    """Decode with changing beams and drop sentences on the way: with and without a cache, the same logits."""
    generator = torch.Generator().manual_seed(3)
    options = {"max_length": MAX_LENGTH, "beam_size": BEAMS}
    both = [start_decoding(model, source_ids, use_cache=use_cache, **options) for use_cache in (True, False)]
    assert [type(decoding) for decoding in both] == [CachedDecoding, UncachedDecoding]
    rows, beams = len(source_ids), 1
    last_ids = torch.full((rows, 1), START)
    for time in range(MAX_LENGTH):
        first, second = (decoding.step(last_ids.to(source_ids.device)) for decoding in both)
        assert first.shape == (rows, beams, TARGET_SIZE)
        assert_close(first, second, atol=atol, rtol=0)
        new_beams = [BEAMS, BEAMS, 2, 1, 2, BEAMS, 1][time]
        parents = torch.randint(beams, (rows, new_beams), generator=generator)
        for decoding in both:
            decoding.reorder(parents.to(source_ids.device))
        if time in (1, 4):
            rows, kept = rows - 1, torch.tensor([0, 2, 3, 4][: rows - 1])
            for decoding in both:
                decoding.select_batch(kept.to(source_ids.device))
        beams = new_beams
        last_ids = torch.randint(3, TARGET_SIZE, (rows, beams), generator=generator)


@torch.no_grad()
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("tie_embeddings", ["none", "target", "all"])
def test_every_transformer_has_the_same_logits_with_and_without_a_cache(norm, positions, tie_embeddings):
    options = {"norm": norm, "positions": positions, "tie_embeddings": tie_embeddings}
    model = make_model(wild=1.0, source_size=TARGET_SIZE, max_length=MAX_LENGTH, **options)
    assert_same_steps(model, make_sources(SENTENCES).clamp(max=TARGET_SIZE - 1))


@torch.no_grad()
@pytest.mark.parametrize("kind", ["transformer", *RECURRENT])
def test_every_model_has_the_same_logits_with_and_without_a_cache(kind, device):
    model = make_model(kind, wild=1.0).to(device)
    assert_same_steps(model, make_sources(SENTENCES, seed=1).to(device))


@torch.no_grad()
def test_unpadded_and_empty_sentences_have_the_same_logits_with_a_cache():
    full = torch.randint(3, SOURCE_SIZE, (SENTENCES, 4), generator=torch.Generator().manual_seed(0))
    assert_same_steps(make_model(wild=1.0), full)
    full[2] = PAD
    assert_same_steps(make_model(wild=1.0), full)


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_has_nearly_the_same_logits_with_a_cache(dtype):
    assert_same_steps(make_model().to(dtype), make_sources(SENTENCES), atol=0.1)


@torch.no_grad()
def test_ablated_heads_are_ablated_with_a_cache():
    model = make_model()
    heads = {"decoder.layers.0.self_attention": [1], "decoder.layers.1.cross_attention": [0, 2]}
    last_ids = torch.full((SENTENCES, 1), START)
    with_all = start_decoding(model, make_sources(SENTENCES), max_length=2).step(last_ids)
    with ablate_heads(model, heads):
        assert_same_steps(model, make_sources(SENTENCES))
        without = start_decoding(model, make_sources(SENTENCES), max_length=2).step(last_ids)
    assert (with_all - without).abs().max() > 1e-3


@torch.no_grad()
def test_the_source_is_encoded_and_projected_once():
    model, calls = make_model(), []
    for layer in model.decoder.layers:
        layer.cross_attention.key_proj.register_forward_hook(lambda *_: calls.append("key"))
        layer.cross_attention.value_proj.register_forward_hook(lambda *_: calls.append("value"))
    model.encoder.layers[0].feed_forward.register_forward_hook(lambda *_: calls.append("read"))
    decoding = start_decoding(model, make_sources(SENTENCES), max_length=MAX_LENGTH, beam_size=BEAMS)
    for time in range(MAX_LENGTH):
        decoding.step(torch.full((SENTENCES, BEAMS if time else 1), START))
        decoding.reorder(torch.zeros(SENTENCES, BEAMS, dtype=torch.int64))
    assert sorted(calls) == ["key"] * 2 + ["read"] + ["value"] * 2


@torch.no_grad()
def test_a_step_computes_keys_for_the_new_tokens_alone():
    model, rows = make_model(), []
    model.decoder.layers[1].self_attention.key_proj.register_forward_hook(
        lambda module, args, output: rows.append(output.shape[:-1].numel())
    )
    decoding = start_decoding(model, make_sources(SENTENCES), max_length=MAX_LENGTH)
    for _ in range(MAX_LENGTH):
        decoding.step(torch.full((SENTENCES, 1), START))
    assert rows == [SENTENCES] * MAX_LENGTH


@torch.no_grad()
def test_memory_is_allocated_once_and_no_reordering_copies_it():
    model = make_model()
    cache = model.make_cache(MAX_LENGTH, BEAMS)
    encoded, places = model.encode(make_sources(SENTENCES)), set()
    for time in range(MAX_LENGTH):
        model.decode(torch.full((SENTENCES, BEAMS if time else 1), START), *encoded, cache=cache)
        cache.reorder(torch.full((SENTENCES, BEAMS), BEAMS - 1 if time else 0))
        places.add(tuple(part.data_ptr() for layer in cache.layers for kept in layer for part in kept.read()))
    assert len(places) == 1


@torch.no_grad()
def test_a_custom_layer_that_accepts_the_cache_decodes_with_it():
    class Doubled(DecoderLayer):
        def forward(self, x, memory, attn_mask=None, memory_mask=None, *, cache=None):
            return super().forward(2 * x, memory, attn_mask, memory_mask, cache=cache)

    model = make_model()
    for layer in model.decoder.layers:
        layer.__class__ = Doubled
    assert_same_steps(model, make_sources(SENTENCES))


class ReversedDecode(Transformer):
    def decode(self, target_ids, memory, memory_mask=None):
        return super().decode(target_ids, memory, memory_mask).flip(-1)


class HalvedLayer(DecoderLayer):
    def forward(self, x, memory, attn_mask=None, memory_mask=None):
        return super().forward(x / 2, memory, attn_mask, memory_mask)


@torch.no_grad()
@pytest.mark.parametrize("own", [ReversedDecode, HalvedLayer])
def test_a_subclass_that_accepts_no_cache_decodes_without_it(own):
    model = make_model()
    changed = model if own is ReversedDecode else model.decoder.layers[1]
    changed.__class__ = own
    source_ids = make_sources(2)
    assert type(start_decoding(model, source_ids, max_length=3)) is UncachedDecoding
    marks = {"start_id": START, "end_id": END}
    ids = greedy_decode(model, source_ids, **marks, max_length=5)
    assert torch.equal(ids, greedy_decode(model, source_ids, **marks, max_length=5, use_cache=False))


@pytest.mark.usefixtures("as_a_user")
def test_ids_outside_the_vocabulary_are_named_before_decoding():
    for use_cache in (True, False):
        with pytest.raises(ValueError, match=r"source_ids .* size \(11\), got ids from 4 to 11"):
            start_decoding(make_model(), torch.tensor([[4, SOURCE_SIZE]]), max_length=3, use_cache=use_cache)

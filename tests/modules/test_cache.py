import pytest
import torch
from torch.testing import assert_close

from glassformer.modules.cache import DecoderCache, KVCache, RecurrentCache

BATCH, HEADS, SLOTS, D_HEAD = 3, 2, 5, 7


@pytest.fixture
def tokens(generator):
    return torch.randn(2, BATCH, HEADS, SLOTS, D_HEAD, generator=generator)


def test_a_growing_cache_returns_all_keys_and_values_so_far(tokens):
    cache = KVCache(torch.arange(SLOTS))
    for start, stop in ((0, 1), (1, 4), (4, 5)):
        kept = cache.update(*tokens[..., start:stop, :])
        assert_close(torch.stack(kept), tokens[..., :stop, :])
    assert_close(torch.stack(cache.read()), tokens)
    assert not cache.is_final


def test_a_cache_without_positions_is_final_after_its_first_update(tokens):
    cache = KVCache()
    assert not cache.is_final
    cache.update(*tokens)
    assert cache.is_final
    assert_close(torch.stack(cache.read()), tokens)
    with pytest.raises(ValueError, match="the cache is final"):
        cache.update(*tokens)


def test_an_empty_cache_cannot_be_read():
    with pytest.raises(ValueError, match="the cache is empty"):
        KVCache().read()


@pytest.mark.parametrize("positions", [None, torch.arange(SLOTS)])
def test_selected_rows_keep_their_keys_and_values(positions, tokens):
    cache, rows = KVCache(positions), torch.tensor([2, 0])
    cache.select_batch(rows)  # nothing to select yet
    cache.update(*tokens[..., :3, :])
    cache.select_batch(rows)
    assert_close(torch.stack(cache.read()), tokens[:, rows, :, :3])
    if positions is not None:
        assert_close(torch.stack(cache.update(*tokens[:, rows, :, 3:])), tokens[:, rows])


def test_too_many_tokens_are_refused(tokens):
    cache = KVCache(torch.arange(4))
    with pytest.raises(ValueError, match="the cache has 4 slots, got 5 tokens"):
        cache.update(*tokens)


def test_a_cache_without_positions_is_refused_where_they_are_needed():
    with pytest.raises(ValueError, match="a cache without positions cannot serve"):
        KVCache().positions(1)


def test_each_beam_attends_to_its_own_ancestors():
    cache = DecoderCache(num_layers=1, slots=9, device=torch.device("cpu"))
    assert cache.reserve_slots(1) == (0, None)  # a sentence without rivals needs no mask
    cache.reorder(torch.tensor([[0, 0], [0, 0]]))
    position, mask = cache.reserve_slots(2)
    assert position == 1
    assert mask.int().tolist() == [[[[1, 1, 0], [1, 0, 1]]]] * 2
    cache.reorder(torch.tensor([[1, 1], [0, 1]]))
    cache.select_batch(torch.tensor([0]))
    position, mask = cache.reserve_slots(2)
    assert position == 2
    assert mask.int().tolist() == [[[[1, 0, 1, 1, 0], [1, 0, 1, 0, 1]]]]


def test_a_recurrent_cache_reorders_and_selects_rows():
    cache = RecurrentCache()
    cache.state = torch.tensor([[[0.0], [1], [2]]]), torch.tensor([[[5.0], [6], [7]]])
    cache.reorder(torch.zeros(3, 2, dtype=torch.int64))
    cache.state = tuple(part + torch.tensor([[0.0], [10]] * 3) for part in cache.state)
    cache.reorder(torch.tensor([[1, 1], [0, 1], [1, 0]]))
    cache.select_batch(torch.tensor([0, 2]))
    state, cell = cache.state
    assert state.flatten().tolist() == [10, 10, 12, 2]
    assert cell.flatten().tolist() == [15, 15, 17, 7]

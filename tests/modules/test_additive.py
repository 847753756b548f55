import pytest
import torch
from torch.testing import assert_close

from glassformer.modules.additive import AdditiveAttention
from glassformer.modules.cache import KVCache

BATCH, QUERY, KEY, D_MODEL, D_V = 2, 3, 5, 7, 11


@pytest.fixture
def inputs(generator):
    shapes = (BATCH, QUERY, D_MODEL), (BATCH, KEY, D_MODEL), (BATCH, KEY, D_V)
    return [torch.randn(shape, generator=generator) for shape in shapes]


@pytest.mark.parametrize("masked", [False, True])
def test_cached_keys_give_the_output_of_the_keys_themselves(masked, inputs, device):
    torch.manual_seed(0)
    attention = AdditiveAttention(D_MODEL).to(device)
    query, key, value = (x.to(device) for x in inputs)
    attn_mask = (torch.arange(KEY, device=device) < 3).expand(BATCH, 1, KEY) if masked else None
    attended, _ = attention(query, key, value, attn_mask)
    cache = KVCache()
    for given in (key, torch.full_like(key, torch.nan)):  # only the first is read
        from_cache, _ = attention(query, given, value, attn_mask, cache=cache)
        assert_close(from_cache, attended)

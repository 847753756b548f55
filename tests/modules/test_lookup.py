import numpy as np
import pytest
import torch

from glassformer.data.lookup import LookupTask
from glassformer.modules.lookup import AttentionLookup
from glassformer.reference.attention import scaled_dot_product_attention

BATCH, PAIRS, SYMBOLS, VALUES, HEADS, D_K = 3, 5, 7, 11, 2, 13
D_MODEL = HEADS * D_K


def make(scale=D_K**0.5, seed=0, d_model=D_MODEL):
    generator = torch.Generator().manual_seed(seed)
    options = {"d_model": d_model, "num_heads": HEADS, "scale": scale, "generator": generator}
    return AttentionLookup(SYMBOLS, VALUES, **options)


def draw(device="cpu"):
    batch = LookupTask(PAIRS, SYMBOLS, VALUES).sample(BATCH, np.random.default_rng(0))
    return tuple(torch.from_numpy(ids).to(device) for ids in batch)


def test_divided_by_the_root_of_d_k_it_is_the_attention_of_the_reference():
    model = make().double()
    query_ids, key_ids, value_ids, _ = draw()
    logits, weights = model(query_ids, key_ids, value_ids)
    symbols = model.symbols.numpy()
    query_weight, key_weight, value_weight, output_weight = (p.detach().numpy() for p in model.parameters())
    for row in range(BATCH):
        found = []
        for head in range(HEADS):
            part = slice(head * D_K, (head + 1) * D_K)
            query = symbols[query_ids[row]][None] @ query_weight[:, part]
            key = symbols[key_ids[row]] @ key_weight[:, part]
            value = np.eye(VALUES)[value_ids[row]] @ value_weight[:, part]
            attended, wanted = scaled_dot_product_attention(query, key, value)
            np.testing.assert_allclose(weights[head, row].detach().numpy(), wanted[0], atol=1e-12)
            found.append(attended[0])
        wanted_logits = np.concatenate(found) @ output_weight
        np.testing.assert_allclose(logits[row].detach().numpy(), wanted_logits, atol=1e-12)


def test_the_scale_divides_the_scores_and_changes_nothing_else():
    divided, undivided = make(scale=17.0), make(scale=1.0)
    torch.testing.assert_close(divided.scores() * 17, undivided.scores())
    for one, other in zip(divided.state_dict().values(), undivided.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_symbols_and_queries_begin_with_unit_variance():
    model = make(d_model=HEADS * 199)
    queries = model.symbols @ model.query_weight
    assert model.symbols.var().item() == pytest.approx(1, abs=0.1)
    assert queries.var().item() == pytest.approx(1, abs=0.15)


def test_symbols_are_not_learned_and_everything_else_is():
    model = make()
    logits, _ = model(*draw()[:3])
    logits.square().sum().backward()
    assert not model.symbols.requires_grad
    assert len(list(model.parameters())) == 4
    assert all(weight.grad.abs().max() > 0 for weight in model.parameters())


def test_it_runs_on_every_device(device):
    model = make().to(device)
    *ids, _ = draw(device)
    logits, weights = model(*ids)
    assert logits.device.type == weights.device.type == device.type
    assert logits.shape == (BATCH, VALUES)
    assert weights.shape == (HEADS, BATCH, PAIRS)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": 0.0}, "scale must be positive, got 0.0"),
        ({"num_heads": 3}, r"d_model \(26\) must be a multiple of num_heads \(3\)"),
        ({"num_values": 0}, "num_values must be a whole number of at least 1, got 0"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(change, message):
    sizes = {
        "num_symbols": SYMBOLS,
        "num_values": VALUES,
        "d_model": D_MODEL,
        "num_heads": HEADS,
        "scale": 1.0,
    }
    with pytest.raises(ValueError, match=message):
        AttentionLookup(**sizes | change)

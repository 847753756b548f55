import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.tasks.lookup import AttentionLookup, LookupTask

BATCH, PAIRS, SYMBOLS, VALUES, HEADS, D_K = 3, 5, 7, 11, 2, 13
D_MODEL = HEADS * D_K


@given(
    num_pairs=st.integers(1, 13),
    spare=st.integers(0, 5),
    num_values=st.integers(1, 17),
    batch_size=st.integers(1, 5),
)
def test_the_label_is_the_value_paired_with_the_queried_symbol(num_pairs, spare, num_values, batch_size):
    task = LookupTask(num_pairs, num_pairs + spare, num_values)
    batch = task.sample(batch_size, np.random.default_rng(0))
    assert batch.key_ids.shape == batch.value_ids.shape == (batch_size, num_pairs)
    beside = batch.key_ids == batch.query_ids[:, None]
    np.testing.assert_array_equal(beside.sum(axis=-1), np.ones(batch_size))
    np.testing.assert_array_equal(batch.value_ids[beside], batch.labels)


def test_every_symbol_value_and_position_occurs():
    batch = LookupTask(PAIRS, SYMBOLS, VALUES).sample(997, np.random.default_rng(1))
    places = (batch.key_ids == batch.query_ids[:, None]).argmax(axis=-1)
    for ids, count in ((batch.key_ids, SYMBOLS), (batch.value_ids, VALUES), (places, PAIRS)):
        np.testing.assert_array_equal(np.unique(ids), np.arange(count))


def test_symbols_and_values_are_independent():
    batch = LookupTask(PAIRS, SYMBOLS, VALUES).sample(9973, np.random.default_rng(2))
    table = np.zeros((SYMBOLS, VALUES))
    np.add.at(table, (batch.query_ids, batch.labels), 1)
    np.testing.assert_allclose(table / table.sum(axis=-1, keepdims=True), 1 / VALUES, atol=0.04)


def test_the_same_rng_state_draws_the_same_lists():
    task = LookupTask(PAIRS, SYMBOLS, VALUES)
    first, again, other = (task.sample(BATCH, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(one, two) for one, two in zip(first, again, strict=True))
    assert not np.array_equal(first.key_ids, other.key_ids)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 7, 11), "num_pairs must be a positive integer, got 0"),
        ((5, 7, 1.5), "num_values must be a positive integer, got 1.5"),
        ((7, 5, 11), "num_pairs (7) must be at most num_symbols (5)"),
    ],
)
def test_an_impossible_task_is_rejected(sizes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        LookupTask(*sizes)


def make(scale=D_K**0.5, seed=0, d_model=D_MODEL):
    generator = torch.Generator().manual_seed(seed)
    options = {"d_model": d_model, "num_heads": HEADS, "scale": scale, "generator": generator}
    return AttentionLookup(SYMBOLS, VALUES, **options)


def draw(device="cpu"):
    batch = LookupTask(PAIRS, SYMBOLS, VALUES).sample(BATCH, np.random.default_rng(0))
    return tuple(torch.from_numpy(ids).to(device) for ids in batch)


def test_with_a_scale_of_root_d_k_it_equals_the_reference_attention():
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


def test_a_copy_with_another_scale_has_the_same_scores_and_its_own_weights():
    model = make(scale=4.0).double()
    twin = model.with_scale(9.0)
    assert (model.scale, twin.scale) == (4.0, 9.0)
    torch.testing.assert_close(twin.scores(), model.scores(), atol=1e-12, rtol=0)
    torch.testing.assert_close(twin.query_weight, model.query_weight * 1.5)
    torch.testing.assert_close(twin.key_weight, model.key_weight * 1.5)
    twin.scores().sum().backward()
    assert model.query_weight.grad is None


def test_symbols_and_queries_initially_have_unit_variance():
    model = make(d_model=HEADS * 199)
    queries = model.symbols @ model.query_weight
    assert model.symbols.var().item() == pytest.approx(1, abs=0.1)
    assert queries.var().item() == pytest.approx(1, abs=0.15)


def test_all_parameters_but_the_symbols_are_trained():
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


def test_a_scale_of_zero_is_rejected():
    with pytest.raises(ValueError, match=r"scale must be positive, got 0\.0"):
        make().with_scale(0.0)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": 0.0}, "scale must be positive, got 0.0"),
        ({"num_heads": 3}, r"d_model \(26\) must be a multiple of num_heads \(3\)"),
        ({"num_values": 0}, "num_values must be a positive integer, got 0"),
    ],
)
def test_invalid_sizes_are_rejected(change, message):
    sizes = {
        "num_symbols": SYMBOLS,
        "num_values": VALUES,
        "d_model": D_MODEL,
        "num_heads": HEADS,
        "scale": 1.0,
    }
    with pytest.raises(ValueError, match=message):
        AttentionLookup(**sizes | change)

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from glassformer.modules.positions import (
    AlibiPositions,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    alibi,
    apply_rotary_embedding,
)
from glassformer.reference import positions as reference

BATCH, HEADS, QUERY, KEY, D_HEAD, D_MODEL, MAX_LENGTH = 2, 7, 3, 5, 6, 11, 13
sizes = st.integers(1, 7)


@settings(max_examples=30)
@given(st.lists(sizes, max_size=2).map(tuple), sizes, sizes, st.integers(0, 2**32 - 1), st.booleans())
def test_the_rotation_equals_the_reference_and_its_gradient_rotates_back(
    batch, time, pairs, seed, given_positions
):
    rng = np.random.default_rng(seed)
    x, grad = rng.normal(size=(2, *batch, time, 2 * pairs))
    positions = rng.integers(0, 1000, time) if given_positions else None
    leaf = torch.tensor(x, requires_grad=True)
    turned = apply_rotary_embedding(leaf, None if positions is None else torch.tensor(positions))
    turned.backward(torch.tensor(grad))
    np.testing.assert_allclose(turned.detach(), reference.apply_rotary_embedding(x, positions), atol=1e-10)
    backwards = -np.arange(time) if positions is None else -positions
    np.testing.assert_allclose(leaf.grad, reference.apply_rotary_embedding(grad, backwards), atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_tells_late_positions_apart(dtype, device):
    x = torch.tensor([[1.0, 0.0]], dtype=dtype, device=device)
    late, later = (
        apply_rotary_embedding(x, torch.tensor([position], device=device)) for position in (4096, 4097)
    )
    assert late.dtype == dtype
    assert_close((late.double().cpu() * later.double().cpu()).sum().item(), np.cos(1), atol=1e-2, rtol=0)


@given(sizes, sizes, sizes)
def test_alibi_equals_the_reference(query_length, key_length, num_heads):
    bias = alibi(query_length, key_length, num_heads, dtype=torch.float64)
    expected = reference.alibi(query_length, key_length, num_heads)
    np.testing.assert_allclose(bias, expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_relative_positions_have_the_device_and_dtype_of_their_input(dtype, device, generator):
    query = torch.randn(BATCH, HEADS, QUERY, D_HEAD, generator=generator).to(device, dtype)
    key = torch.randn(BATCH, HEADS, KEY, D_HEAD, generator=generator).to(device, dtype)
    _, _, bias = AlibiPositions()(query, key)
    turned_query, turned_key, nothing = RotaryPositions()(query, key)
    assert nothing is None
    assert {tensor.dtype for tensor in (bias, turned_query, turned_key)} == {dtype}
    assert {tensor.device.type for tensor in (bias, turned_query, turned_key)} == {device.type}
    assert bias.shape == (HEADS, QUERY, KEY)


def test_the_last_query_has_the_position_of_the_last_key(generator):
    x = torch.randn(BATCH, HEADS, KEY, D_HEAD, generator=generator)
    all_queries, keys, _ = RotaryPositions()(x, x)
    last_queries, same_keys, _ = RotaryPositions()(x[..., -QUERY:, :], x)
    assert_close(last_queries, all_queries[..., -QUERY:, :])
    assert_close(same_keys, keys)
    _, _, all_biases = AlibiPositions()(x, x)
    _, _, last_biases = AlibiPositions()(x[..., -QUERY:, :], x)
    assert_close(last_biases, all_biases[:, -QUERY:])


@pytest.mark.parametrize("length", [1, MAX_LENGTH, MAX_LENGTH + 4])
def test_sinusoids_equal_the_reference_within_the_table_and_beyond(length):
    positions = SinusoidalPositions(D_MODEL, MAX_LENGTH)
    added = positions(torch.zeros(BATCH, length, D_MODEL))
    expected = reference.sinusoidal_positions(length, D_MODEL)
    np.testing.assert_allclose(added, np.broadcast_to(expected, added.shape), atol=1e-6)
    assert positions.table.shape == (MAX_LENGTH, D_MODEL)


def test_learned_vectors_are_added_and_learn(generator):
    positions = LearnedPositions(D_MODEL, MAX_LENGTH)
    x = torch.randn(BATCH, QUERY, D_MODEL, generator=generator)
    y = positions(x)
    assert_close(y - x, positions.table.weight[:QUERY].expand_as(x))
    y.sum().backward()
    assert (positions.table.weight.grad[:QUERY] == BATCH).all()
    assert (positions.table.weight.grad[QUERY:] == 0).all()


@pytest.mark.parametrize("kind", [SinusoidalPositions, LearnedPositions])
def test_a_sequence_can_be_continued_from_any_position(kind, generator):
    positions = kind(D_MODEL, MAX_LENGTH)
    x = torch.randn(BATCH, KEY, D_MODEL, generator=generator)
    assert_close(torch.cat([positions(x[:, :2]), positions(x[:, 2:], start=2)], dim=1), positions(x))


@pytest.mark.parametrize("kind", [SinusoidalPositions, LearnedPositions])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_stays_half_precision(kind, dtype, device):
    positions = kind(D_MODEL, MAX_LENGTH).to(device, dtype)
    assert positions(torch.zeros(BATCH, QUERY, D_MODEL, dtype=dtype, device=device)).dtype == dtype


def test_only_parameters_are_saved():
    assert list(SinusoidalPositions(D_MODEL).state_dict()) == []
    assert list(RotaryPositions().state_dict()) == []
    assert list(AlibiPositions().state_dict()) == []
    assert list(LearnedPositions(D_MODEL, MAX_LENGTH).state_dict()) == ["table.weight"]


@pytest.mark.usefixtures("as_a_user")
def test_invalid_input_is_named():
    with pytest.raises(ValueError, match="x must have an even width, to be rotated in pairs, got 5"):
        apply_rotary_embedding(torch.ones(2, 5))
    with pytest.raises(ValueError, match=r"positions must have shape \(2,\), got \(3,\)"):
        apply_rotary_embedding(torch.ones(2, 4), torch.arange(3))
    with pytest.raises(ValueError, match="base must be positive, got 0"):
        RotaryPositions(base=0)
    with pytest.raises(ValueError, match="num_heads must be a positive integer, got 0"):
        alibi(2, 3, 0)
    with pytest.raises(ValueError, match="max_length must be a positive integer, got 0"):
        LearnedPositions(D_MODEL, 0)
    with pytest.raises(ValueError, match="x reaches position 13, but max_length is 13"):
        LearnedPositions(D_MODEL, MAX_LENGTH)(torch.ones(2, MAX_LENGTH + 1, D_MODEL))
    for positions in (LearnedPositions(D_MODEL, MAX_LENGTH), SinusoidalPositions(D_MODEL, MAX_LENGTH)):
        with pytest.raises(ValueError, match=r"x must have size 11 in its last axis, got shape \(2, 3, 1\)"):
            positions(torch.ones(2, 3, 1))
        with pytest.raises(ValueError, match="start must be at least 0, got -1"):
            positions(torch.ones(2, 3, D_MODEL), start=-1)

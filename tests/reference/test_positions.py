import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.reference.positions import alibi, apply_rotary_embedding, sinusoidal_positions

sizes = st.integers(1, 40)


@given(sizes, sizes)
def test_every_entry_follows_the_formula_of_the_paper(length, d_model):
    table = sinusoidal_positions(length, d_model)
    for position in range(length):
        for column in range(d_model):
            angle = position / 10000 ** (2 * (column // 2) / d_model)
            wave = np.cos(angle) if column % 2 else np.sin(angle)
            assert table[position, column] == pytest.approx(wave, abs=1e-12)


def test_the_dot_product_of_two_encodings_depends_only_on_their_distance():
    table = sinusoidal_positions(50, 64)
    similarity = table @ table.T
    for distance in (1, 7, 30):
        np.testing.assert_allclose(np.diagonal(similarity, distance), similarity[0, distance])


@given(st.integers(0, 2**32 - 1), st.integers(0, 50), st.integers(1, 8))
def test_the_dot_product_of_a_rotated_query_and_key_depends_only_on_their_distance(seed, shift, pairs):
    rng = np.random.default_rng(seed)
    query, key = rng.normal(size=(2, 5, 2 * pairs))
    positions = np.arange(5)
    here, there = (
        apply_rotary_embedding(query, places) @ apply_rotary_embedding(key, places).T
        for places in (positions, positions + shift)
    )
    np.testing.assert_allclose(here, there, atol=1e-9)


def test_a_rotation_multiplies_each_pair_like_a_complex_number(rng):
    x = rng.normal(size=(2, 5, 6))
    angles = np.arange(5)[:, None] * 10000.0 ** (-np.arange(3) / 3)
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    rotated = apply_rotary_embedding(x)
    np.testing.assert_allclose(rotated[..., 0::2], turned.real)
    np.testing.assert_allclose(rotated[..., 1::2], turned.imag)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_rotation_keeps_lengths_and_dtypes(rng, dtype):
    x = rng.normal(size=(5, 6)).astype(dtype)
    rotated = apply_rotary_embedding(x)
    assert rotated.dtype == dtype
    np.testing.assert_allclose(
        np.linalg.norm(rotated.astype(float), axis=-1),
        np.linalg.norm(x.astype(float), axis=-1),
        rtol=4 * np.finfo(dtype).eps,
    )


def test_alibi_is_a_slope_times_the_distance():
    bias = alibi(2, 3, 8)
    np.testing.assert_allclose(bias[0], [[-0.5, 0, -0.5], [-1, -0.5, 0]])
    np.testing.assert_allclose(bias[:, 1, 0], -2 * 0.5 ** np.arange(1, 9))


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sinusoidal_positions(0, 4), "length must be a positive integer, got 0"),
        (lambda: sinusoidal_positions(4, -2), "d_model must be a positive integer, got -2"),
        (lambda: apply_rotary_embedding(np.ones((2, 5))), "x must have an even width, .* got 5"),
        (
            lambda: apply_rotary_embedding(np.ones((2, 4)), np.arange(3)),
            r"positions must have shape \(2,\), got",
        ),
        (lambda: apply_rotary_embedding(np.ones((2, 4)), base=0.0), "base must be positive, got 0.0"),
        (lambda: alibi(1, 1, 0), "num_heads must be a positive integer, got 0"),
    ],
)
def test_an_invalid_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

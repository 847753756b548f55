import numpy as np
import pytest

from glassformer.plotting.colors import DIVERGING, SEQUENTIAL, contrast, ink_on, luminance, oklab


def steps(colormap):
    points = np.array([oklab(tuple(color)) for color in colormap.colors])
    return np.linalg.norm(np.diff(points, axis=0), axis=-1)


def test_black_on_white_has_the_largest_contrast():
    assert contrast("black", "white") == pytest.approx(21)
    assert contrast("#767676", "#767676") == 1


def test_luminance_ranges_from_black_to_white_and_weights_green_most():
    assert luminance("black") == 0
    assert luminance("white") == pytest.approx(1)
    assert luminance("#00ff00") > luminance("#ff0000") > luminance("#0000ff")


def test_white_has_lightness_one_and_no_hue():
    np.testing.assert_allclose(oklab("white"), [1, 0, 0], atol=1e-6)


@pytest.mark.parametrize("color", SEQUENTIAL.colors[::5].tolist() + DIVERGING.colors[::5].tolist())
def test_ink_is_legible_on_every_shade(color):
    assert contrast(ink_on(tuple(color)), tuple(color)) >= 4.3


@pytest.mark.parametrize("colormap", [SEQUENTIAL], ids=["sequential"])
def test_equal_steps_of_a_weight_look_equal(colormap):
    sizes = steps(colormap)
    assert sizes.max() / sizes.min() < 1.3


def test_a_larger_weight_is_darker_for_every_kind_of_vision(seen_by):
    for eyes in ("normal", "deuteranopia", "protanopia", "tritanopia"):
        lightness = [seen_by(eyes, tuple(color))[0] for color in SEQUENTIAL.colors]
        assert (np.diff(lightness) < 0).all()


def test_the_two_signs_are_equally_light_and_palest_at_zero():
    lightness = np.array([oklab(tuple(color))[0] for color in DIVERGING.colors])
    np.testing.assert_allclose(lightness, lightness[::-1], atol=0.06)
    assert lightness.argmax() in (127, 128)


def test_the_two_signs_differ_for_every_kind_of_vision(seen_by):
    for eyes in ("normal", "deuteranopia", "protanopia", "tritanopia"):
        below, above = (seen_by(eyes, tuple(DIVERGING.colors[place])) for place in (64, 191))
        assert np.linalg.norm(below - above) > 0.1


def test_a_transparent_colour_has_no_contrast():
    with pytest.raises(ValueError, match="color must be opaque"):
        luminance("none")

"""Luminance and contrast of colours, and perceptually uniform colormaps."""

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb, to_rgba
from matplotlib.typing import ColorType
from numpy import ndarray as Array

# Linear sRGB to cone responses, and their cube roots to lightness and two opponent axes (Ottosson, 2020).
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def luminance(color: ColorType) -> float:
    """Compute the relative luminance of an opaque colour, from 0 (black) to 1 (white) (WCAG 2.1)."""
    return float(_linear(color) @ (0.2126, 0.7152, 0.0722))


def contrast(first: ColorType, second: ColorType) -> float:
    """Compute the contrast of two opaque colours, from 1 to 21; text needs at least 4.5 (WCAG 2.1)."""
    darker, brighter = sorted((luminance(first), luminance(second)))
    return (brighter + 0.05) / (darker + 0.05)


def ink_on(color: ColorType) -> str:
    """Return black or white, whichever is more legible on a colour."""
    return max(("#ffffff", "#121212"), key=lambda ink: contrast(ink, color))


def oklab(color: ColorType) -> Array:
    """Convert a colour to Oklab, where equal distances look about equal (Ottosson, 2020)."""
    return _TO_OKLAB @ np.cbrt(_TO_CONES @ _linear(color))


def even_scale(*anchors: str, steps: int = 256) -> Array:
    """Interpolate anchor colours in steps that look equally large."""
    path = np.array([oklab(anchor) for anchor in anchors])
    fine = np.linspace(0, len(path) - 1, 16 * steps)
    points = np.stack([np.interp(fine, range(len(path)), axis) for axis in path.T], axis=-1)
    travelled = np.concatenate([[0], np.linalg.norm(np.diff(points, axis=0), axis=-1).cumsum()])
    even = np.linspace(0, travelled[-1], steps)
    points = np.stack([np.interp(even, travelled, axis) for axis in points.T], axis=-1)
    linear = np.linalg.solve(_TO_CONES, np.linalg.solve(_TO_OKLAB, points.T) ** 3).T.clip(0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _linear(color: ColorType) -> Array:
    if to_rgba(color)[3] != 1:
        raise ValueError(f"color must be opaque, got {color!r}")
    channels = np.array(to_rgb(color))
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


_ABOVE = ("#F4F3F6", "#B9AEE6", "#7A55D0", "#2D1268")
_BELOW = ("#F4F3F6", "#E0B56C", "#A86A12", "#3F2200")

#: For weights, from 0 to 1.
SEQUENTIAL = ListedColormap(even_scale(*_ABOVE), "glass")

#: For signed numbers: negative, zero, positive.
DIVERGING = ListedColormap(
    np.concatenate([even_scale(*_BELOW, steps=128)[::-1], even_scale(*_ABOVE, steps=128)]), "glass_signed"
)

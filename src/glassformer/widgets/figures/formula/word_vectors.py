"""Deterministic vectors for arbitrary words, identical in Python and in the page."""

import unicodedata
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

_OFFSET, _PRIME = 2166136261, 16777619
_FACTOR, _SUMMAND = 1664525, 1013904223


def word_vectors(words: Sequence[str], width: int) -> Float[Array, "words {width}"]:
    """Generate a vector for each word, in tenths from −1.5 to 1.5 to allow calculations by hand.

    A word always has the same vector: the 32-bit FNV-1a hash of its bytes seeds a linear congruential
    generator.
    """
    return np.array([_draw(word, width) for word in words], dtype=float).reshape(len(words), width)


def _draw(word: str, width: int) -> list[float]:
    state = _OFFSET
    for byte in unicodedata.normalize("NFC", word).encode():
        state = (state ^ byte) * _PRIME % 2**32
    numbers = []
    for _ in range(width):
        state = (state * _FACTOR + _SUMMAND) % 2**32
        numbers.append(((state * 31 >> 32) - 15) / 10)
    return numbers

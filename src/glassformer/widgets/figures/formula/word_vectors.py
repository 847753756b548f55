"""A small vector for any word at all, the same here and in the page."""

import unicodedata
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

_OFFSET, _PRIME = 2166136261, 16777619
_FACTOR, _SUMMAND = 1664525, 1013904223


def word_vectors(words: Sequence[str], width: int) -> Float[Array, "words {width}"]:
    """Draw a vector for each word: tenths from −1.5 to 1.5, so that they can be multiplied by hand.

    The same word has the same vector every time: its letters seed a generator (hash FNV-1a, then a linear
    congruential generator, both of 32 bits). ``static/formula.js`` draws the same.
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

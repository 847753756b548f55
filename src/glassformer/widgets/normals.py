"""Random numbers that Python and the reader's browser draw alike."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def repeatable_normal(seed: int, count: int) -> Float[Array, "count"]:
    """Draw numbers of mean 0 and variance 1, each from two uniform ones (Box & Muller, 1958)."""
    first, second = _uniform(seed, 2 * count).reshape(count, 2).T
    return np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second)


def _uniform(seed: int, count: int) -> Float[Array, "count"]:
    """Draw numbers from 0 up to, but not, 1; each is made from its place alone (mulberry32)."""
    places = np.arange(1, count + 1, dtype=np.uint64)
    state = (seed + places * 0x6D2B79F5).astype(np.uint32)
    state = (state ^ (state >> 15)) * (state | 1)
    state ^= state + (state ^ (state >> 7)) * (state | 61)
    return (state ^ (state >> 14)) / 2**32

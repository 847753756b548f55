"""Random numbers that are identical in Python and in the browser."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def repeatable_normal(seed: int, count: int) -> Float[Array, "count"]:
    """Sample standard normal numbers by the Box-Muller transform (Box & Muller, 1958)."""
    first, second = _uniform(seed, 2 * count).reshape(count, 2).T
    return np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second)


def _uniform(seed: int, count: int) -> Float[Array, "count"]:
    """Sample uniform numbers in [0, 1); each depends on the seed and its index alone (mulberry32)."""
    indices = np.arange(1, count + 1, dtype=np.uint64)
    state = (seed + indices * 0x6D2B79F5).astype(np.uint32)
    state = (state ^ (state >> 15)) * (state | 1)
    state ^= state + (state ^ (state >> 7)) * (state | 61)
    return (state ^ (state >> 14)) / 2**32

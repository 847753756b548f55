"""Scores, attention weights and gradients for any width and divisor."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from glassformer.reference.softmax import softmax, softmax_backward
from glassformer.validation import require_positive_int
from glassformer.widgets.live import LiveFigure, Table
from glassformer.widgets.normals import repeatable_normal

MEASURES = ("spread of scores", "entropy", "largest weight", "gradient at scores", "gradient at query")


def live_scaling(
    widths: Sequence[int] | Int[Array, "widths"],
    *,
    start: int,
    num_queries: int = 64,
    num_keys: int = 16,
    num_heads: int = 4,
    seed: int = 3,
) -> LiveFigure:
    """Compare random scores under four divisors: 1, √d_k, √d_model and d_k.

    The browser samples queries and keys by the same generator as this function.

    Args:
        widths: available values of d_k, in ascending order.
        start: value of d_k at the start.
        num_queries: number of random queries.
        num_keys: number of random keys per query.
        num_heads: ratio of d_model to d_k.
        seed: seed of queries, keys and gradient.

    Raises:
        ValueError: a size is not a positive integer, the widths do not increase, or ``start`` is not one of
            them.
    """
    choices = [int(width) for width in widths]
    require_positive_int(num_queries=num_queries, num_keys=num_keys, num_heads=num_heads, seed=seed)
    if choices != sorted({*choices}) or not choices or choices[0] < 1:
        raise ValueError(f"widths must increase from at least 1, got {choices}")
    if start not in choices:
        raise ValueError(f"start must be one of {choices}, got {start}")
    measured = _measure(*_draw(seed, num_queries, num_keys, start), num_heads)
    return LiveFigure(
        "scaling",
        label="Scores, weights and gradients at any width",
        data={
            "widths": choices,
            "start": start,
            "num_queries": num_queries,
            "num_keys": num_keys,
            "num_heads": num_heads,
            "seed": seed,
        },
        table=Table(
            f"{num_queries} random queries with {num_keys} keys each, d_k = {start}: standard deviation of "
            "scores, mean entropy of the weights in bits, mean of the largest weight, median gradients",
            ("divisor", *MEASURES),
            [(name, *(f"{number:.3f}" for number in numbers)) for name, numbers in measured.items()],
        ),
        heights=(35.2, 50.5),
    )


def _draw(seed: int, num_queries: int, num_keys: int, d_k: int) -> tuple[Array, Array, Array]:
    """Sample queries, keys and a gradient so that narrower samples are prefixes of wider ones."""
    blocks = repeatable_normal(seed, (1 + d_k) * num_queries * (1 + num_keys)).reshape(1 + d_k, -1)
    vectors = blocks[:, num_queries:].reshape(1 + d_k, num_queries, num_keys)
    query = blocks[1:, :num_queries].T[:, None]
    return query, np.moveaxis(vectors[1:], 0, -1), vectors[0][:, None]


def _measure(query: Array, key: Array, grad_weights: Array, num_heads: int) -> dict[str, tuple[float, ...]]:
    """Compute the `MEASURES` for each divisor."""
    d_k = query.shape[-1]
    divisors = {
        "undivided": 1.0,
        "√d_k": d_k**0.5,
        "√d_model": (num_heads * d_k) ** 0.5,
        "d_k": float(d_k),
    }
    return {name: _attend(query, key, grad_weights, divisor) for name, divisor in divisors.items()}


def _attend(query: Array, key: Array, grad_weights: Array, divisor: float) -> tuple[float, ...]:
    scores = query @ key.swapaxes(-2, -1) / divisor
    weights = softmax(scores)
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    grad_scores = softmax_backward(grad_weights, weights)
    gradients = grad_scores, grad_scores @ key / divisor
    return (
        float(scores.std()),
        float(-(weights * logs).sum(axis=-1).mean()),
        float(weights.max(axis=-1).mean()),
        *(float(np.median(np.linalg.norm(gradient, axis=-1))) for gradient in gradients),
    )

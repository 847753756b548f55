"""The attention formula step by step, for any sentence and mask."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.reference.masks import causal_mask
from glassformer.validation import require_shape
from glassformer.widgets.figures.formula.word_vectors import word_vectors
from glassformer.widgets.live import LiveFigure, Table, show_numbers

MAX_WORDS = 12
D_MODEL = 4
REACH = 2  # limit of matrix entries: no exponential can overflow, so the page need not shift the scores


def live_formula(
    sentence: str,
    query_weight: Float[Array, "d_model d_k"],
    key_weight: Float[Array, "d_model d_k"],
    value_weight: Float[Array, "d_model d_v"],
) -> LiveFigure:
    """Show softmax(QKᵀ / √d_k + M) V for a sentence and a mask that the reader can change.

    Args:
        sentence: initial sentence of 1 to 12 words, under a causal mask; its middle word is selected.
        query_weight: W_Q, 4 × 4 numbers between -2 and 2; the word vectors have width 4 (`word_vectors`).
        key_weight: W_K, likewise.
        value_weight: W_V, likewise.

    Raises:
        ValueError: the sentence is empty or too long, or a matrix has another shape or an entry out of range.
    """
    words = sentence.split()
    if not 1 <= len(words) <= MAX_WORDS:
        raise ValueError(f"sentence must have 1 to {MAX_WORDS} words, got {len(words)}")
    weights = {"query_weight": query_weight, "key_weight": key_weight, "value_weight": value_weight}
    require_shape((D_MODEL, D_MODEL), **weights)
    for name, weight in weights.items():
        if not np.abs(weight).max() <= REACH:
            raise ValueError(f"{name} must lie between {-REACH} and {REACH}, got {weight.tolist()}")
    return LiveFigure(
        "formula",
        label="One formula, step by step",
        data={
            "sentence": sentence,
            "maxWords": MAX_WORDS,
            "projections": {
                name.removesuffix("_weight"): weight.tolist() for name, weight in weights.items()
            },
        },
        heights=(36.3, 58.4),
        table=_table(words, *(word_vectors(words, D_MODEL) @ weight for weight in weights.values())),
    )


def _table(words: list[str], query: Array, key: Array, value: Array) -> Table:
    follow = len(words) // 2
    allowed = causal_mask(len(words))
    attended, weights = scaled_dot_product_attention(query, key, value, allowed)
    scores = query[follow] @ key.T
    scaled = scores / np.sqrt(query.shape[-1])
    rows = [
        (
            word,
            show_numbers(scores[place]),
            show_numbers(scaled[place]),
            show_numbers(scaled[place]) if allowed[follow, place] else "−∞",
            show_numbers(weights[follow, place]),
            show_numbers(*value[place]),
        )
        for place, word in enumerate(words)
    ]
    return Table(
        f"Attention of “{words[follow]}” under a causal mask, with q = {show_numbers(*query[follow])}",
        ("word", "q · k", "÷ √d_k", "masked", "weight", "v"),
        [*rows, ("output", "", "", "", show_numbers(weights[follow].sum()), show_numbers(*attended[follow]))],
    )

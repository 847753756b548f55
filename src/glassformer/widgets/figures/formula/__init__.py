"""Type a sentence, paint a mask, and follow the formula of attention step by step, with all its numbers."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.reference.masks import causal_mask
from glassformer.validation import require_shape
from glassformer.widgets.figures.formula.word_vectors import word_vectors
from glassformer.widgets.live import LiveFigure, Table

MAX_WORDS = 12
D_MODEL = 4
REACH = 2  # of a matrix's entries: no exponential can overflow, so the page need not shift the scores


def live_formula(
    sentence: str,
    query_weight: Float[Array, "d_model d_k"],
    key_weight: Float[Array, "d_model d_k"],
    value_weight: Float[Array, "d_model d_v"],
) -> LiveFigure:
    """Show softmax(QKᵀ / √d_k + M) V for a sentence that the reader types and a mask that the reader paints.

    Args:
        sentence: where the reader starts, 1 to 12 words; the word in the middle is followed first, under a
            causal mask.
        query_weight: W_Q, 4 × 4 numbers between -2 and 2; each word has a vector of 4 (`word_vectors`).
        key_weight: W_K, likewise.
        value_weight: W_V, likewise.

    Raises:
        ValueError: there is no word or too many, or a matrix does not fit.
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
    may_look = causal_mask(len(words))
    attended, weights = scaled_dot_product_attention(query, key, value, may_look)
    scores = query[follow] @ key.T
    scaled = scores / np.sqrt(query.shape[-1])
    rows = [
        (
            word,
            _show(scores[place]),
            _show(scaled[place]),
            _show(scaled[place]) if may_look[follow, place] else "−∞",
            _show(weights[follow, place]),
            _show(*value[place]),
        )
        for place, word in enumerate(words)
    ]
    return Table(
        f"“{words[follow]}” looks, under a causal mask, with q = {_show(*query[follow])}",
        ("word", "q · k", "÷ √d_k", "masked", "weight", "v"),
        [*rows, ("handed over", "", "", "", _show(weights[follow].sum()), _show(*attended[follow]))],
    )


def _show(*numbers: float) -> str:
    return " ".join(f"{number + 0:.2f}".replace("-", "−") for number in numbers)

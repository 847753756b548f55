"""Softmax of adjustable scores: weights, Jacobian, temperature and overflow."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.reference.softmax import softmax
from glassformer.validation import require_shape
from glassformer.widgets.live import LiveFigure, Table

REACH = 10  # limit of the scores


def live_softmax(words: Sequence[str], scores: Float[Array, "words"]) -> LiveFigure:
    """Show scores, exponentials, weights and their Jacobian.

    Args:
        words: label of each score.
        scores: initial scores between -10 and 10.

    Raises:
        ValueError: ``words`` and ``scores`` differ in length, or a score is out of range.
    """
    require_shape((len(words),), scores=scores)
    if not np.abs(scores).max() <= REACH:
        raise ValueError(f"scores must lie between {-REACH} and {REACH}, got {scores.tolist()}")
    rows = [
        (word, f"{score:.1f}", f"{np.exp(score):.3f}", f"{weight:.3f}")
        for word, score, weight in zip(words, scores, softmax(scores), strict=True)
    ]
    return LiveFigure(
        "softmax",
        label="Scores to weights",
        data={"words": list(words), "scores": scores.tolist(), "reach": REACH},
        table=Table(
            "Scores, their exponentials, and the weights at temperature 1",
            ("word", "score", "exponential", "weight"),
            rows,
        ),
        heights=(33.6, 42.5),
    )

"""Four position schemes, and how the dot product of two positions depends on their distance."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.reference.positions import alibi, apply_rotary_embedding, sinusoidal_positions
from glassformer.validation import require_floating, require_positive_int, require_shape
from glassformer.widgets.live import LiveFigure, Table

START = {"position": 24, "shift": 3, "pair": 1, "head": 1}
REACH = 32  # limit of the shift in both directions


def live_positions(
    word: Float[Array, " d_model"],
    learned: Float[Array, "positions d_model"],
    query_weight: Float[Array, "d_model d_model"],
    key_weight: Float[Array, "d_model d_model"],
    *,
    num_heads: int = 4,
) -> LiveFigure:
    """Compare sinusoidal, learned and rotary positions and ALiBi at two positions.

    Additive schemes use the dot product of the two position vectors, and rotary positions that of one word
    rotated to both positions; each with and without projections. All inputs are rounded to three digits.

    Args:
        word: word vector of even width.
        learned: position vectors before training.
        query_weight: W_Q, applied as ``x @ query_weight``.
        key_weight: W_K, likewise.
        num_heads: number of heads, each with its own ALiBi slope.

    Raises:
        ValueError: the width is odd or too small, there are too few positions, or the shapes do not fit.
    """
    require_floating(word=word, learned=learned, query_weight=query_weight, key_weight=key_weight)
    require_positive_int(num_heads=num_heads)
    places, d_model = learned.shape
    require_shape((d_model,), word=word)
    require_shape((d_model, d_model), query_weight=query_weight, key_weight=key_weight)
    if d_model % 2 or d_model < 4:
        raise ValueError(f"learned must have an even width of at least 4, got {d_model}")
    if places <= REACH:
        raise ValueError(f"learned must have more than {REACH} positions, got {places}")
    inputs = (word, learned, query_weight, key_weight)
    word, learned, query_weight, key_weight = (each.round(3) for each in inputs)
    return LiveFigure(
        "positions",
        label="Two positions in four schemes",
        data={
            "word": word.tolist(),
            "learned": learned.tolist(),
            "query_weight": query_weight.tolist(),
            "key_weight": key_weight.tolist(),
            "num_heads": num_heads,
            "reach": REACH,
            "start": START,
        },
        table=_table(word, learned, query_weight, key_weight, num_heads),
        heights=(41, 80.2),
    )


def _table(word: Array, learned: Array, query_weight: Array, key_weight: Array, num_heads: int) -> Table:
    places, d_model = learned.shape
    entering = {
        "sinusoidal": sinusoidal_positions(places, d_model),
        "learned, untrained": learned,
        "rotary": np.tile(word, (places, 1)),
    }
    scores = {}
    for kind, each in entering.items():
        projected = (each @ query_weight, each @ key_weight)
        for behind, (query, key) in (("", (each, each)), (", projected", projected)):
            if kind == "rotary":
                query, key = apply_rotary_embedding(query), apply_rotary_embedding(key)
            scores[kind + behind] = query @ key.T
    scores["ALiBi, head 1"] = alibi(places, places, num_heads)[0]
    position, shift = START["position"], START["shift"]
    rows = []
    for name, each in scores.items():
        near = (f"{each[position, position + distance]:.2f}" for distance in (-shift, 0, shift))
        everywhere = np.diagonal(each, shift)
        rows.append((name, *near, f"{everywhere.min():.2f} to {everywhere.max():.2f}"))
    return Table(
        f"Dot products of position {position} with others, and the bias that ALiBi adds to the score",
        ("scheme", f"{shift} before", "itself", f"{shift} after", f"{shift} after, from all positions"),
        rows,
    )

"""Choose how places are told, move two of them, and see what the dot product says of their distance."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.reference.positions import alibi, rotate_by_position, sinusoidal_positions
from glassformer.validation import require_floating, require_shape, require_whole
from glassformer.widgets.live import LiveFigure, Table

START = {"position": 24, "shift": 3, "pair": 1, "head": 1}
REACH = 32  # of the shift, in each direction


def live_positions(
    word: Float[Array, " d_model"],
    learned: Float[Array, "places d_model"],
    query_weight: Float[Array, "d_model d_model"],
    key_weight: Float[Array, "d_model d_model"],
    *,
    num_heads: int = 4,
) -> LiveFigure:
    """Show what four kinds of positions make of two places: sinusoidal, learned, rotary, and a linear bias.

    The dot product is that of the places themselves, where they are added, and of one word at both places,
    where queries and keys are turned; each without projections and behind them. All numbers are rounded to
    three digits before anything is computed from them.

    Args:
        word: what stands at both places, of an even width.
        learned: a vector for each place, before anything is learned.
        query_weight: applied as ``x @ query_weight``.
        key_weight: likewise.
        num_heads: how many slopes the linear bias has.

    Raises:
        ValueError: the width is odd or too small, there are not enough places, or the shapes do not fit.
    """
    require_floating(word=word, learned=learned, query_weight=query_weight, key_weight=key_weight)
    require_whole(num_heads=num_heads)
    places, d_model = learned.shape
    require_shape((d_model,), word=word)
    require_shape((d_model, d_model), query_weight=query_weight, key_weight=key_weight)
    if d_model % 2 or d_model < 4:
        raise ValueError(f"learned must have an even width of at least 4, got {d_model}")
    if places <= REACH:
        raise ValueError(f"learned must have more than {REACH} places, got {places}")
    word, learned, query_weight, key_weight = (
        each.round(3) for each in (word, learned, query_weight, key_weight)
    )
    return LiveFigure(
        "positions",
        label="Two places, told in four ways",
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
        for behind, query, key in (
            ("", each, each),
            (", projected", each @ query_weight, each @ key_weight),
        ):
            if kind == "rotary":
                query, key = rotate_by_position(query), rotate_by_position(key)
            scores[kind + behind] = query @ key.T
    scores["linear bias, head 1"] = alibi(places, places, num_heads)[0]
    position, shift = START["position"], START["shift"]
    rows = []
    for name, each in scores.items():
        near = (each[position, position + distance] for distance in (-shift, 0, shift))
        everywhere = np.diagonal(each, shift)
        rows.append(
            (
                name,
                *(f"{number:.2f}" for number in near),
                f"{everywhere.min():.2f} to {everywhere.max():.2f}",
            )
        )
    return Table(
        f"Dot products of place {position} with others, and what a linear bias adds to the score",
        ("positions", f"{shift} before", "itself", f"{shift} after", f"{shift} after, from all places"),
        rows,
    )

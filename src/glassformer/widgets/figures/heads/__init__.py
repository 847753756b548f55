"""Multi-head attention with its heads side by side; heads can be switched off."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.reference.heads import multi_head_attention
from glassformer.validation import require_choice, require_shape
from glassformer.widgets.live import LiveFigure, Table, show_numbers

D_MODEL = 8
HEAD_COUNTS = (1, 2, 4)
NUM_HEADS = 2  # at the start
REACH = 10  # limit of all numbers, to keep the page legible


def live_heads(
    words: Sequence[str],
    x: Float[Array, "words d_model"],
    *,
    query_weight: Float[Array, "d_model d_model"],
    key_weight: Float[Array, "d_model d_model"],
    value_weight: Float[Array, "d_model d_model"],
    output_weight: Float[Array, "d_model d_model"],
    follow: str,
) -> LiveFigure:
    """Show multi-head attention with 1, 2 or 4 heads, each with a switch.

    Args:
        words: labels of the rows of ``x``, all different.
        x: word vectors of width 8. All numbers of ``x`` and the matrices are between -10 and 10.
        query_weight: W_Q of all heads side by side, 8 × 8.
        key_weight: W_K, likewise.
        value_weight: W_V, likewise.
        output_weight: W_O, applied to the merged heads.
        follow: word selected at the start.

    Raises:
        ValueError: two words are the same, ``follow`` is not one of them, or an array has another shape or
            numbers out of range.
    """
    if len(set(words)) != len(words):
        raise ValueError(f"words must all be different, got {', '.join(words)}")
    require_choice(tuple(words), follow=follow)
    require_shape((len(words), D_MODEL), x=x)
    weights = {
        "query_weight": query_weight,
        "key_weight": key_weight,
        "value_weight": value_weight,
        "output_weight": output_weight,
    }
    require_shape((D_MODEL, D_MODEL), **weights)
    for name, array in {"x": x, **weights}.items():
        if not np.abs(array).max() <= REACH:
            raise ValueError(f"{name} must lie between {-REACH} and {REACH}, got {array.tolist()}")
    output, maps = multi_head_attention(x, x, x, num_heads=NUM_HEADS, **weights)
    place = list(words).index(follow)
    shown = show_numbers(*output[place])
    return LiveFigure(
        "heads",
        label="Heads side by side",
        data={
            "words": list(words),
            "x": x.tolist(),
            "weights": {name.removesuffix("_weight"): array.tolist() for name, array in weights.items()},
            "headCounts": HEAD_COUNTS,
            "numHeads": NUM_HEADS,
            "follow": follow,
        },
        heights=(57.5, 88.1),
        table=Table(
            f"Attention weights of “{follow}” in {NUM_HEADS} heads; its output is {shown}",
            ("word", *(f"head {head}" for head in range(NUM_HEADS))),
            [(word, *map(show_numbers, maps[:, place, key])) for key, word in enumerate(words)],
        ),
    )

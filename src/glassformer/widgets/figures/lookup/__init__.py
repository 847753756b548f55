"""A query among keys in the plane, with its scores, weights and output."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.reference.softmax import softmax
from glassformer.validation import require_floating, require_not_empty, require_shape
from glassformer.widgets.live import LiveFigure, Table

REACH = 3  # limit of both coordinates


def live_lookup(
    query: Float[Array, "2"],
    key: Float[Array, "words 2"],
    value: Float[Array, "words"],
    *,
    words: Sequence[str],
    asker: str,
    unit: str,
) -> LiveFigure:
    """Show a soft and a hard look-up: softmax(K q) · v, and the value of the best key.

    Args:
        query: initial query.
        key: key vector of each word.
        value: value of each word.
        words: labels of keys and values.
        asker: label of the query.
        unit: unit of the values.

    Raises:
        ValueError: an array has another shape, or a coordinate is out of range.
    """
    require_floating(query=query, key=key, value=value)
    require_not_empty(key=key)
    require_shape((2,), query=query)
    require_shape((len(words), 2), key=key)
    require_shape((len(words),), value=value)
    for name, places in {"query": query, "key": key}.items():
        if not np.abs(places).max() <= REACH:
            raise ValueError(f"{name} must lie between {-REACH} and {REACH}, got {places.tolist()}")
    return LiveFigure(
        "lookup",
        label="A query on a plane of keys",
        data={
            "query": query.tolist(),
            "key": key.tolist(),
            "value": value.tolist(),
            "words": list(words),
            "asker": asker,
            "unit": unit,
            "reach": REACH,
        },
        table=_table(query, key, value, words, unit),
        heights=(35.6, 51.2),
    )


def _table(query: Array, key: Array, value: Array, words: Sequence[str], unit: str) -> Table:
    scores = key @ query
    soft, hard = softmax(scores), np.eye(len(words))[scores.argmax()]
    columns = zip(words, key, scores, soft, hard, value, strict=True)
    rows = [
        (word, f"({x:g}, {y:g})", f"{score:.2f}", f"{share:.3f}", f"{all_or_none:g}", f"{each:g}")
        for word, (x, y), score, share, all_or_none, each in columns
    ]
    output = ("output", "", "", f"{soft @ value:.2f} {unit}", f"{hard @ value:g} {unit}", "")
    return Table(
        f"A query at ({query[0]:g}, {query[1]:g}): its scores, and the weights of a soft and a hard look-up",
        ("word", "key", "score", "soft", "hard", unit),
        [*rows, output],
    )

"""Recurrence against attention: sequential steps, path lengths and measured times."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.validation import require_choice, require_shape
from glassformer.widgets.live import LiveFigure, Table

RADIUS = 0.9  # of the recurrence's Jacobian, at the start


def live_recurrence(
    words: Sequence[str],
    *,
    source: str,
    target: str,
    lengths: Sequence[int],
    length: int,
    settings: Sequence[tuple[int, int]],
    lstm: Float[Array, "settings lengths"],
    attention: Float[Array, "settings lengths"],
    measured: str,
) -> LiveFigure:
    """Show both layers step by step, the path between two words, and the measured times.

    Args:
        words: sentence of distinct words.
        source: word whose signal is followed.
        target: word that needs the signal.
        lengths: sentence lengths that were timed, in ascending order.
        length: sentence length selected at the start.
        settings: batch size and width of each row of times.
        lstm: time of an LSTM layer in milliseconds.
        attention: time of an attention layer in milliseconds.
        measured: description of the machine and the measurement.

    Raises:
        ValueError: two words are the same, ``source``, ``target`` or ``length`` is not among the given ones,
            the lengths do not increase, or the times have another shape or are not positive.
    """
    if len(set(words)) != len(words):
        raise ValueError(f"words must all be different, got {', '.join(words)}")
    require_choice(tuple(words), source=source, target=target)
    if list(lengths) != sorted({*lengths}):
        raise ValueError(f"lengths must increase, got {list(lengths)}")
    if length not in lengths:
        raise ValueError(f"length must be one of {list(lengths)}, got {length}")
    require_shape((len(settings), len(lengths)), lstm=lstm, attention=attention)
    for name, times in {"lstm": lstm, "attention": attention}.items():
        if not (np.isfinite(times) & (times > 0)).all():
            raise ValueError(f"{name} must be positive and finite, got {times.tolist()}")
    names = [f"{batch} sentence{'s' * (batch > 1)}, d = {width}" for batch, width in settings]
    start = list(lengths).index(length)
    return LiveFigure(
        "recurrence",
        label="Recurrence against attention",
        data={
            "words": list(words),
            "source": source,
            "target": target,
            "radius": RADIUS,
            "lengths": [int(each) for each in lengths],
            "length": int(length),
            "settings": [
                {"name": name, "lstm": before.tolist(), "attention": after.tolist()}
                for name, before, after in zip(names, lstm, attention, strict=True)
            ],
            "measured": measured,
        },
        heights=(57.5, 75.4),
        table=Table(
            f"Sequential steps, and the signal of “{source}” left at each word if every hop multiplies "
            f"it by {RADIUS}. For {length} words, {names[0]}, an LSTM layer takes {lstm[0, start]:g} ms, "
            f"an attention layer {attention[0, start]:g} ms. {measured}",
            ("word", "recurrence", "waits for", "signal", "attention", "signal"),
            _rows(words, list(words).index(source)),
        ),
    )


def _rows(words: Sequence[str], source: int) -> list[tuple[str, ...]]:
    """List the step in which each word is processed, and the remaining signal."""
    signals = [RADIUS ** (place - source) if place >= source else 0.0 for place in range(len(words))]
    waits = ["nothing", *(f"the state at {before}" for before in words[:-1])]
    return [
        (word, f"step {place + 1}", waits[place], f"{signals[place]:.2f}", "step 1", f"{RADIUS:.2f}")
        for place, word in enumerate(words)
    ]

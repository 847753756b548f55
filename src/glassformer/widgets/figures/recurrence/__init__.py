"""Recurrence against attention: sequential steps, path lengths and, if given, measured times."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.validation import require_choice, require_shape
from glassformer.widgets.live import LiveFigure, Table

RADIUS = 0.9  # of the recurrence's Jacobian, at the start
HEIGHTS, HEIGHTS_WITH_TIMES = (31.4, 39.0), (57.5, 75.4)  # rem, on a wide page and on a phone


def live_recurrence(
    words: Sequence[str],
    *,
    source: str,
    target: str,
    lengths: Sequence[int] | None = None,
    length: int | None = None,
    settings: Sequence[tuple[int, int]] | None = None,
    lstm: Float[Array, "settings lengths"] | None = None,
    attention: Float[Array, "settings lengths"] | None = None,
    measured: str = "",
) -> LiveFigure:
    """Show both layers step by step and the path between two words, and optionally measured times.

    The arguments after ``target`` describe the measured times; give all of them or none.

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
            the lengths do not increase, the times have another shape or are not positive, or only some of
            their arguments are given.
    """
    if len(set(words)) != len(words):
        raise ValueError(f"words must all be different, got {', '.join(words)}")
    require_choice(tuple(words), source=source, target=target)
    data: dict[str, Any] = {"words": list(words), "source": source, "target": target, "radius": RADIUS}
    caption = (
        f"Sequential steps, and the signal of “{source}” left at each word if every hop multiplies "
        f"it by {RADIUS}."
    )
    heights = HEIGHTS
    times = (lengths, length, settings, lstm, attention)
    if any(each is not None for each in times):
        if lengths is None or length is None or settings is None or lstm is None or attention is None:
            raise ValueError("lengths, length, settings, lstm and attention must be given together")
        shown, sentence = _times(lengths, length, settings, lstm, attention)
        data |= shown | {"measured": measured}
        caption = f"{caption} {sentence} {measured}"
        heights = HEIGHTS_WITH_TIMES
    head = ("word", "recurrence", "waits for", "signal", "attention", "signal")
    return LiveFigure(
        "recurrence",
        label="Recurrence against attention",
        data=data,
        heights=heights,
        table=Table(caption, head, _rows(words, list(words).index(source))),
    )


def _times(
    lengths: Sequence[int],
    length: int,
    settings: Sequence[tuple[int, int]],
    lstm: Float[Array, "settings lengths"],
    attention: Float[Array, "settings lengths"],
) -> tuple[dict[str, Any], str]:
    """Return the measured times for the script, and the sentence about them for the caption."""
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
    shown = {
        "lengths": [int(each) for each in lengths],
        "length": int(length),
        "settings": [
            {"name": name, "lstm": before.tolist(), "attention": after.tolist()}
            for name, before, after in zip(names, lstm, attention, strict=True)
        ],
    }
    sentence = (
        f"For {length} words, {names[0]}, an LSTM layer takes {lstm[0, start]:g} ms, "
        f"an attention layer {attention[0, start]:g} ms."
    )
    return shown, sentence


def _rows(words: Sequence[str], source: int) -> list[tuple[str, ...]]:
    """List the step in which each word is processed, and the remaining signal."""
    signals = [RADIUS ** (place - source) if place >= source else 0.0 for place in range(len(words))]
    waits = ["nothing", *(f"the state at {before}" for before in words[:-1])]
    return [
        (word, f"step {place + 1}", waits[place], f"{signals[place]:.2f}", "step 1", f"{RADIUS:.2f}")
        for place, word in enumerate(words)
    ]

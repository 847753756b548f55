"""Step through a sentence in recurrence and in attention: who waits, how long paths are, what it costs."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.validation import require_choice, require_shape
from glassformer.widgets.live import LiveFigure, Table

RADIUS = 0.9  # where the reader starts


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
    """Show the work of both layers step by step, the path between two words, and the measured times.

    Args:
        words: a sentence, all of its words different.
        source: the word whose signal is followed.
        target: the word where it is needed.
        lengths: the numbers of words that were timed, in growing order.
        length: the one of them where the reader starts.
        settings: for each row of times, how many sentences were read at once and how wide a word was.
        lstm: milliseconds of an LSTM layer.
        attention: milliseconds of an attention layer.
        measured: on what, and how, the times were measured.

    Raises:
        ValueError: two words are the same, ``source``, ``target`` or ``length`` is none of those there are,
            the lengths do not grow, or the times do not fit.
    """
    if len(set(words)) != len(words):
        raise ValueError(f"words must all be different, got {', '.join(words)}")
    require_choice(tuple(words), source=source, target=target)
    if list(lengths) != sorted({*lengths}):
        raise ValueError(f"lengths must grow, got {list(lengths)}")
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
            f"Who waits for whom, and what is left of “{source}” at each word where every hand-over keeps "
            f"{RADIUS}. For {length} words, {names[0]}, an LSTM layer takes {lstm[0, start]:g} ms, "
            f"an attention layer {attention[0, start]:g} ms. {measured}",
            ("word", "recurrence", "waits for", "left", "attention", "left"),
            _rows(words, list(words).index(source)),
        ),
    )


def _rows(words: Sequence[str], source: int) -> list[tuple[str, ...]]:
    """Say of each word in which step it is worked on, and what has come of the signal."""
    left = [RADIUS ** (place - source) if place >= source else 0.0 for place in range(len(words))]
    waits = ["nobody", *(f"the state at {before}" for before in words[:-1])]
    return [
        (word, f"step {place + 1}", waits[place], f"{left[place]:.2f}", "step 1", f"{RADIUS:.2f}")
        for place, word in enumerate(words)
    ]

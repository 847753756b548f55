"""Watch beam search grow, step by step, on recorded sentences and on the reader's own."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from glassformer.widgets.live import LiveFigure, Table

END = "<end>"
MOST_BEAMS = 4
MOST_SENTENCES = 4
DIVISORS: Mapping[str, Callable[[int], float]] = {  # of the log-probability of a hypothesis of so many tokens
    "none": lambda length: 1.0,
    "average": float,
    "gnmt": lambda length: ((5 + length) / 6) ** 0.6,
}

Continuations = Mapping[tuple[str, ...], Mapping[str, float]]


class Found(NamedTuple):
    """A translation that a search has completed: its tokens, and the log-probability of all of them."""

    tokens: tuple[str, ...]
    log_probability: float


def live_beam(searches: Mapping[str, Continuations]) -> LiveFigure:
    """Show 1 to 4 beams growing token by token, the greedy path beside them, and what they find.

    Args:
        searches: for each sentence, all beginnings that 1 to 4 beams follow, each with the likeliest tokens
            that may come next, at least 4 if there are so many, and their log-probabilities. Tokens are
            written as a tokenizer spells them, "▁" for a space, "<end>" for the end. What is no beginning is
            complete.

    Raises:
        ValueError: there are no sentences or too many, one lacks the empty beginning, nothing follows a
            beginning, or a log-probability is above 0 or no number.
    """
    if not 1 <= len(searches) <= MOST_SENTENCES:
        raise ValueError(f"searches must hold 1 to {MOST_SENTENCES} sentences, got {len(searches)}")
    for sentence, continuations in searches.items():
        _require_search(sentence, continuations)
    first = next(iter(searches))
    return LiveFigure(
        "beam",
        label="Beam search, step by step",
        data={
            "searches": {
                sentence: [
                    [beginning, {token: round(p, 6) for token, p in following.items()}]
                    for beginning, following in continuations.items()
                ]
                for sentence, continuations in searches.items()
            },
            "model": "en-fr",
            "megabytes": 7.5,
        },
        table=Table(
            f"What {MOST_BEAMS} beams find for “{first}”, and greedy decoding; scores by length penalty",
            ("translation", "log-probability", "tokens", *DIVISORS),
            _rows(searches[first]),
        ),
        heights=(61.3, 81.3),
    )


def search(continuations: Continuations, beam_size: int) -> list[Found]:
    """Follow the likeliest few beginnings side by side, and return what is complete, the likeliest first."""
    beams: dict[tuple[str, ...], float] = {(): 0.0}
    found: list[Found] = []
    while beams:
        grown = {
            (*tokens, token): total + log_p
            for tokens, total in beams.items()
            for token, log_p in continuations[tokens].items()
        }
        best = sorted(grown, key=grown.__getitem__, reverse=True)[: beam_size - len(found)]
        found += [Found(tokens, grown[tokens]) for tokens in best if tokens not in continuations]
        beams = {tokens: grown[tokens] for tokens in best if tokens in continuations}
    return sorted(found, key=lambda one: -one.log_probability)


def _rows(continuations: Continuations) -> list[tuple[str, ...]]:
    found = [(_text(tokens), tokens, total) for tokens, total in search(continuations, MOST_BEAMS)]
    greedy = [(f"greedy: {_text(tokens)}", tokens, total) for tokens, total in search(continuations, 1)]
    return [
        (
            text,
            _show(total),
            str(len(tokens)),
            *(_show(total / divide(len(tokens)), 3) for divide in DIVISORS.values()),
        )
        for text, tokens, total in found + greedy
    ]


def _text(tokens: tuple[str, ...]) -> str:
    joined = "".join(token for token in tokens if token != END)
    return joined.replace("▁", " ").removeprefix(" ").replace("' ", "'")


def _show(number: float, digits: int = 2) -> str:
    return f"{number:.{digits}f}".replace("-", "−")


def _require_search(sentence: str, continuations: Continuations) -> None:
    if () not in continuations:
        raise ValueError(f"searches must hold the empty beginning of {sentence!r}, got none")
    for beginning, following in continuations.items():
        where = f"after {' '.join(beginning)!r} of {sentence!r}"
        if not following:
            raise ValueError(f"searches must hold at least 1 token {where}, got 0")
        for token, log_p in following.items():
            if not log_p <= 0:
                raise ValueError(f"log-probabilities must be 0 or below, got {log_p} for {token!r} {where}")

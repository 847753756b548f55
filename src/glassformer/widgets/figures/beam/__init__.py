"""Beam search step by step, on recorded sentences and on the reader's own."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from glassformer.widgets.live import LiveFigure, Table

END = "<end>"
MAX_BEAMS = 4
MAX_SENTENCES = 4
LENGTH_PENALTIES: Mapping[str, Callable[[int], float]] = {
    "none": lambda length: 1.0,
    "average": float,
    "gnmt": lambda length: ((5 + length) / 6) ** 0.6,
}

Continuations = Mapping[tuple[str, ...], Mapping[str, float]]


class Hypothesis(NamedTuple):
    """A complete translation."""

    tokens: tuple[str, ...]
    log_probability: float


def live_beam(searches: Mapping[str, Continuations]) -> LiveFigure:
    """Show beam search with 1 to 4 beams step by step, next to the greedy path, and the hypotheses found.

    Args:
        searches: recorded search of each sentence. It maps every prefix that 1 to 4 beams visit to the
            log-probabilities of its most probable next tokens, at least 4 if there are as many. Tokens are
            spelled as by a tokenizer, "▁" for a space and "<end>" for the end. Sequences that are not among
            the prefixes are complete.

    Raises:
        ValueError: ``searches`` is empty or has more than 4 sentences, a sentence lacks the empty prefix, a
            prefix has no next tokens, or a log-probability is positive or NaN.
    """
    if not 1 <= len(searches) <= MAX_SENTENCES:
        raise ValueError(f"searches must hold 1 to {MAX_SENTENCES} sentences, got {len(searches)}")
    for sentence, continuations in searches.items():
        _require_search(sentence, continuations)
    first = next(iter(searches))
    return LiveFigure(
        "beam",
        label="Beam search, step by step",
        data={
            "searches": {
                sentence: [
                    [prefix, {token: round(p, 6) for token, p in next_tokens.items()}]
                    for prefix, next_tokens in continuations.items()
                ]
                for sentence, continuations in searches.items()
            },
            "model": "en-fr",
            "megabytes": 7.5,
        },
        table=Table(
            f"Hypotheses of {MAX_BEAMS} beams for “{first}” and the greedy one; scores by length penalty",
            ("translation", "log-probability", "tokens", *LENGTH_PENALTIES),
            _rows(searches[first]),
        ),
        heights=(61.3, 81.3),
    )


def search(continuations: Continuations, beam_size: int) -> list[Hypothesis]:
    """Run beam search over a tree of prefixes; return the complete hypotheses, most probable first."""
    beams: dict[tuple[str, ...], float] = {(): 0.0}
    hypotheses: list[Hypothesis] = []
    while beams:
        candidates = {
            (*tokens, token): total + log_p
            for tokens, total in beams.items()
            for token, log_p in continuations[tokens].items()
        }
        best = sorted(candidates, key=candidates.__getitem__, reverse=True)[: beam_size - len(hypotheses)]
        hypotheses += [
            Hypothesis(tokens, candidates[tokens]) for tokens in best if tokens not in continuations
        ]
        beams = {tokens: candidates[tokens] for tokens in best if tokens in continuations}
    return sorted(hypotheses, key=lambda one: -one.log_probability)


def _rows(continuations: Continuations) -> list[tuple[str, ...]]:
    found = [(_text(tokens), tokens, total) for tokens, total in search(continuations, MAX_BEAMS)]
    greedy = [(f"greedy: {_text(tokens)}", tokens, total) for tokens, total in search(continuations, 1)]
    return [
        (
            text,
            _show(total),
            str(len(tokens)),
            *(_show(total / penalty(len(tokens)), 3) for penalty in LENGTH_PENALTIES.values()),
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
        raise ValueError(f"searches must hold the empty prefix for {sentence!r}")
    for prefix, next_tokens in continuations.items():
        where = f"after {' '.join(prefix)!r} of {sentence!r}"
        if not next_tokens:
            raise ValueError(f"searches must hold at least 1 next token {where}, got 0")
        for token, log_p in next_tokens.items():
            if not log_p <= 0:
                raise ValueError(f"log-probabilities must be 0 or below, got {log_p} for {token!r} {where}")

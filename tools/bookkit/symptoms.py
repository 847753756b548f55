"""Summarise the measured symptoms of the museum's bugs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bookkit.museum import Bug

Numbers = list[float | None]


def format_range(numbers: Numbers, unit: str) -> str:
    """Format one number, or the least and the greatest over the seeds."""
    if any(number is None for number in numbers):
        return "not finite"
    written = [_format(number, unit) for number in (min(numbers), max(numbers))]  # type: ignore[type-var]
    low, high = (text.removesuffix(" %") for text in written)
    return written[1] if low == high else f"{low} to {written[1]}"


def _format(number: float | None, unit: str) -> str:
    assert number is not None
    if unit == "%":
        return f"{100 * number:.1f} %"
    written = f"{int(number):,}" if number == int(number) else f"{number:.3g}"
    return written.replace("-", "−")


def differ(healthy: Numbers, patched: Numbers, seed_by_seed: bool = False) -> bool:
    """Say whether a bug shows: its numbers do not overlap with those without it.

    Seed by seed, it is enough that the bug moves every number in the same direction.
    """
    if None in healthy or None in patched:
        return (None in healthy) != (None in patched)
    if seed_by_seed:
        pairs = list(zip(healthy, patched, strict=True))
        return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)  # type: ignore[operator]
    low, high = min(healthy), max(healthy)  # type: ignore[type-var]
    return max(patched) < low or min(patched) > high  # type: ignore[operator,type-var]


def same_training(own: dict[str, Any]) -> bool:
    """Say whether a bug leaves training unchanged, so that each seed can be compared with itself."""
    told = [name for name in ("unseen_loss", "greedy_exact_match") if name in own["healthy"]]
    return bool(told) and all(own["healthy"][name] == own["patched"].get(name) for name in told)


class Symptoms:
    """The stored result of ``benchmarks/museum_symptoms.py``."""

    def __init__(self, path: Path) -> None:
        result = json.loads(path.read_text(encoding="utf-8"))
        self.measures: dict[str, list[str]] = result["settings"]["measures"]
        self.measured: dict[str, dict[str, Any]] = result["measured"]
        self.seeds: int = result["settings"]["seeds"]

    def headline(self, bug: Bug) -> str:
        """Summarise a bug's effect: the first of its measures that it changes."""
        own = self.measured[bug.id]
        if "error" in own["patched"]:
            return "it raises an error"
        for name in bug.measured.shows:
            healthy, patched = own["healthy"][name], own["patched"][name]
            if differ(healthy, patched, same_training(own)):
                words, unit = self.measures[name]
                return f"{words}: {format_range(healthy, unit)} → {format_range(patched, unit)}"
        return "no visible effect"

    def rows(self, bug: Bug) -> Iterator[tuple[str, str, str]]:
        """Yield each measure in words, without the bug and with it."""
        own = self.measured[bug.id]
        stopped = [text for text in own["patched"].get("error", []) if text]
        for name in bug.measured.shows:
            words, unit = self.measures[name]
            patched = stopped[0] if stopped else format_range(own["patched"][name], unit)
            yield words, format_range(own["healthy"][name], unit), patched

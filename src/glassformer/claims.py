"""Sentences that are measured: printed where they hold, raised where they do not.

Every empirical sentence of the book ends in a call of `claim` or `folklore`. The line it prints is
stored with the notebook, compared by the tests, and read back by `parse_line` for the claims ledger.
"""

import re
from typing import Literal, NamedTuple

Verdict = Literal["holds", "does not hold"]

_LINE = re.compile(
    r"^(?P<mark>[✔✘]) (?P<kind>claim|folklore) (?P<id>\S+) (?P<verdict>holds|does not hold): "
    r"(?P<statement>.+?) │ measured: (?P<measured>.+?)(?: │ source: (?P<source>.+))?$"
)
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class ClaimError(AssertionError):
    """A sentence of the book is not what was measured."""


class Claim(NamedTuple):
    """One measured sentence, as the ledger shows it."""

    kind: Literal["claim", "folklore"]
    id: str
    statement: str
    verdict: Verdict
    measured: str
    source: str | None


def claim(id: str, statement: str, *, holds: bool, measured: str, source: str | None = None) -> None:
    """Print a sentence with the number it rests on; raise if the measurement does not bear it out.

    Args:
        id: its name in the ledger: lower-case words joined by hyphens, unique in the book.
        statement: what is claimed, a whole sentence.
        holds: whether the measurement bears it out.
        measured: the measured value, rounded to what survives another machine.
        source: who said it first, if it was not us.

    Raises:
        ClaimError: it does not hold.
    """
    _record(Claim("claim", id, statement, "holds", measured, source), bool(holds))


def folklore(
    id: str, belief: str, *, verdict: Verdict, holds: bool, measured: str, source: str | None = None
) -> None:
    """Print a popular belief with what was measured; raise if the verdict is not what was measured.

    Args:
        id: its name in the ledger, as in `claim`.
        belief: what is often said, a whole sentence.
        verdict: what the text says of it.
        holds: whether the measurement bears the belief out.
        measured: the measured value, rounded to what survives another machine.
        source: where the belief is found.

    Raises:
        ClaimError: the text's verdict and the measurement disagree.
    """
    if verdict not in ("holds", "does not hold"):
        raise ValueError(f"verdict must be 'holds' or 'does not hold', got {verdict!r}")
    _record(Claim("folklore", id, belief, verdict, measured, source), bool(holds) == (verdict == "holds"))


def _record(entry: Claim, as_stated: bool) -> None:
    if not _ID.fullmatch(entry.id):
        raise ValueError(f"id must be lower-case words joined by hyphens, got {entry.id!r}")
    for name, text in entry._asdict().items():
        if text is not None and (text.strip().splitlines() != [text] or "│" in text):
            raise ValueError(f"{name} must be one line without │ or spaces around it, got {text!r}")
    if not as_stated:
        raise ClaimError(f"{entry.kind} {entry.id}: {entry.statement!r} measured: {entry.measured}")
    print(format_line(entry))


def format_line(entry: Claim) -> str:
    """Write a claim as the one line that notebooks store."""
    mark = "✔" if entry.verdict == "holds" else "✘"
    line = f"{mark} {entry.kind} {entry.id} {entry.verdict}: {entry.statement} │ measured: {entry.measured}"
    return line if entry.source is None else f"{line} │ source: {entry.source}"


def parse_line(line: str) -> Claim | None:
    """Read a claim back from a line that `format_line` wrote; None for any other line."""
    found = _LINE.match(line)
    if found is None:
        return None
    fields = found.groupdict()
    del fields["mark"]
    return Claim(**fields)  # type: ignore[arg-type]  # the pattern admits only the literal values

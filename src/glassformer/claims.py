"""Claims: sentences of the book that are checked against a measurement.

Every empirical sentence has a call of `claim` or `folklore`. The line it prints is stored in the notebook,
compared by the tests, and parsed by `parse_line` for the claims ledger.
"""

import re
from typing import Literal, NamedTuple

Verdict = Literal["holds", "does not hold"]

_LINE = re.compile(
    r"^(?P<mark>[✔✘]) (?P<kind>claim|folklore) (?P<id>\S+) (?P<verdict>holds|does not hold): "
    r"(?P<statement>.+?) │ measured: (?P<measured>.+?)"
    r"(?: │ stored: (?P<stored>.+?))?(?: │ source: (?P<source>.+))?$"
)
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class ClaimError(AssertionError):
    """A claim of the book contradicts its measurement."""


class Claim(NamedTuple):
    """A claim with its measurement, as the ledger lists it."""

    kind: Literal["claim", "folklore"]
    id: str
    statement: str
    verdict: Verdict
    measured: str
    stored: str | None
    source: str | None


def claim(
    id: str,
    statement: str,
    *,
    holds: bool,
    measured: str,
    stored: str | None = None,
    source: str | None = None,
) -> None:
    """Print a claim with its measurement, or raise if the measurement contradicts it.

    Args:
        id: name in the ledger: lower-case words joined by hyphens, unique in the book.
        statement: claim as a whole sentence.
        holds: True if the measurement supports the claim.
        measured: measured value, rounded to digits that are the same on other machines.
        stored: program that made the measurement, if the cell only reads its stored result.
        source: original source of the claim, if it is not ours.

    Raises:
        ClaimError: the claim does not hold.
    """
    _record(Claim("claim", id, statement, "holds", measured, stored, source), bool(holds))


def folklore(
    id: str,
    belief: str,
    *,
    verdict: Verdict,
    holds: bool,
    measured: str,
    stored: str | None = None,
    source: str | None = None,
) -> None:
    """Print a popular belief with its measurement, or raise if the measurement contradicts the verdict.

    Args:
        id: name in the ledger, as in `claim`.
        belief: popular belief as a whole sentence.
        verdict: verdict of the text on the belief.
        holds: True if the measurement supports the belief.
        measured: measured value, rounded to digits that are the same on other machines.
        stored: program that made the measurement, as in `claim`.
        source: source of the belief.

    Raises:
        ClaimError: the verdict and the measurement disagree.
    """
    if verdict not in ("holds", "does not hold"):
        raise ValueError(f"verdict must be 'holds' or 'does not hold', got {verdict!r}")
    as_stated = bool(holds) == (verdict == "holds")
    _record(Claim("folklore", id, belief, verdict, measured, stored, source), as_stated)


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
    """Format a claim as the line that notebooks store."""
    mark = "✔" if entry.verdict == "holds" else "✘"
    line = f"{mark} {entry.kind} {entry.id} {entry.verdict}: {entry.statement} │ measured: {entry.measured}"
    origins = {"stored": entry.stored, "source": entry.source}
    return line + "".join(f" │ {name}: {text}" for name, text in origins.items() if text is not None)


def parse_line(line: str) -> Claim | None:
    """Parse a line that `format_line` formatted; return None for any other line."""
    found = _LINE.match(line)
    if found is None:
        return None
    fields = found.groupdict()
    del fields["mark"]
    return Claim(**fields)  # type: ignore[arg-type]  # the pattern admits only the literal values

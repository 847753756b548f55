"""The log of a run: one JSON object per line."""

import json
from pathlib import Path
from typing import Any

from glassformer.files import atomic_write


class RunLog:
    """Log of a run: a JSON Lines file, which can be read at any time with `read_log`.

    Args:
        path: path of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, **entry: Any) -> None:
        """Append an entry to the file, which is created if missing."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def truncate(self, step: int) -> None:
        """Remove the entries of steps after ``step``, the step from which the run resumes."""
        kept = [entry for entry in read_log(self.path) if entry["step"] <= step]
        with atomic_write(self.path) as part:
            part.write_text("".join(json.dumps(entry) + "\n" for entry in kept), encoding="utf-8")


def read_log(path: Path | str) -> list[dict[str, Any]]:
    """Read the entries of a log; an incomplete last line, left by a killed process, is skipped.

    Raises:
        FileNotFoundError: there is no file at ``path``.
        ValueError: a line other than the last is not JSON.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            if number < len(lines):
                raise ValueError(
                    f"{path}: line {number} of {len(lines)} is not JSON: {line[:80]!r}"
                ) from None
    return entries

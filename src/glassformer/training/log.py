"""The diary of a run: one line of JSON for each thing that was measured."""

import json
from pathlib import Path
from typing import Any

from glassformer.files import atomic_write


class RunLog:
    """A file of JSON lines that a run appends to, and that can be read at any time.

    Args:
        path: where the lines stand.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, **entry: Any) -> None:
        """Append one line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def rewind(self, step: int) -> None:
        """Forget what was written after a step: the run goes on from there."""
        kept = [entry for entry in read_log(self.path) if entry["step"] <= step]
        with atomic_write(self.path) as part:
            part.write_text("".join(json.dumps(entry) + "\n" for entry in kept), encoding="utf-8")


def read_log(path: Path | str) -> list[dict[str, Any]]:
    """Read the lines of a log; a last line that was cut off by a kill is left out.

    Raises:
        FileNotFoundError: there is no log.
        ValueError: a line before the last is no JSON.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            if number < len(lines):
                raise ValueError(f"{path}: line {number} of {len(lines)} is no JSON: {line[:80]!r}") from None
    return entries

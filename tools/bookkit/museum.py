"""Read the bugs of the museum and apply them to a copy of the package.

A file ``museum/<id>.md`` holds YAML front matter, the story in Markdown, and the bug as a patch in a ``diff``
fence. ``git apply`` applies the patch: every clone has git, and it never guesses where a stale patch belongs.
"""

import hashlib
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import yaml

_FILE = re.compile(r"---\n(?P<facts>.+?)\n---\n\n(?P<story>.+?)\n\n```diff\n(?P<patch>.+?)```\n", re.DOTALL)
_FACTS: dict[str, type] = {"title": str, "chapter": str, "source": dict, "killers": list, "measured": dict}


class Source(NamedTuple):
    """Public report of a bug.

    Attributes:
        name: repository, and the number or the file in it.
        link: web address.
        seen: summary of the report.
    """

    name: str
    link: str
    seen: str


class Measured(NamedTuple):
    """Measurement of a bug's symptoms by ``benchmarks/museum_symptoms.py``.

    Attributes:
        by: name of the probe.
        options: arguments of the probe.
        shows: names of the measures, most telling first; the first that changes goes into the table.
    """

    by: str
    options: dict[str, Any]
    shows: list[str]


class Bug(NamedTuple):
    """A real bug, as a patch to this package.

    Attributes:
        id: name of its file without the suffix.
        title: the fault in one sentence.
        chapter: slug of the chapter that teaches the correct way.
        source: public report.
        killers: ids of the tests that fail with it, relative to ``tests``.
        measured: measurement of its symptoms.
        story: the code as written, why it looks right, and its effect, in Markdown.
        patch: diff that adds the bug to the package.
    """

    id: str
    title: str
    chapter: str
    source: Source
    killers: list[str]
    measured: Measured
    story: str
    patch: str

    @property
    def digest(self) -> str:
        """Hash of the lines that the patch removes and adds; the lines around them do not count."""
        changed = [line for line in self.patch.splitlines() if line.startswith(("-", "+"))]
        return hashlib.sha256("\n".join(changed).encode()).hexdigest()[:16]


def read_bugs(folder: Path) -> list[Bug]:
    """Read all bugs of a museum, sorted by file name."""
    return [read_bug(path) for path in sorted(folder.glob("*.md"))]


def read_bug(path: Path) -> Bug:
    """Read a bug.

    Raises:
        ValueError: a part is missing; the message names file and part.
    """
    found = _FILE.fullmatch(path.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(
            f"{path} must hold front matter between lines of ---, a text, and a ```diff at its end"
        )
    facts = yaml.safe_load(found["facts"])
    for name, kind in _FACTS.items():
        if not isinstance(facts.get(name), kind) or not facts[name]:
            raise ValueError(f"{path} must hold {name} as a {kind.__name__}, got {facts.get(name)!r}")
    if unknown := sorted(facts.keys() - _FACTS.keys()):
        raise ValueError(f"{path} may only hold {', '.join(_FACTS)}, got {', '.join(unknown)} too")
    try:
        source, measured = Source(**facts["source"]), Measured(**facts["measured"])
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from error
    facts |= {"source": source, "measured": measured}
    return Bug(id=path.stem, story=found["story"], patch=found["patch"], **facts)


def apply_patch(bug: Bug, root: Path) -> None:
    """Apply a bug's patch to a copy of the repository.

    Args:
        bug: bug to apply.
        root: folder that holds the copy's ``src``.

    Raises:
        ValueError: the patch does not apply; the message says where.
    """
    command = ["git", "apply", "--whitespace=error-all", "-"]
    applied = subprocess.run(
        command, cwd=root, input=bug.patch, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if applied.returncode:
        raise ValueError(f"the patch of {bug.id} does not apply: {applied.stderr.strip()}")

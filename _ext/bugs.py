"""The bugs of the museum, read from their files, and put back into a copy of the package.

A file ``museum/<id>.md`` holds YAML between two lines of ``---``, then what there is to say, then the bug as
a patch in a fence. Patches are applied by ``git apply``: whoever has a clone has it, and it never guesses
where a patch that does not fit might have been meant to go.
"""

import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import yaml

_FILE = re.compile(r"---\n(?P<facts>.+?)\n---\n\n(?P<story>.+?)\n\n```diff\n(?P<patch>.+?)```\n", re.DOTALL)
_FACTS: dict[str, type] = {"title": str, "chapter": str, "source": dict, "killers": list, "measured": dict}


class Source(NamedTuple):
    """Where a bug was seen.

    Attributes:
        name: a public repository, and the number or the file in it.
        link: its address.
        seen: what stands there, in our words.
    """

    name: str
    link: str
    seen: str


class Measured(NamedTuple):
    """How the symptom of a bug is measured: see ``benchmarks/museum_symptoms.py``.

    Attributes:
        by: the name of the probe.
        options: what the probe is told.
        shows: the measures that tell most, the first of them for the table.
    """

    by: str
    options: dict[str, Any]
    shows: list[str]


class Bug(NamedTuple):
    """A bug that was seen somewhere, as a patch on this package.

    Attributes:
        id: the name of its file.
        title: what is wrong, in a sentence.
        chapter: the slug of the chapter that teaches how it is right.
        source: where it was seen.
        killers: the tests that fail with it, by their place under ``tests``.
        measured: how its symptom is measured.
        story: what was written, why it looks right, and what it does, as Markdown.
        patch: what puts it into the package.
    """

    id: str
    title: str
    chapter: str
    source: Source
    killers: list[str]
    measured: Measured
    story: str
    patch: str


def read_bugs(folder: Path) -> list[Bug]:
    """Read all bugs of a museum, by the names of their files."""
    return [read_bug(path) for path in sorted(folder.glob("*.md"))]


def read_bug(path: Path) -> Bug:
    """Read a bug.

    Raises:
        ValueError: a part is missing; the message names file and part.
    """
    found = _FILE.fullmatch(path.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{path} must hold facts between two lines of ---, a text, and a ```diff at its end")
    facts = yaml.safe_load(found["facts"])
    for name, kind in _FACTS.items():
        if not isinstance(facts.get(name), kind) or not facts[name]:
            raise ValueError(f"{path} must hold {name} as a {kind.__name__}, got {facts.get(name)!r}")
    if unknown := sorted(facts.keys() - _FACTS.keys()):
        raise ValueError(f"{path} may hold {', '.join(_FACTS)}, got {', '.join(unknown)} too")
    try:
        source, measured = Source(**facts["source"]), Measured(**facts["measured"])
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from error
    return Bug(
        path.stem,
        facts["title"],
        facts["chapter"],
        source,
        facts["killers"],
        measured,
        found["story"],
        found["patch"],
    )


def put_in(bug: Bug, root: Path) -> None:
    """Put a bug into a copy of the repository.

    Args:
        bug: what is put in.
        root: the folder that holds the copy's ``src``.

    Raises:
        ValueError: the patch does not fit; the message says where.
    """
    command = ["git", "apply", "--whitespace=error-all", "-"]
    applied = subprocess.run(
        command, cwd=root, input=bug.patch, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if applied.returncode:
        raise ValueError(f"the patch of {bug.id} does not fit: {applied.stderr.strip()}")

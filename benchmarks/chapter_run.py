"""Run a chapter in this process, in a world of `broken_worlds.py`, and print the outcomes of its claims.

    python benchmarks/chapter_run.py chapters/04_softmax.ipynb --world softmax-even

The last line is JSON. It holds the outcome of each claim: "holds", "fails" or "crashes" (its own cell raised
another error); a claim is left out if an earlier cell failed. It also lists the files of the package that
ran.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import matplotlib as mpl
import nbformat
from broken_worlds import enter

import glassformer as gf
from glassformer import claims, modules, plotting, reference, tasks, training  # noqa: F401 (worlds replace functions)


def run(path: Path, world: str | None) -> dict[str, Any]:
    """Run a chapter, and return the outcomes of its claims and the package's files that it called."""
    outcomes: dict[str, str] = {}
    called: set[str] = set()
    package = str(Path(gf.__file__).parent)

    def record(entry: claims.Claim, as_stated: bool) -> None:
        outcomes[entry.id] = "holds" if as_stated else "fails"

    def note_file(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(package):
            called.add(str(Path(frame.f_code.co_filename).relative_to(package)))

    claims._record = record
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    if world is None:
        sys.setprofile(note_file)
    elif world != "museum":  # the package itself is broken
        enter(world)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        tags = cell.metadata.get("tags", [])
        if {"colab", "exercise", "solution"} & set(tags):
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(cell.source, f"<{path.stem} {cell.id}>", "exec"), names)
        except NameError:
            continue  # an earlier cell failed
        except Exception:
            for id in claim_ids(cell.source):
                outcomes.setdefault(id, "crashes")
    sys.setprofile(None)
    return {"outcomes": outcomes, "called": sorted(called)}


def claim_ids(source: str) -> list[str]:
    """Return the ids of the claims in a cell's source."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        ast.literal_eval(call.args[0])
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("claim", "folklore")
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("chapter", type=Path)
    parser.add_argument("--world", help="name of the world; without it, the chapter runs as it is")
    options = parser.parse_args()
    mpl.use("agg")
    chapter = options.chapter.resolve()
    os.chdir(chapter.parent)
    print(json.dumps(run(chapter, options.world)))

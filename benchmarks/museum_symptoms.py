"""Measure each bug of the museum on a small translator of the grammar, with and without the bug.

A probe of `museum_probes.py`, named in the bug's file, runs in a process of its own on a copy of the package
with the bug and on one without it, with several seeds. Finished runs are stored in ``--folder``, so the
program can be interrupted and started again. The museum's page shows the result.
"""

import functools
import hashlib
import json
import math
import multiprocessing
import shutil
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from museum_setting import CORPUS, LESSON, MEASURES, RUN, SIZES
from record import CPU, RESULTS, load_or_make, parse_options, write_result

from bookkit.museum import Bug, Measured, apply_patch, read_bugs

ROOT = Path(__file__).parents[1]


def ask_copy(measured: Measured, bug: Bug | None, seed: int) -> dict[str, Any]:
    """Run a probe on a copy of the package, with or without a bug."""
    context = multiprocessing.get_context("fork")  # inherits torch, but not glassformer
    with tempfile.TemporaryDirectory() as folder:
        leave_out = shutil.ignore_patterns("pretrained", "*.pyc.*")
        shutil.copytree(ROOT / "src", Path(folder) / "src", ignore=leave_out)
        if bug is not None:
            apply_patch(bug, Path(folder))
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_ask_here, args=(Path(folder), measured, seed, theirs))
        process.start()
        theirs.close()
        answered: dict[str, Any] = ours.recv()
        process.join()
    return answered


def _ask_here(root: Path, measured: Measured, seed: int, answer: Connection) -> None:
    sys.path.insert(0, str(root / "src"))
    from museum_probes import ask

    torch.set_num_threads(1)
    answer.send(ask(measured.by, measured.options, seed))


def digest(text: str) -> str:
    """Hash a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def by_measure(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Collect the results of all seeds in one list per measure; "error" is a measure."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_short(row.get(name)) for row in rows] for name in names}


def _short(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main() -> None:
    """Measure all bugs, or some of them; the others keep their stored result."""
    options = parse_options(
        __doc__,
        bugs={"nargs": "*", "help": "ids of single bugs"},
        folder={"type": Path, "required": True, "help": "folder for the results of finished runs"},
        seeds=3,
        minutes={"default": math.inf, "help": "minutes until the program stops; start it again to continue"},
    )
    end = time.monotonic() + 60 * options.minutes
    path = RESULTS / "museum_symptoms.json"
    stored = json.loads(path.read_text(encoding="utf-8"))["measured"] if path.exists() else {}
    measured = {}
    for bug in read_bugs(ROOT / "museum"):
        if options.bugs and bug.id not in options.bugs:
            if bug.id in stored:
                measured[bug.id] = stored[bug.id]
            continue
        probe = json.dumps(bug.measured[:2], sort_keys=True)
        answers = {}
        for name, own, kind in (("healthy", None, ""), ("patched", bug, bug.digest)):
            if time.monotonic() > end:
                sys.exit("not yet done: start it again")
            place = options.folder / f"{bug.measured.by}_{digest(probe + kind)}"
            rows = [
                load_or_make(place / f"{seed}.json", functools.partial(ask_copy, bug.measured, own, seed))
                for seed in range(options.seeds)
            ]
            answers[name] = by_measure(rows)
        measured[bug.id] = {"patch": bug.digest, **answers}
        shown = {name: answers["healthy"].get(name) for name in bug.measured.shows}
        print(bug.id, shown, answers["patched"], flush=True)
    settings = {"seeds": options.seeds, **CORPUS, **SIZES, "lesson": LESSON, "run": RUN, "measures": MEASURES}
    write_result(path, device=CPU, settings=settings, measured=measured)


if __name__ == "__main__":
    main()

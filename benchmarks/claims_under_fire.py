"""Run every chapter with other seeds and in broken worlds, to see which claims survive and which notice.

    python benchmarks/claims_under_fire.py --folder runs/fire --jobs 2

A claim should hold with other seeds, and fail in a world in which it is false. The worlds are those of
`broken_worlds.py` and the bugs of the museum, each on the chapters that call a file it patches. Finished runs
are stored in ``--folder``, so the program can be interrupted and started again; a chapter whose code has
changed is run anew. The claims ledger shows the result.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from broken_worlds import BROKEN, SEEDS
from record import CPU, RESULTS, load_or_make, parse_options, write_result

from bookkit.chapters import Chapter, read_chapters
from bookkit.museum import Bug, apply_patch, read_bugs

ROOT = Path(__file__).parents[1]


def run_chapter(chapter: Chapter, world: str | Bug | None, *, minutes: float) -> dict[str, Any]:
    """Run a chapter in a process of its own, on a copy of the package if the world is a bug of the museum."""
    with tempfile.TemporaryDirectory() as folder:
        source = ROOT / "src"
        if isinstance(world, Bug):
            source = Path(folder) / "src"
            shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("*.pyc*"))
            apply_patch(world, Path(folder))
        paths = os.pathsep.join([str(source), str(ROOT / "tools")])
        settings = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "GLASSFORMER_DEVICE": "cpu"}
        command = [sys.executable, ROOT / "benchmarks/chapter_run.py", chapter.path]
        if isinstance(world, Bug):
            command += ["--world", "museum"]
        elif world is not None:
            command += ["--world", world]
        try:
            finished = subprocess.run(
                command,
                env=os.environ | settings,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
                timeout=60 * minutes,
            )
        except subprocess.TimeoutExpired:
            return {"outcomes": {}, "called": [], "stopped": f"after {minutes:g} minutes"}
        except subprocess.CalledProcessError as error:
            return {"outcomes": {}, "called": [], "stopped": f"exit code {error.returncode}"}
        answer: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
        return answer


def patched_files(bug: Bug) -> set[str]:
    """Return the files of the package that a bug patches."""
    marker = "+++ b/src/glassformer/"
    return {line.removeprefix(marker) for line in bug.patch.splitlines() if line.startswith(marker)}


def worlds_of(called: list[str], bugs: list[Bug]) -> Iterator[tuple[str, str | Bug]]:
    """Yield the worlds in which to run a chapter that calls these files."""
    yield from ((name, name) for name in (*SEEDS, *BROKEN))
    yield from ((f"museum: {bug.id}", bug) for bug in bugs if patched_files(bug) & set(called))


def judge(chapter: Chapter, outcomes: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Count the seeds with which each claim of a chapter holds, and list the broken worlds it notices."""
    return {
        claim.id: {
            "seeds": sum(outcomes[world].get(claim.id) == "holds" for world in SEEDS),
            "noticed": [
                world
                for world, found in outcomes.items()
                if world not in SEEDS and found.get(claim.id) in ("fails", "crashes")
            ],
        }
        for claim in chapter.claims
    }


def measure_chapter(chapter: Chapter, folder: Path, *, jobs: int, minutes: float) -> dict[str, Any]:
    """Run a chapter in all its worlds.

    Raises:
        RuntimeError: a claim does not hold in the chapter as it is.
    """
    here = folder / f"{chapter.slug}_{chapter.code_digest}"

    def outcome(name: str, world: str | Bug | None) -> dict[str, Any]:
        make = functools.partial(run_chapter, chapter, world, minutes=minutes)
        found: dict[str, Any] = load_or_make(here / f"{name.replace(': ', '_')}.json", make)
        return found

    healthy = outcome("healthy", None)
    if wrong := [claim.id for claim in chapter.claims if healthy["outcomes"].get(claim.id) != "holds"]:
        raise RuntimeError(f"{chapter.slug}: {', '.join(wrong)} must hold before anything is broken")
    worlds = dict(worlds_of(healthy["called"], read_bugs(ROOT / "museum")))
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(outcome, worlds, worlds.values()))
    outcomes = {name: each["outcomes"] for name, each in zip(worlds, found, strict=True)}
    broken = [name for name in worlds if name not in SEEDS]
    return {"code": chapter.code_digest, "worlds": broken, "claims": judge(chapter, outcomes)}


def main() -> None:
    """Measure all chapters, or some of them; the others keep the stored result of their present code."""
    options = parse_options(
        __doc__,
        chapters={"nargs": "*", "help": "slugs of single chapters"},
        folder={"type": Path, "required": True, "help": "folder for the results of finished runs"},
        jobs=1,
        minutes=10.0,
    )
    path = RESULTS / "claims_under_fire.json"
    stored = json.loads(path.read_text(encoding="utf-8"))["measured"] if path.exists() else {}
    measured = {}
    for chapter in read_chapters():
        if not options.chapters or chapter.slug in options.chapters:
            measured[chapter.slug] = measure_chapter(
                chapter, options.folder, jobs=options.jobs, minutes=options.minutes
            )
            claims = measured[chapter.slug]["claims"].values()
            unnoticed = sum(not claim["noticed"] for claim in claims)
            frail = sum(claim["seeds"] < len(SEEDS) for claim in claims)
            print(
                f"{chapter.slug}: {len(claims)} claims, {frail} fail with a seed, {unnoticed} notice nothing",
                flush=True,
            )
        elif stored.get(chapter.slug, {}).get("code") == chapter.code_digest:
            measured[chapter.slug] = stored[chapter.slug]
    write_result(path, device=CPU, settings={"seeds": len(SEEDS)}, measured=measured)


if __name__ == "__main__":
    main()

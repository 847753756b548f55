"""Build the folder of an nbgrader course: ``python -m bookkit.course.build FOLDER``."""

import argparse
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

import nbformat

from bookkit.chapters import slugs
from bookkit.course.assignments import make_assignment
from bookkit.course.grader.opening import open_course

GRADER = Path(__file__).parent / "grader"


def make_course(folder: Path, secret: str | None = None, chapters: Sequence[str] = ()) -> None:
    """Write the instructor's and the students' notebooks, the grader and the gradebook; keep submissions.

    Args:
        folder: folder of the course, new or existing.
        secret: string from which the seeds of the hidden tests are derived; drawn at random if omitted. A
            course keeps its secret.
        chapters: slugs of the chapters to include; all if empty.

    Raises:
        ValueError: a chapter is unknown, the folder is not a course, or it is a course with another secret.
    """
    if unknown := set(chapters) - set(slugs()):
        raise ValueError(f"chapters must be among {', '.join(slugs())}, got {', '.join(sorted(unknown))}")
    if folder.exists() and any(folder.iterdir()) and not (folder / "nbgrader_config.py").exists():
        raise ValueError(f"{folder} must be a new or empty folder, or a course, but holds other files")
    kept = folder / "secret.txt"
    known = kept.read_text().strip() if kept.exists() else ""
    if secret and known and secret != known:
        raise ValueError(
            f"{folder} has another secret, from which its hidden tests are derived: omit SEED to keep it, "
            "or make a course in another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    secret = known or secret or secrets.token_hex(8)
    kept.write_text(secret)
    shutil.copytree(
        GRADER,
        folder / "grader",
        ignore=shutil.ignore_patterns("__pycache__", "nbgrader_config.py"),
        dirs_exist_ok=True,
    )
    shutil.copy(GRADER / "nbgrader_config.py", folder)
    wanted = list(chapters) or slugs()
    for slug in wanted:
        source = folder / "source" / slug
        source.mkdir(parents=True, exist_ok=True)
        nbformat.write(make_assignment(slug, secret), source / f"{slug}.ipynb")
    _release(folder.resolve(), wanted)


def _release(folder: Path, assignments: Sequence[str]) -> None:
    """Let nbgrader make the students' version and enter the exercises and points in the gradebook.

    Raises:
        RuntimeError: nbgrader failed.
    """
    course = open_course(folder)
    for assignment in assignments:
        outcome = course.generate_assignment(assignment, force=True, create=True)
        if not outcome["success"]:
            raise RuntimeError(f"{assignment}: {outcome.get('log') or outcome['error']}")


def main() -> None:
    """Build a course from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bookkit.course.build", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", help="secret from which the seeds of the hidden tests are derived")
    parser.add_argument("chapters", nargs="*", help="slugs of the chapters; all if omitted")
    arguments = parser.parse_args()
    try:
        make_course(arguments.folder, arguments.seed, arguments.chapters)
    except ValueError as error:
        parser.error(str(error))
    print(f"Built the course. Hand out {arguments.folder}/release; the rest is for you.")


if __name__ == "__main__":
    main()

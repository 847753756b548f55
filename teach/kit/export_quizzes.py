"""Write the quiz of each chapter for learning platforms: ``python export_quizzes.py FOLDER``."""

import sys
from pathlib import Path

from chapters import read_chapter, slugs
from glassformer.quizzes import questions
from moodle import write_moodle
from qti_package import write_package


def export_quizzes(folder: Path) -> None:
    """Write ``<slug>.zip``, a package of QTI 2.1, and ``<slug>.xml`` for Moodle, for each chapter."""
    for slug in slugs():
        write_package(folder / f"{slug}.zip", slug, _title(slug), questions(slug))
        write_moodle(folder / f"{slug}.xml", slug, questions(slug))


def _title(slug: str) -> str:
    first = read_chapter(slug).cells[0].source
    return first.splitlines()[0].removeprefix("# ")


if __name__ == "__main__":
    export_quizzes(Path(sys.argv[1]))
    print(f"The quizzes are written: {sys.argv[1]}")

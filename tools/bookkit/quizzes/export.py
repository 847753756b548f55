"""Export the quiz of each chapter for learning platforms: ``python -m bookkit.quizzes.export FOLDER``."""

import sys
from pathlib import Path

from bookkit.chapters import read_chapters
from bookkit.quizzes.moodle import write_moodle
from bookkit.quizzes.qti_package import write_package
from glassformer.quizzes import questions


def export_quizzes(folder: Path) -> None:
    """Write ``<slug>.zip`` (QTI 2.1) and ``<slug>.xml`` (Moodle) for each chapter."""
    for chapter in read_chapters():
        asked = questions(chapter.slug)
        write_package(folder / f"{chapter.slug}.zip", chapter.slug, chapter.title, asked)
        write_moodle(folder / f"{chapter.slug}.xml", chapter.slug, asked)


if __name__ == "__main__":
    export_quizzes(Path(sys.argv[1]))
    print(f"Exported the quizzes: {sys.argv[1]}")

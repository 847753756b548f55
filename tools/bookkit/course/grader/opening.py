"""Open the folder of a course with nbgrader."""

import os
import sys
import warnings
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from traitlets.config.loader import PyFileConfigLoader


def open_course(folder: Path) -> NbGraderAPI:
    """Open a course with the settings of its nbgrader_config.py.

    Raises:
        FileNotFoundError: the folder is not a course.
    """
    if not (folder / "nbgrader_config.py").exists():
        raise FileNotFoundError(
            f"{folder} is not a course: it has no nbgrader_config.py (make assignments writes it)"
        )
    warnings.filterwarnings("ignore", module="nbgrader|nbformat")
    os.environ["PATH"] = (
        f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader runs alembic
    )
    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    return NbGraderAPI(config=config)

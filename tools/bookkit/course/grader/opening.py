"""Open the folder of a course with nbgrader, as its nbgrader_config.py says."""

import os
import sys
import warnings
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from traitlets.config.loader import PyFileConfigLoader


def open_course(folder: Path) -> NbGraderAPI:
    """Open a course; what nbgrader has to say stands in the outcome of what is done with it.

    Raises:
        FileNotFoundError: the folder holds no course.
    """
    if not (folder / "nbgrader_config.py").exists():
        raise FileNotFoundError(
            f"{folder} is no course: wanted nbgrader_config.py in it, as make assignments writes"
        )
    warnings.filterwarnings("ignore", module="nbgrader|nbformat")  # about its own use of its libraries
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # it calls alembic
    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    return NbGraderAPI(config=config)

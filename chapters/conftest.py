"""Run `pytest --nbval chapters` under the settings with which the stored outputs were made."""

import os

# Kernels inherit this environment.
os.environ["GLASSFORMER_SCRIPTS"] = "page"
os.environ.setdefault("GLASSFORMER_DEVICE", "cpu")  # another device rounds differently
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = (
    "1"  # or every kernel prints a warning of its debugger
)

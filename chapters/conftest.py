"""Run `pytest --nbval chapters` under the settings with which the stored outputs were made."""

import os

# Kernels inherit these. Another device would round differently; the last silences the kernels' debugger.
os.environ.setdefault("GLASSFORMER_DEVICE", "cpu")
os.environ["GLASSFORMER_SCRIPTS"] = "page"
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"

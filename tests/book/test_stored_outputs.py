"""`pytest --nbval chapters` compares outputs under the settings with which they were stored."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from glassformer.widgets import live_softmax

ROOT = Path(__file__).parents[2]
FIGURE = """
import numpy as np
from glassformer.widgets import live_softmax

live_softmax(["cat", "dog"], np.array([2.0, 1.0]))
"""
DEVICE = 'import os\n\nprint(os.environ["GLASSFORMER_DEVICE"])'


@pytest.fixture
def run_nbval(tmp_path):
    """Return a function that runs a notebook as a chapter, with only the given GLASSFORMER_ variables set."""
    figure = live_softmax(["cat", "dog"], np.array([2.0, 1.0]))
    data = {"text/html": figure.to_html(), "text/plain": repr(figure)}
    shown = new_output("execute_result", data, execution_count=1)
    printed = new_output("stream", name="stdout", text="cpu\n")
    cells = [
        new_code_cell(FIGURE, outputs=[shown], execution_count=1),
        new_code_cell(DEVICE, outputs=[printed], execution_count=2),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "chapter.ipynb")
    shutil.copy(ROOT / "chapters/conftest.py", tmp_path)

    def run(**variables):
        others = {name: value for name, value in os.environ.items() if not name.startswith("GLASSFORMER_")}
        command = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider"]
        command += ["-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, tmp_path]
        return subprocess.run(
            command, cwd=ROOT, env=others | variables, capture_output=True, text=True, check=False
        ).stdout

    return run


def test_a_bare_run_leaves_scripts_to_the_page_and_computes_on_the_cpu(run_nbval):
    assert "2 passed" in run_nbval()


def test_a_run_on_a_device_that_the_environment_names_stays_there(run_nbval):
    output = run_nbval(GLASSFORMER_DEVICE="mps")
    assert "1 failed, 1 passed" in output
    assert "mps" in output

import subprocess
import sys

import numpy as np

from glassformer import reference


def test_the_definitions_import_without_torch_and_matplotlib():
    script = "import sys; sys.modules.update(torch=None, matplotlib=None); import glassformer.reference"
    for module in ["", ".transformer"]:
        subprocess.run([sys.executable, "-c", script + module], check=True)


def test_softmax_is_the_function_and_not_its_module():
    assert reference.softmax(np.zeros(1)) == 1

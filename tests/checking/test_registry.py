import subprocess
import sys

import pytest

from glassformer import exercises, quizzes
from glassformer.checking.registry import chapter_module


@pytest.mark.parametrize("package", [exercises, quizzes])
def test_a_chapter_is_found_in_each_package_with_a_module_per_chapter(package):
    assert chapter_module(package.__name__, "softmax").__name__ == f"{package.__name__}.softmax"


def test_an_unknown_chapter_is_an_error_that_lists_the_chapters():
    with pytest.raises(ValueError, match=r"chapter must be one of before_you_begin, .*, got 'chapter_13'"):
        quizzes.questions("chapter_13")


def test_checks_and_quizzes_of_numpy_chapters_do_not_import_torch():
    code = (
        "import sys, glassformer as gf; gf.exercises.list_checks('softmax'); gf.quizzes.questions('softmax');"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

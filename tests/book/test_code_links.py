"""Links into the code point to the right line; an unknown name fails the build."""

import subprocess
import sys
from pathlib import Path

EXTENSIONS = Path(__file__).parents[2] / "_ext"
REPOSITORY = "https://github.com/ada/book"
MODULE = '''"""A module."""

LIMIT = 3


class Heads:
    def split(self):
        pass


def softmax(x):
    return x
'''
TEST = """def test_weights_sum_to_one():
    pass


def test_softmax_equals_pytorchs():
    pass
"""


def build(folder, text):
    """Build a book of one page about a small package; return the warnings and the page."""
    for path, content in {
        "src/package/inner/module.py": MODULE,
        "tests/inner/test_module.py": TEST,
        "conf.py": f"import sys\nsys.path.insert(0, {str(EXTENSIONS)!r})\n"
        "extensions = ['myst_parser', 'code_links']\nhtml_theme = 'sphinx_book_theme'\n"
        f"html_theme_options = {{'repository_url': {REPOSITORY!r}, 'repository_branch': 'main'}}\n",
        "index.md": f"# Page\n\n{text}\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", folder, folder / "html"]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    return finished.stderr, (folder / "html/index.html").read_text(encoding="utf-8")


def test_a_link_points_to_the_line_and_shows_a_name_or_a_sentence(tmp_path):
    names = ["LIMIT", "Heads", "Heads.split", "softmax"]
    text = " ".join(f"{{source}}`package.inner.module.{name}`" for name in names)
    text += " {source}`package.inner.module` {test}`inner/test_module.py::test_weights_sum_to_one`"
    text += " {test}`inner/test_module.py::test_softmax_equals_pytorchs`"
    text += " {test}`1 <inner/test_module.py::test_weights_sum_to_one>`"
    complaints, page = build(tmp_path, text)
    assert complaints == ""
    where = f"{REPOSITORY}/blob/main/src/package/inner/module.py"
    for name, line in zip(names, (3, 6, 7, 11), strict=True):
        assert f'href="{where}#L{line}"' in page
        assert f">inner.module.{name}</code>" in page.replace("<wbr>", "")
    assert f'href="{where}#L1"' in page
    assert f'href="{REPOSITORY}/blob/main/tests/inner/test_module.py#L1"' in page
    assert "weights sum to one</span>" in page
    assert "softmax equals PyTorch’s</span>" in page
    assert "<span>1</span></a>" in page


def test_a_name_that_does_not_exist_is_a_warning(tmp_path):
    gone = {
        "source": ["package.inner.module.gone", "package.inner.module.Heads.gone", "package.gone"],
        "test": [
            "inner/test_module.py::test_gone",
            "inner/test_gone.py::test_weights_sum_to_one",
            "inner/test_module.py",
        ],
    }
    text = " ".join(f"{{{role}}}`{name}`" for role, names in gone.items() for name in names)
    complaints, _ = build(tmp_path, text)
    for role, names in gone.items():
        for name in names:
            assert f"there is no {role} {name!r}" in complaints

"""pyproject.toml holds the repository's address; its copies agree, and one command changes them all."""

import os
import shutil
from pathlib import Path

import pytest

from bookkit.address import Address, change_address, list_copies, make_address, read_address

ROOT = Path(__file__).parents[2]
COLAB = '    "    !git clone -q --depth 1 {repository} glassformer\\n",'
LINES = {  # the lines of a file that hold the address
    "README.md": [
        "**[Read the book]({website})**, [try the translator]({website}translator.html), run the notebooks, "
        "or [teach a course](teach/guide.md) with it.",
        "git clone {repository} glassformer",
        "pip install git+{repository}",
    ],
    "CITATION.cff": ["url: {repository}"],
    "_config.yml": ["  url: {repository}", "  baseurl: {website}"],
    "intro.md": ["git clone {repository} glassformer"],
    "teach/guide.md": ["git clone {repository} glassformer"],
    "teach/platforms.md": [
        "git clone {repository} glassformer",
        "pip install --no-deps git+{repository}",
        "git clone {repository} stick/glassformer",
    ],
}
YOURS = Address("https://github.com/Ada/book", "https://ada.github.io/book/")


def lines_with_address(path, address):
    return [line for line in path.read_text(encoding="utf-8").splitlines() if any(map(line.count, address))]


def expected_lines(path, root, address):
    lines = [COLAB] if path.suffix == ".ipynb" else LINES[path.relative_to(root).as_posix()]
    return [line.format(**address._asdict()) for line in lines]


@pytest.fixture
def copy(tmp_path):
    """A copy of the files that hold the address."""
    for path in [ROOT / "pyproject.toml", *list_copies(ROOT)]:
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return tmp_path


@pytest.mark.parametrize("path", list_copies(ROOT), ids=lambda path: path.name)
def test_every_copy_agrees_with_pyproject(path):
    address = read_address(ROOT)
    assert lines_with_address(path, address) == expected_lines(path, ROOT, address)


def test_no_other_file_holds_the_address():
    holding = set()
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith((".", "_build"))]
        for path in (Path(folder, name) for name in files):
            if any(url.encode() in path.read_bytes() for url in read_address(ROOT)):
                holding.add(path)
    assert holding == {ROOT / "pyproject.toml", *list_copies(ROOT)}


def test_a_fork_changes_every_copy_and_nothing_else(copy):
    before = {path: path.read_bytes() for path in list_copies(copy)}
    old = read_address(copy)
    changed = change_address(copy, YOURS)
    assert set(changed) == {copy / "pyproject.toml", *before}
    assert read_address(copy) == YOURS
    for path in before:
        assert lines_with_address(path, old) == []
        assert lines_with_address(path, YOURS) == expected_lines(path, copy, YOURS)
    change_address(copy, old)
    assert before == {path: path.read_bytes() for path in before}


def test_an_unchanged_address_changes_no_file(copy):
    assert change_address(copy, read_address(copy)) == []


@pytest.mark.parametrize(
    ("given", "website"),
    [
        (["https://github.com/You/yours"], "https://you.github.io/yours/"),
        (["https://github.com/You/yours.git"], "https://you.github.io/yours/"),
        (["https://github.com/You/yours/"], "https://you.github.io/yours/"),
        (["https://github.com/You/yours", "https://book.example.org"], "https://book.example.org/"),
    ],
)
def test_github_pages_is_the_website_unless_another_is_given(given, website):
    assert make_address(*given) == Address("https://github.com/You/yours", website)


def test_a_repository_named_like_its_host_is_published_at_the_root():
    assert make_address("https://github.com/you/you.github.io").website == "https://you.github.io/"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["you/yours"], "repository must look like https://github.com/you/yours, got 'you/yours'"),
        (["https://github.com/you"], "repository must look like"),
        (["https://gitlab.com/you/yours"], "website is needed, since gitlab.com is not GitHub"),
        (["https://github.com/you/yours", "yours.org"], "website must look like .*, got 'yours.org'"),
    ],
)
def test_a_malformed_address_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        make_address(*given)

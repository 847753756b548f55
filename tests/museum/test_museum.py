"""Every bug of the museum applies to the package, and the tests catch it."""

import json
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from killing import run_tests

from bookkit.definitions import find_test
from bookkit.museum import apply_patch, read_bug, read_bugs

ROOT = Path(__file__).parents[2]
BUGS = read_bugs(ROOT / "museum")
RESULT = json.loads((ROOT / "benchmarks/results/museum_symptoms.json").read_text(encoding="utf-8"))
HOSTS = {"github.com"}
every_bug = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.id)
needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="no process can be forked here")


@pytest.fixture
def copy(tmp_path):
    """A copy of those parts of the repository that the tests of the package need."""
    leave_out = shutil.ignore_patterns("pretrained", "*.pyc.*")
    shutil.copytree(ROOT / "src/glassformer", tmp_path / "src/glassformer", ignore=leave_out)
    for name in ("tests", "pyproject.toml", "src/glassformer/pretrained"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@needs_fork
@every_bug
def test_the_named_tests_fail_with_the_bug(bug, copy):
    apply_patch(bug, copy)
    outcomes, printed = run_tests(copy, bug.killers)
    assert outcomes.failed == set(bug.killers), f"{bug.id} lives:\n{printed}"


@needs_fork
def test_the_named_tests_pass_without_a_bug(copy):
    killers = sorted({killer for bug in BUGS for killer in bug.killers})
    outcomes, printed = run_tests(copy, killers, first_cases=True)
    assert outcomes.passed == set(killers), printed
    assert not outcomes.failed


def test_a_patch_that_does_not_apply_is_refused(copy):
    bug = BUGS[0]
    apply_patch(bug, copy)
    with pytest.raises(ValueError, match=f"the patch of {bug.id} does not apply: .*patch failed"):
        apply_patch(bug, copy)


def test_there_are_many_different_bugs():
    assert len(BUGS) >= 25
    assert len({bug.title for bug in BUGS}) == len({bug.patch for bug in BUGS}) == len(BUGS)
    assert len({bug.source.link for bug in BUGS}) == len(BUGS)


@every_bug
def test_a_bug_names_its_source_its_chapter_and_its_tests(bug):
    link = urlsplit(bug.source.link)
    assert link.scheme == "https"
    assert link.netloc in HOSTS
    repository, number = bug.source.name.split(", ")
    assert link.path.startswith(f"/{repository}/")
    assert link.path.split("/")[-1] == number.split()[-1]
    assert len(list((ROOT / "chapters").glob(f"*_{bug.chapter}.ipynb"))) == 1
    assert all(find_test(ROOT, killer) for killer in bug.killers)


@every_bug
def test_a_story_says_why_the_bug_looks_right_what_it_does_and_how_to_find_it(bug):
    assert re.findall(r"^\*\*(.+?)\.\*\*", bug.story, re.MULTILINE) == [
        "Why it looks right",
        "What you see",
        "How to find it",
    ]


@every_bug
def test_the_shown_symptoms_were_measured_with_this_patch(bug):
    measured = RESULT["measured"][bug.id]
    assert measured["patch"] == bug.digest
    for name in bug.measured.shows:
        assert name in RESULT["settings"]["measures"]
        assert name in measured["healthy"]
        assert name in measured["patched"] or "error" in measured["patched"]


WHOLE = (ROOT / "museum" / f"{BUGS[0].id}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("whole", "broken", "message"),
    [
        ("---\n", "", "must hold front matter between lines"),
        ("```diff", "```python", "a ```diff at its end"),
        ("\nchapter: ", "\nchapters: ", "must hold chapter as a str, got None"),
        ("  link: ", "  address: ", "'address'"),
        ("\nkillers:\n", "\nkillers: one\n", "could not|must hold killers as a list"),
        ("\nmeasured:\n", "\nauthor: us\nmeasured:\n", "got author too"),
    ],
)
def test_a_file_with_a_missing_part_is_named(tmp_path, whole, broken, message):
    path = tmp_path / "a_bug.md"
    path.write_text(WHOLE.replace(whole, broken, 1), encoding="utf-8")
    with pytest.raises(Exception, match=message) as error:
        read_bug(path)
    assert "a_bug.md" in str(error.value)

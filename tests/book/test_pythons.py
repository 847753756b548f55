"""The supported Pythons are listed in pyproject.toml, and whatever runs the tests runs them on these."""

import os
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CLASSIFIER = "Programming Language :: Python :: "
PYTHONS = [text.removeprefix(CLASSIFIER) for text in PROJECT["classifiers"] if text.startswith(CLASSIFIER)]


def make(*arguments):
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "--silent", "--no-print-directory", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=outside, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_the_oldest_supported_python_is_the_one_required():
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_public_ci_runs_on_every_supported_python():
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == PYTHONS


def test_make_pythons_tries_every_supported_python():
    lines = "\n".join(make("--dry-run", "pythons"))
    assert all(f"Python {version}: skipped" in lines for version in PYTHONS)


def test_a_python_that_is_not_installed_is_skipped_with_a_line_that_says_so():
    assert make("pythons", "PYTHONS=3.99") == ["Python 3.99: skipped, not installed"]

"""Run tests in a copy of the repository with or without a bug, in processes that start quickly.

One process imports what takes long, but nothing of glassformer; each run is a fork of it.
"""

import gc
import io
import multiprocessing
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

TAKES_LONG = (
    *("hypothesis", "jaxtyping", "numpy.testing", "pytest", "requests", "sacrebleu", "sacremoses"),
    *("safetensors.torch", "tokenizers", "torch", "torch._dynamo", "torch.distributed", "torch.testing"),
)
NOT_NEEDED = (
    *("anyio", "base_url", "cacheprovider", "nbval", "playwright", "xdist"),
    *("threadexception", "unraisableexception"),  # they search all memory for leaks
)
# Shapes are not checked: to put the checks into every function takes longer than most of these tests.
OPTIONS = ["-o", "addopts=--import-mode=importlib", "-q", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
OPTIONS += [f"-pno:{plugin}" for plugin in NOT_NEEDED]


class Outcomes:
    """Ids of the failed and the passed tests, relative to ``tests`` and without parameters."""

    def __init__(self) -> None:
        self.failed: set[str] = set()
        self.passed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of a test (a hook of pytest)."""
        name = _name(report.nodeid)
        if report.failed:
            self.failed.add(name)
        elif report.when == "call" and report.passed:
            self.passed.add(name)


class FirstCases:
    """Run only the first case of each test."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Deselect the other cases (a hook of pytest)."""
        items[:] = {_name(item.nodeid): item for item in reversed(items)}.values()


def run_tests(root: Path, tests: list[str], *, first_cases: bool = False) -> tuple[Outcomes, str]:
    """Run tests of a copy until the first failure; return the outcomes and pytest's output."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(TAKES_LONG))
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run_in_fork, args=(root, tests, first_cases, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        process.join()


def _run_in_fork(root: Path, tests: list[str], first_cases: bool, answer: Connection) -> None:
    gc.freeze()  # exclude everything imported so far from garbage collection
    os.chdir(root)
    sys.path.insert(0, str(root / "src"))
    outcomes, printed = Outcomes(), io.StringIO()
    plugins = [outcomes, FirstCases()] if first_cases else [outcomes]
    with redirect_stdout(printed), redirect_stderr(printed):
        pytest.main([*OPTIONS, "-x", *(f"tests/{test}" for test in tests)], plugins=plugins)
    answer.send((outcomes, printed.getvalue()))


def _name(node_id: str) -> str:
    return node_id.split("[")[0].removeprefix("tests/")

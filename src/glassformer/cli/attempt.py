"""Run a learner's file statement by statement, so that an error in one answer does not hide earlier ones."""

import ast
import contextlib
import sys
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.checking.slips import Slip
from glassformer.cli.lines import readable


class Attempt(NamedTuple):
    """Names defined by a file.

    Attributes:
        names: value of each name.
        error: line and reason of the error that stopped the file; empty if it ran to the end.
    """

    names: dict[str, Any]
    error: str


def run_attempt(path: Path) -> Attempt:
    """Run a learner's file, ignoring the checks that it calls itself, with its output on standard error.

    Raises:
        ValueError: the file is not valid Python.
        OSError: the file cannot be read.
        KeyboardInterrupt: the file was interrupted.
    """
    try:
        with readable(path):
            source = path.read_text(encoding="utf-8")
        statements = ast.parse(source, str(path)).body
    except SyntaxError as error:
        raise ValueError(f"{path} is not valid Python: line {error.lineno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not valid UTF-8: {error}") from error
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    sys.path.insert(0, str(path.parent))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return Attempt(names, _run(statements, path, names))
    finally:
        sys.path.remove(str(path.parent))


def _run(statements: list[ast.stmt], path: Path, names: dict[str, Any]) -> str:
    for statement in statements:
        code = compile(ast.Module([statement], type_ignores=[]), str(path), "exec")
        line = f"{path}, line {statement.lineno}"
        try:
            exec(code, names)
        except Slip:
            continue  # the file itself calls a check; the verdicts below will report it
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{line} was running: is there an endless loop?") from None
        except (Exception, SystemExit) as error:
            return f"{line} raised {type(error).__name__}: {error}. The lines after it were not run"
    return ""

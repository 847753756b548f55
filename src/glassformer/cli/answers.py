"""A learner's file of answers: run statement by statement, so that one that fails hides no earlier one."""

import ast
import contextlib
import sys
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.checking.slips import Slip


class Answers(NamedTuple):
    """What a file defines.

    Attributes:
        found: what each name stands for.
        fault: at which line it stopped, and why; nothing if it ran to its end.
    """

    found: dict[str, Any]
    fault: str


def read_answers(path: Path) -> Answers:
    """Run a file of answers, without the checks that it calls itself, and what it prints to standard error.

    Raises:
        ValueError: it is no Python.
        OSError: it cannot be read.
        KeyboardInterrupt: it was interrupted.
    """
    try:
        source = path.read_text(encoding="utf-8")
        statements = ast.parse(source, str(path)).body
    except SyntaxError as error:
        raise ValueError(f"{path} is no Python: line {error.lineno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no UTF-8: {error}") from error
    found: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    sys.path.insert(0, str(path.parent))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return Answers(found, _run(statements, path, found))
    finally:
        sys.path.remove(str(path.parent))


def _run(statements: list[ast.stmt], path: Path, found: dict[str, Any]) -> str:
    for statement in statements:
        code = compile(ast.Module([statement], type_ignores=[]), str(path), "exec")
        place = f"{path}, line {statement.lineno}"
        try:
            exec(code, found)
        except Slip:
            continue  # the file calls a check itself; whoever reads it will be told
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{place} was running: does a loop in it never end?") from None
        except (Exception, SystemExit) as error:
            return f"{place}, stopped with {type(error).__name__}: {error}. What stands below it was not read"
    return ""

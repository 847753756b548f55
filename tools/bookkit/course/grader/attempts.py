"""Query a learner's notebook in another process; answers come back as plain data.

The judge never runs the learner's code. Whatever that code changes (the checks, the package, Python itself),
it changes in a process that is discarded. Only numbers, arrays and strings come back, never other objects.
"""

import io
import linecache
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.serialization import safe_globals

from glassformer.checking import is_template

from .isolation import Limits, StoppedError, run_in_child
from .statements import read_statements

Question = Callable[[dict[str, Any]], dict[str, Any]]

_PLAIN = [
    complex,
    frozenset,
    range,
    np.ndarray,
    np.dtype,
    np._core.multiarray._reconstruct,  # type: ignore[attr-defined]
    np._core.multiarray.scalar,  # type: ignore[attr-defined]
    *{type(np.dtype(code)) for code in "?bhilqBHILQefdgFDGSU"},
]


class Notebook:
    """The cells of a submission, run again in a new process for each question.

    Attributes:
        stopped: reason why a question got no answer; after that no further question is asked.
    """

    def __init__(self, cells: Sequence[str], limits: Limits, seconds: float) -> None:
        self.stopped: str | None = None
        self._cells = cells
        self._limits = limits
        self._ends = time.monotonic() + seconds

    def answer(self, name: str) -> Any:
        """Return the value of a name, or a function that calls the learner's function.

        Raises:
            StoppedError: there is no answer, or a cell fails.
        """
        told = self._ask(lambda namespace: _tell(namespace, name))
        if "error" in told:
            raise StoppedError(f"the cells stop with {told['error']}: {told['text']}")
        if told["missing"]:
            raise StoppedError(f"{name} is not defined: was the cell deleted, or the name changed?")
        return self._function(name) if told["callable"] else told["answer"]

    def _function(self, name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            told = self._ask(lambda namespace: _call(namespace[name], args))
            if "error" in told:
                raise _error(told["error"], told["text"])
            for given, after in zip(args, told["after"], strict=True):
                _take_over(given, after)
            return told["answer"] if told["begun"] else ...

        return call

    def _ask(self, question: Question) -> dict[str, Any]:
        left = self._ends - time.monotonic()
        limits = replace(self._limits, seconds=min(self._limits.seconds, left))
        try:
            if self.stopped:
                raise StoppedError(self.stopped)
            if left <= 0:
                raise StoppedError("stopped: the time for this exercise is used up")
            return _read(run_in_child(lambda: self._run(question), limits))
        except StoppedError as stopped:
            self.stopped = str(stopped)
            raise

    def _run(self, question: Question) -> bytes:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        try:
            for number, cell in enumerate(self._cells):
                code = "\n".join(statement.source for statement in read_statements(cell))
                linecache.cache[f"<cell {number}>"] = (len(code), None, code.splitlines(keepends=True), "")
                exec(compile(code, f"<cell {number}>", "exec"), namespace)
            told = question(namespace)
        except BaseException as error:
            told = {"error": type(error).__name__[:100], "text": self._words(error)[:1000]}
        return _write(told)

    def _words(self, error: BaseException) -> str:
        """Describe an error and the learner's line that raised it."""
        limit = f"the limit is {self._limits.memory} MiB"
        empty = limit if isinstance(error, MemoryError) else "no reason given"
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.line for frame in frames if frame.filename.startswith("<cell")]
        return (str(error) or empty) + (f", in the line `{lines[-1]}`" if lines and lines[-1] else "")


def _tell(namespace: dict[str, Any], name: str) -> dict[str, Any]:
    value = namespace.get(name)
    kept = None if callable(value) or value is ... else value
    return {"missing": name not in namespace, "callable": callable(value), "answer": kept}


def _call(function: Callable[..., Any], args: tuple) -> dict[str, Any]:
    answer = function(*args)
    begun = answer is not ... and not (answer is None and is_template(function))
    return {"answer": answer if begun else None, "begun": begun, "after": [_state(given) for given in args]}


def _error(name: str, text: str) -> Exception:
    """Recreate the error without a traceback: the line that raises it here is not the learner's."""
    base = NotImplementedError if name == "NotImplementedError" else Exception
    return type(name, (base,), {"__traceback__": None})(text)


def _state(given: Any) -> Any:
    """Return the content of an argument, so that in-place changes reach the judge."""
    if isinstance(given, torch.nn.Module):
        return {"state": given.state_dict(), "modes": [part.training for part in given.modules()]}
    return given if isinstance(given, np.ndarray | torch.Tensor | list | dict) else None


def _take_over(given: Any, after: Any) -> None:
    if isinstance(given, torch.nn.Module):
        given.load_state_dict(after["state"])
        for part, mode in zip(given.modules(), after["modes"], strict=True):
            part.training = mode
    elif isinstance(given, torch.Tensor):
        given.data = after.data
    elif isinstance(given, np.ndarray | list):
        given[:] = after
    elif isinstance(given, dict):
        given.clear()
        given.update(after)


def _write(told: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    try:
        torch.save(told, buffer)
    except BaseException:
        return b"an answer that cannot be serialised"
    return buffer.getvalue()


def _read(told: bytes) -> dict[str, Any]:
    """Deserialise an answer without running code from it.

    Raises:
        StoppedError: the answer is not plain data.
    """
    try:
        with safe_globals(_PLAIN):
            return dict(torch.load(io.BytesIO(told), weights_only=True))
    except Exception as error:
        raise StoppedError("the answer must be made of numbers, arrays and strings only") from error

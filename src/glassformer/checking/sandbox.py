"""Run a learner's function under supervision: it must return in time and leave its arguments unchanged."""

import dis
import functools
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from glassformer.checking.slips import NotStartedError, Slip, Stopped
from glassformer.checking.timeout import time_limit

Convert = Callable[[Any], Any]


def argument_conversions() -> Iterator[Convert]:
    """Yield conversions to try on every argument: unchanged, float64 tensors, float32 tensors."""
    yield lambda argument: argument
    if "torch" in sys.modules:  # otherwise the learner cannot have used it
        import torch

        for dtype in (torch.float64, torch.float32):
            yield functools.partial(_to_tensor, dtype=dtype)


def sandboxed(attempt: Callable[..., Any], convert: Convert) -> Callable[..., Any]:
    """Wrap a learner's function so that errors, time-outs and changed arguments raise `Slip`."""

    @functools.wraps(attempt)
    def run(*args: Any) -> Any:
        args = tuple(map(convert, args))
        before = [_copied(arg) for arg in args]
        with time_limit():
            try:
                answer = attempt(*args)
            except NotImplementedError:
                raise NotStartedError from None
            except (Exception, SystemExit) as error:
                raise Stopped(f"your function stopped with {_describe(error)}") from error
        if answer is ... or (answer is None and is_template(attempt)):
            raise NotStartedError
        if answer is None:
            raise Slip("your function returns nothing: does it end with `return`?")
        if not all(map(_unchanged, before, args)):
            raise Slip("your function changes its input, which the caller still needs: work on a copy")
        return answer

    return run


def is_template(attempt: Callable[..., Any]) -> bool:
    """Return True for a function whose body is still empty."""
    code = getattr(attempt, "__code__", None)
    trivial = ("RESUME", "NOP", "LOAD_CONST", "RETURN")
    return code is not None and all(
        instruction.opname.startswith(trivial) for instruction in dis.get_instructions(code)
    )


def _describe(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    line = frames[1].line if len(frames) > 1 else ""
    return f"{type(error).__name__}: {error}" + (f", in the line `{line}`" if line else "")


def _to_tensor(argument: Any, dtype: Any) -> Any:
    import torch

    if isinstance(argument, np.ndarray):
        tensor = torch.tensor(argument)
        return tensor.to(dtype) if tensor.is_floating_point() else tensor
    if isinstance(argument, FunctionType):
        return lambda *args: _to_tensor(argument(*map(_to_array, args)), dtype)
    return argument


def _to_array(argument: Any) -> Any:
    return argument.detach().numpy() if hasattr(argument, "detach") else argument


def _copied(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return argument.copy()
    if hasattr(argument, "detach"):
        return argument.detach().clone()
    if isinstance(argument, list | tuple):
        return [_copied(entry) for entry in argument]
    return argument


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, list):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    if before is after:
        return True
    before, after = np.asarray(_to_array(before)), np.asarray(_to_array(after))
    return bool(np.array_equal(before, after, equal_nan=before.dtype.kind in "fc"))

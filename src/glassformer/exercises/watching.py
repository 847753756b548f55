"""A learner's function is watched: whether it runs, comes back, and leaves its arguments alone."""

import dis
import functools
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from glassformer.exercises.patience import patience
from glassformer.exercises.slips import NotBegunError, Slip, Stopped

Retell = Callable[[Any], Any]


def retellings() -> Iterator[Retell]:
    """Yield the ways to hand over an argument: as it is, then as tensors of float64 and of float32."""
    yield lambda argument: argument
    if "torch" in sys.modules:  # otherwise no function can have been written with it
        import torch

        for dtype in (torch.float64, torch.float32):
            yield functools.partial(_as_tensor, dtype=dtype)


def watched(attempt: Callable[..., Any], retell: Retell) -> Callable[..., Any]:
    """Wrap a learner's function so that what goes wrong while it runs is told as a slip."""

    @functools.wraps(attempt)
    def run(*args: Any) -> Any:
        args = tuple(map(retell, args))
        before = [_copied(arg) for arg in args]
        with patience():
            try:
                answer = attempt(*args)
            except NotImplementedError:
                raise NotBegunError from None
            except (Exception, SystemExit) as error:
                raise Stopped(f"your function stopped with {_tell(error)}") from error
        if answer is ... or (answer is None and is_unwritten(attempt)):
            raise NotBegunError
        if answer is None:
            raise Slip("your function gives back nothing: does it end with `return`?")
        if not all(map(_same, before, args)):
            raise Slip("your function changed its input: work on a copy, the caller still needs the original")
        return answer

    return run


def _tell(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    line = frames[1].line if len(frames) > 1 else ""
    return f"{type(error).__name__}: {error}" + (f", in the line `{line}`" if line else "")


def is_unwritten(attempt: Callable[..., Any]) -> bool:
    """Say whether a function holds nothing but what it was handed out with."""
    code = getattr(attempt, "__code__", None)
    trivial = ("RESUME", "NOP", "LOAD_CONST", "RETURN")
    return code is not None and all(
        instruction.opname.startswith(trivial) for instruction in dis.get_instructions(code)
    )


def _as_tensor(argument: Any, dtype: Any) -> Any:
    import torch

    if isinstance(argument, np.ndarray):
        tensor = torch.tensor(argument)
        return tensor.to(dtype) if tensor.is_floating_point() else tensor
    if isinstance(argument, FunctionType):
        return lambda *given: _as_tensor(argument(*map(_as_array, given)), dtype)
    return argument


def _as_array(argument: Any) -> Any:
    return argument.detach().numpy() if hasattr(argument, "detach") else argument


def _copied(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return argument.copy()
    if hasattr(argument, "detach"):
        return argument.detach().clone()
    if isinstance(argument, list | tuple):
        return [_copied(entry) for entry in argument]
    return argument


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, list):
        return len(before) == len(after) and all(map(_same, before, after))
    if before is after:
        return True
    before, after = np.asarray(_as_array(before)), np.asarray(_as_array(after))
    return bool(np.array_equal(before, after, equal_nan=before.dtype.kind in "fc"))

"""A learner's function is waited for, but not without end."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from glassformer.exercises.slips import Slip

LONGEST = 30.0  # seconds


class _TimeIsUp(BaseException):
    """No Exception, so that a function which goes on after every error ends, too."""


@contextmanager
def patience() -> Iterator[None]:
    """Interrupt what takes too long; where nothing rings (on Windows, or in a thread), wait for it.

    Raises:
        Slip: it took longer than `LONGEST`.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    except _TimeIsUp:
        message = f"your function had not come back after {LONGEST:g} seconds: does every loop in it end?"
        raise Slip(message) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(signum: int, frame: FrameType | None) -> None:
    raise _TimeIsUp

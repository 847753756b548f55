"""Time limit for running a learner's function."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from glassformer.checking.slips import Slip

SECONDS = 30.0


class _TimeoutSignal(BaseException):
    """Not an Exception, so a function that catches every Exception is interrupted too."""


@contextmanager
def time_limit() -> Iterator[None]:
    """Interrupt the body after `SECONDS`; without timer signals (Windows, other threads) there is no limit.

    Raises:
        Slip: the time is up.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    previous_handler = signal.signal(signal.SIGALRM, _raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    except _TimeoutSignal:
        message = f"your function was still running after {SECONDS:g} seconds: does every loop in it end?"
        raise Slip(message) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)


def _raise_timeout(signum: int, frame: FrameType | None) -> None:
    raise _TimeoutSignal

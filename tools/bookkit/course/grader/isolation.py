"""Run untrusted code in a child process with limits on time, memory and files."""

import ctypes
import functools
import os
import pwd
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MIB = 2**20
SCRATCH = "GRADER_SCRATCH"  # variable with the folders that answers may write to, in a container


@dataclass(frozen=True)
class Limits:
    """Limits of one run: time in seconds, everything else in MiB; memory counts from the start of the run."""

    seconds: float = 10
    memory: int = 1024
    file_size: int = 1
    answer: int = 16


class StoppedError(Exception):
    """A run was stopped, or ended without an answer."""


def run_in_child(run: Callable[[], bytes], limits: Limits) -> bytes:
    """Run a function in a child process and return its result.

    If possible, the child runs as the user nobody: it cannot read the course, change
    our files, or stop or start processes. Otherwise it has our rights, and only a container can protect us.

    Raises:
        StoppedError: there is no answer; the message gives the reason.
    """
    runs_as_nobody()  # cached before the fork
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _be_the_child(run, writing, limits)
    os.close(writing)
    try:
        answer, reason = _read(reading, limits), None
        if not answer:
            time.sleep(0.1)  # give it time to end by itself
    except StoppedError as stopped:
        answer, reason = b"", stopped
    finally:
        os.close(reading)
        _kill(child)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if reason:
        raise reason
    if not answer:
        raise StoppedError(_how_it_ended(status))
    return answer


@functools.cache
def runs_as_nobody() -> bool:
    """Return True if children can run as nobody and nobody can read Python's files."""
    if os.geteuid() != 0:
        return False
    child = os.fork()
    if not child:
        try:
            _become_nobody()
            os._exit(not os.access(os.__file__, os.R_OK))
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def hide_memory() -> None:
    """Hide this process's memory and files from other processes of the same user (Linux)."""
    _prctl(4, 0)  # PR_SET_DUMPABLE


def clean_scratch() -> None:
    """Delete files of the user nobody from the scratch folders of the container."""
    if folders := os.environ.get(SCRATCH):
        command = ["find", *folders.split(os.pathsep), "-mindepth", "1", "-user", "nobody", "-delete"]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def limit_memory(mebibytes: int) -> None:
    """Limit this process to so much more memory than it uses now (Linux)."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        now = int(pages.read_text().split()[0]) * resource.getpagesize()
        _lower(resource.RLIMIT_AS, now + mebibytes * MIB)


def _be_the_child(run: Callable[[], bytes], writing: int, limits: Limits) -> None:
    try:
        os.setsid()
        os.dup2(writing, 3)
        os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.close(nothing)
        sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (it ends with the process)
        os.chdir("/")
        _limit(limits)
        with os.fdopen(3, "wb") as pipe:
            pipe.write(run())
    finally:
        os._exit(0)


def _limit(limits: Limits) -> None:
    limit_memory(limits.memory)
    _lower(resource.RLIMIT_CPU, int(limits.seconds) + 1)
    _lower(resource.RLIMIT_FSIZE, limits.file_size * MIB)
    _lower(resource.RLIMIT_CORE, 0)
    if runs_as_nobody():
        _become_nobody()
    _lower(resource.RLIMIT_NPROC, 0)
    _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the child ends with the judge


def _become_nobody() -> None:
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _lower(kind: int, wanted: int) -> None:
    highest = resource.getrlimit(kind)[1]
    wanted = wanted if highest == resource.RLIM_INFINITY else min(wanted, highest)
    resource.setrlimit(kind, (wanted, wanted))


def _read(reading: int, limits: Limits) -> bytes:
    answer, deadline = bytearray(), time.monotonic() + limits.seconds
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            raise StoppedError(f"stopped: no answer within {limits.seconds:g} seconds")
        part = os.read(reading, MIB)
        if not part:
            return bytes(answer)
        answer += part
        if len(answer) > limits.answer * MIB:
            raise StoppedError(f"stopped: the answer is larger than {limits.answer} MiB")


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return "the cells ended Python before returning an answer"
    crashes = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)
    if -status in crashes:
        return "the cells crashed Python, so there is no answer"
    return "Python was killed before returning an answer, perhaps because memory ran out"

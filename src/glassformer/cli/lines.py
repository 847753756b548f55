"""Lines that come in and go out: as soon as they are there, and none lost."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable

from glassformer.files import atomic_write

_BLOCK = 64  # lines: enough to fill a batch, and few enough that the first are soon passed on
_CHUNK = 1 << 16  # bytes


class Line(NamedTuple):
    """A line of text.

    Attributes:
        number: its place, counted from 1.
        text: what stands in it, without its end.
        fault: why it is no text, or nothing.
    """

    number: int
    text: str
    fault: str = ""


@runtime_checkable
class Readable(Protocol):
    """What gives the bytes that have come, and waits only where there are none."""

    def read1(self, size: int = ..., /) -> bytes: ...


def read_blocks(source: Readable) -> Iterator[list[Line]]:
    """Yield the lines that have come, as soon as some have, until there are no more."""
    number = 0
    for rows in _split(source):
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            yield _number(block, after=number)
            number += len(block)


def read_file(path: Path) -> Iterator[list[Line]]:
    """Yield the lines of a file in blocks.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        yield from read_blocks(file)


def read_arguments(arguments: Iterable[str]) -> list[Line]:
    """Take each argument for a line; one that the shell did not pass as UTF-8 has a fault."""
    rows = [os.fsencode(argument).replace(b"\n", b" ") for argument in arguments]
    return _number(rows, after=0)


@contextmanager
def open_sink(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file that appears when it is complete, or what the program prints to.

    Raises:
        ValueError: the path is a folder or a device.
        OSError: the file cannot be written. What stood there before still does.
    """
    if path is None:
        yield sys.stdout.buffer
        return
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise ValueError(f"output must be a file, got {path}, which is something else")
    with atomic_write(path) as part, part.open("wb") as file:
        yield file


def _split(source: Readable) -> Iterator[Sequence[bytes]]:
    rest = b""
    while chunk := source.read1(_CHUNK):
        *rows, rest = (rest + chunk).split(b"\n")
        yield rows
    if rest:
        yield [rest]


def _number(rows: Sequence[bytes], *, after: int) -> list[Line]:
    return [_decode(number, row) for number, row in enumerate(rows, start=after + 1)]


def _decode(number: int, row: bytes) -> Line:
    try:
        text = row.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        return Line(number, "", f"is no UTF-8: byte {row[error.start]:#04x} at place {error.start + 1}")
    return Line(number, text)

"""Stream lines in and out: each line is passed on as soon as it arrives, and none is lost."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, NamedTuple

from glassformer.files import atomic_write

_BLOCK = 64  # lines: enough to fill a batch, but few enough to pass the first ones on soon
_CHUNK = 1 << 16  # bytes


class Line(NamedTuple):
    """A line of text.

    Attributes:
        number: line number, from 1.
        text: content without the line break.
        error: reason why the line is not text; empty if it is.
    """

    number: int
    text: str
    error: str = ""


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Let errors of the block that opens or reads a file say so in plain words."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"cannot read '{path}': no such file") from None
    except OSError as error:
        raise OSError(f"cannot read '{path}': {(error.strerror or str(error)).lower()}") from error


def read_blocks(source: BufferedIOBase) -> Iterator[list[Line]]:
    """Yield blocks of lines as they arrive."""
    number = 0
    for rows in _split(source):
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            yield _number(block, after=number)
            number += len(block)


def read_file(path: Path) -> Iterator[list[Line]]:
    """Yield the lines of a file in blocks.

    Raises:
        OSError: the file cannot be read.
    """
    with readable(path):
        file = path.open("rb")
    with file:
        yield from read_blocks(file)


def read_arguments(arguments: Iterable[str]) -> list[Line]:
    """Return each command-line argument as a line; a line that is not valid UTF-8 has an error."""
    rows = [os.fsencode(argument).replace(b"\n", b" ") for argument in arguments]
    return _number(rows, after=0)


@contextmanager
def open_sink(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file that is written atomically, or standard output if there is no path.

    Raises:
        ValueError: the path is a folder or a device.
        OSError: the file cannot be written; an existing file keeps its content.
    """
    if path is None:
        yield sys.stdout.buffer
        return
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise ValueError(f"output must be a regular file, got {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write '{path}': no such folder as '{path.parent}'")
    with atomic_write(path) as part, part.open("wb") as file:
        yield file


def _split(source: BufferedIOBase) -> Iterator[Sequence[bytes]]:
    rest = b""
    while chunk := source.read1(_CHUNK):  # waits only if no byte has arrived
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
        reason = f"is not valid UTF-8: byte {row[error.start]:#04x} at position {error.start + 1}"
        return Line(number, "", reason)
    return Line(number, text)

"""Atomic writes: a file or folder holds its old content or its new content, never half of either."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path for a file or a folder, and move it to ``path`` once the block succeeds.

    If the block fails, ``path`` keeps its content. A symbolic link is followed, not replaced.

    Args:
        path: file or folder to create or replace; its parent folder must exist.

    Raises:
        OSError: ``path`` cannot be written.
    """
    path = Path(path).resolve()
    with _stage(path.parent) as stage:
        yield stage / path.name
        _flush(stage, path.parent)
        if path.is_dir():
            shutil.rmtree(path)
        (stage / path.name).replace(path)


@contextmanager
def atomic_update(folder: Path, *, last: str) -> Iterator[Path]:
    """Yield a temporary folder, and move its files into ``folder`` once the block succeeds.

    If the block fails, ``folder`` keeps its content. The file named ``last`` is removed first and moved last:
    a process killed in between leaves a folder without it, never old files beside new ones that look whole.

    Args:
        folder: existing folder to update; its other files are left alone.
        last: name of the file without which the folder is incomplete.

    Raises:
        OSError: ``folder`` cannot be written.
    """
    with _stage(folder) as stage:
        yield stage
        _flush(stage, folder)
        names = sorted((path.name for path in stage.iterdir()), key=last.__eq__)
        if last in names:
            (folder / last).unlink(missing_ok=True)
        for name in names:
            (stage / name).replace(folder / name)


@contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    stage = Path(tempfile.mkdtemp(prefix=".part-", dir=folder))
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _flush(stage: Path, folder: Path) -> None:
    """Force files to disk, each with the permissions of the file it replaces, or of any new file."""
    files = [path for path in stage.rglob("*") if path.is_file()]
    new = stage / ".new"
    new.touch()
    for file in files:
        with file.open("rb+") as opened:  # Windows flushes only files that are open for writing
            os.fsync(opened.fileno())
        old = folder / file.relative_to(stage)
        # safetensors lets nobody but the owner read what it writes.
        shutil.copymode(old if old.is_file() else new, file)
    new.unlink()

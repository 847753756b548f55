import os
import stat
import subprocess
import sys

import pytest

from glassformer.files import atomic_update, atomic_write


def crash_after(_):
    raise KeyboardInterrupt


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def update(folder, *names):
    with atomic_update(folder, last=names[0]) as stage:
        for name in names:
            (stage / name).write_text("new")


def write(path, text):
    with atomic_write(path) as part:
        part.write_text(text)


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as part:
        part.write_text("new")
        assert not path.exists()
    assert contents(tmp_path) == {"file": "new"}


def test_a_crash_in_the_middle_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as part:
        crash_after(part.write_text("ne"))
    assert contents(tmp_path) == {"file": "old"}


def test_a_killed_process_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    script = f"""
import os
from glassformer.files import atomic_write
with atomic_write({str(path)!r}) as part:
    part.write_text("ne")
    os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", script]).returncode == 9
    assert path.read_text() == "old"


@pytest.mark.parametrize("fault", ["os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, fault):
    def full(*_):
        raise OSError(28, "No space left on device")

    write(tmp_path / "file", "old")
    monkeypatch.setattr(fault, full)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path / "file", "new")
    assert contents(tmp_path) == {"file": "old"}


def test_every_file_is_on_disk_before_the_first_is_moved(tmp_path, monkeypatch):
    moved_before_flush = []
    monkeypatch.setattr(os, "fsync", lambda _: moved_before_flush.append(list(tmp_path.glob("[abc]"))))
    update(tmp_path, "b", "a", "c")
    assert moved_before_flush == [[], [], []]


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    place = tmp_path / "place"
    for name in ("old", "new"):
        with atomic_write(place) as part:
            part.mkdir()
            (part / name).write_text(name)
    assert contents(place) == {"new": "new"}


def test_a_crash_in_the_middle_leaves_the_old_folder_whole(tmp_path):
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "old").write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "place") as part:
        crash_after(part.mkdir())
    assert contents(tmp_path / "place") == {"old": "old"}


def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions")
def test_a_replaced_file_keeps_its_permissions_and_a_new_one_gets_the_usual_ones(tmp_path):
    def permissions(name):
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    (tmp_path / "usual").touch()
    (tmp_path / "private").touch(mode=0o600)
    write(tmp_path / "private", "new")
    with atomic_write(tmp_path / "new") as part:
        part.touch(mode=0o600)  # as safetensors does
    assert permissions("private") == 0o600
    assert permissions("new") == permissions("usual")


def test_an_update_leaves_other_files_alone(tmp_path):
    for name in ("log", "model"):
        (tmp_path / name).write_text("old")
    with atomic_update(tmp_path, last="model") as stage:
        (stage / "model").write_text("new")
        assert contents(stage) == {"model": "new"}
    assert contents(tmp_path) == {"log": "old", "model": "new"}


def test_an_update_that_is_killed_between_two_files_leaves_no_mixture(tmp_path, monkeypatch):
    for name in ("description", "weights"):
        (tmp_path / name).write_text("old")

    monkeypatch.setattr("pathlib.Path.replace", lambda *_: crash_after(None))
    with pytest.raises(KeyboardInterrupt):
        update(tmp_path, "description", "weights")
    assert contents(tmp_path) == {"weights": "old"}


def test_an_update_moves_the_last_file_last(tmp_path, monkeypatch):
    moved = []
    monkeypatch.setattr("pathlib.Path.replace", lambda path, _: moved.append(path.name))
    update(tmp_path, "b", "a", "c")
    assert moved[-1] == "b"

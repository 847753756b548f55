import contextlib
import gzip
import hashlib
import http.server
import io
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile

import pytest

from glassformer.data.downloads import DataFileError, PinnedFile, read_pinned

TEXT = "".join(f"{n} bottles\t{n} bouteilles\n" for n in range(7919))
CONTENT = TEXT.encode()
NAME, HALF = "songs.txt", len(CONTENT) // 2


class Mirror(http.server.BaseHTTPRequestHandler):
    """A server whose addresses say how it behaves: /whole, /cut, /cut-twice, /no-range, /hang."""

    contents: dict[str, bytes]
    requests: list[tuple[str, str | None]]

    def do_GET(self):
        how, _, name = self.path.strip("/").partition("/")
        wanted = None if how == "no-range" else self.headers["Range"]
        self.requests.append((how, self.headers["Range"]))
        content = self.contents.get(name)
        if content is None:
            return self.send_error(404)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if start >= len(content):
            return self.send_error(416)
        rest = content[start:]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        times = [asked for asked, _ in self.requests].count(how)
        if how in ("cut", "hang", "no-range") and times == 1:
            rest = rest[:HALF]
        if how == "cut-twice":
            rest = [rest[:HALF], b"", rest][min(times, 3) - 1]
        with contextlib.suppress(ConnectionError):
            self.wfile.write(rest)
            self.wfile.flush()
            if how == "hang" and times == 1:
                time.sleep(20)
        return None

    def log_message(self, *_):
        """Keep the test's output clean."""


@pytest.fixture
def mirror():
    handler = type("ThisMirror", (Mirror,), {"contents": {NAME: CONTENT}, "requests": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    handler.address = f"http://127.0.0.1:{server.server_port}"
    yield handler
    server.shutdown()
    server.server_close()


@pytest.fixture
def nobody():
    """An address at which no server listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    return f"http://127.0.0.1:{port}/{NAME}"


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch):
    monkeypatch.delenv("GLASSFORMER_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def pinned(*mirrors):
    return PinnedFile(f"music/{NAME}", hashlib.sha256(CONTENT).hexdigest(), mirrors)


def read(file, **places):
    return read_pinned([file], **places)[NAME]


def files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def zipped(name):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("about.txt", "a song")
        file.writestr(name, CONTENT)
    return archive.getvalue()


PACKED = {
    "plain": CONTENT,
    "gzip": gzip.compress(CONTENT),
    "zip": zipped(NAME),
    "zip with a folder": zipped(f"songs/{NAME}"),
}


@pytest.mark.parametrize("kind", PACKED)
def test_a_file_is_downloaded_once_and_read_from_the_cache_afterwards(mirror, cache, kind):
    mirror.contents[NAME] = PACKED[kind]
    file = pinned(f"{mirror.address}/whole/{NAME}")
    assert read(file, cache=cache) == TEXT
    assert read(file, cache=cache) == TEXT
    assert len(mirror.requests) == 1
    assert files_in(cache) == [f"music/{NAME}"]
    assert (cache / "music" / NAME).read_bytes() == CONTENT


def addresses_that_fail(mirror, nobody):
    mirror.contents |= {"other": b"other bytes", "damaged": PACKED["gzip"][:997]}
    mirror.contents |= {"without": zipped("else.txt"), "empty": b""}
    names = ("absent", "other", "damaged", "without", "empty")
    return [nobody, *(f"{mirror.address}/whole/{name}" for name in names)]


def test_a_mirror_that_fails_is_followed_by_the_next(mirror, cache, nobody):
    failing = addresses_that_fail(mirror, nobody)
    assert read(pinned(*failing, f"{mirror.address}/whole/{NAME}"), cache=cache) == TEXT
    assert len(mirror.requests) == 6
    assert files_in(cache) == [f"music/{NAME}"]


def test_when_every_mirror_fails_the_error_says_how_and_what_to_do_and_no_file_is_left(mirror, cache, nobody):
    failing = addresses_that_fail(mirror, nobody)
    with pytest.raises(DataFileError, match=r"songs.txt could not be downloaded") as error:
        read(pinned(*failing), cache=cache)
    _, *tried = str(error.value).splitlines()
    causes = ["no connection", "404", "does not match", "cut short", "an archive without it", "416"]
    for line, address, cause in zip(tried, failing, causes, strict=True):
        assert address in line
        assert cause in line
    assert "GLASSFORMER_DATA" in str(error.value)
    assert files_in(cache) == []


def test_a_download_that_is_cut_goes_on_where_it_stopped(mirror, cache):
    assert read(pinned(f"{mirror.address}/cut/{NAME}"), cache=cache) == TEXT
    _, (_, wanted) = mirror.requests
    assert 0.9 * HALF < int(wanted.removeprefix("bytes=").removesuffix("-")) <= HALF


def test_a_server_that_knows_no_ranges_is_asked_for_the_whole_again(mirror, cache):
    assert read(pinned(f"{mirror.address}/no-range/{NAME}"), cache=cache) == TEXT
    assert len(mirror.requests) == 2


def test_a_later_run_goes_on_where_an_earlier_one_was_cut(mirror, cache):
    file = pinned(f"{mirror.address}/cut-twice/{NAME}")
    with pytest.raises(DataFileError, match=r"the connection was cut"):
        read(file, cache=cache)
    (part,) = files_in(cache)
    received = (cache / part).read_bytes()
    assert part.endswith(".part")
    assert 0.9 * HALF < len(received) <= HALF
    assert received == CONTENT[: len(received)]
    assert read(file, cache=cache) == TEXT
    assert mirror.requests[-1] == ("cut-twice", f"bytes={len(received)}-")
    assert files_in(cache) == [f"music/{NAME}"]


def test_a_part_of_another_file_is_found_out_and_dropped(mirror, cache):
    file = pinned(f"{mirror.address}/cut-twice/{NAME}")
    mirror.contents[NAME] = b"x" * len(CONTENT)
    with pytest.raises(DataFileError, match=r"the connection was cut"):
        read(file, cache=cache)
    mirror.contents[NAME] = CONTENT
    with pytest.raises(DataFileError, match=r"does not match the known hash"):
        read(file, cache=cache)
    assert files_in(cache) == []
    assert read(file, cache=cache) == TEXT


def test_a_part_longer_than_the_file_is_dropped(mirror, cache):
    short = CONTENT[:997]
    address = f"{mirror.address}/cut-twice/{NAME}"
    file = PinnedFile(f"music/{NAME}", hashlib.sha256(short).hexdigest(), (address,))
    with pytest.raises(DataFileError, match=r"the connection was cut"):
        read(file, cache=cache)
    mirror.contents[NAME] = short
    assert read(file, cache=cache) == short.decode()
    assert mirror.requests[-1] == ("cut-twice", None)


def test_what_a_failing_mirror_left_goes_when_another_brings_the_file(mirror, cache):
    mirrors = [f"{mirror.address}/{how}/{NAME}" for how in ("cut-twice", "whole")]
    assert read(pinned(*mirrors), cache=cache) == TEXT
    assert files_in(cache) == [f"music/{NAME}"]


def test_a_download_that_is_interrupted_leaves_only_a_part_and_the_next_goes_on(mirror, cache):
    file = pinned(f"{mirror.address}/hang/{NAME}")
    program = (
        "import signal\n"
        "from glassformer.data.downloads import PinnedFile, read_pinned\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background job would ignore it
        f"read_pinned([{file!r}], cache={str(cache)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in cache.rglob("tmp*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    (part,) = files_in(cache)
    received = (cache / part).read_bytes()
    assert part.endswith(".part")
    assert received == CONTENT[: len(received)]
    assert read(file, cache=cache) == TEXT
    assert mirror.requests[-1] == ("hang", f"bytes={len(received)}-")


def test_two_downloads_at_once_do_not_disturb_each_other(mirror, cache):
    file = pinned(f"{mirror.address}/cut/{NAME}")
    texts = []
    threads = [threading.Thread(target=lambda: texts.append(read(file, cache=cache))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == [TEXT] * 5
    assert files_in(cache) == [f"music/{NAME}"]


def test_a_damaged_file_in_the_cache_is_downloaded_anew(mirror, cache):
    file = pinned(f"{mirror.address}/whole/{NAME}")
    read(file, cache=cache)
    (cache / "music" / NAME).write_bytes(CONTENT[:-1])
    assert read(file, cache=cache) == TEXT
    assert (cache / "music" / NAME).read_bytes() == CONTENT


@pytest.mark.parametrize("kind", ["plain", "gzip"])
def test_when_the_disk_takes_no_more_the_error_says_so_and_nothing_is_left(mirror, cache, kind):
    resource = pytest.importorskip("resource", reason="no limit on the size of files on this system")
    mirror.contents[NAME] = PACKED[kind]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (HALF, before[1]))
    try:
        with pytest.raises(DataFileError, match=r"could not be written to .*cache.*: make room") as error:
            read(pinned(f"{mirror.address}/whole/{NAME}"), cache=cache)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "File too large" in str(error.value)
    assert files_in(cache) == []


def test_a_cache_that_cannot_be_a_folder_is_named(mirror, cache):
    cache.write_text("a file")
    with pytest.raises(DataFileError, match=r"could not be written to .*cache"):
        read(pinned(f"{mirror.address}/whole/{NAME}"), cache=cache)


def test_a_download_says_the_terms_and_shows_how_far_it_is(mirror, cache, capsys):
    file = pinned(f"{mirror.address}/whole/{NAME}")
    read_pinned([file], cache=cache, terms="songs: for singing only.")
    shown = capsys.readouterr().err
    assert shown.startswith("songs: for singing only.\n")
    assert NAME in shown
    assert "100%" in shown
    read_pinned([file], cache=cache, terms="songs: for singing only.")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("place", [f"music/{NAME}.gz", f"music/{NAME}", f"{NAME}.gz", NAME])
@pytest.mark.parametrize("named_by", ["argument", "environment"])
def test_a_folder_stands_in_for_the_network(tmp_path, nobody, monkeypatch, place, named_by):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_bytes(gzip.compress(CONTENT) if place.endswith(".gz") else CONTENT)
    if named_by == "environment":
        monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))
    assert read(pinned(nobody), folder=tmp_path if named_by == "argument" else None) == TEXT


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("unrelated.txt", CONTENT, r"folder \(.*\) must hold music/songs.txt.gz or songs.txt, got neither"),
        (NAME, CONTENT[:-7], r"songs.txt must hold the pinned songs.txt .* cut short, damaged or another"),
        (f"{NAME}.gz", PACKED["gzip"][:997], r"songs.txt.gz is damaged or cut short"),
        (f"{NAME}.gz", PACKED["gzip"][:-3], r"songs.txt.gz is damaged or cut short"),
        (f"{NAME}.gz", gzip.compress(b"other bytes"), r"songs.txt.gz must hold the pinned songs.txt"),
        (f"{NAME}.gz", b"", r"songs.txt.gz must hold the pinned songs.txt"),
    ],
    ids=["absent", "cut", "cut archive", "archive without its end", "another version", "empty"],
)
def test_a_file_of_a_folder_is_checked_like_a_download(tmp_path, mirror, name, content, message):
    (tmp_path / name).write_bytes(content)
    address = f"{mirror.address}/whole/{NAME}"
    with pytest.raises(DataFileError, match=message) as error:
        read(pinned(address), folder=tmp_path)
    assert address in str(error.value) or "replace it" in str(error.value)
    assert mirror.requests == []
    assert files_in(tmp_path) == [name]


def test_a_folder_that_is_not_there_is_named(tmp_path, nobody):
    with pytest.raises(DataFileError, match=r"folder \(.*absent\) must hold"):
        read(pinned(nobody), folder=tmp_path / "absent")

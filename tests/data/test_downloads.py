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
    """A server whose addresses say how it behaves: /whole, and, on the first request, /cut and /hang."""

    contents: dict[str, bytes]
    requests: list[str]

    def do_GET(self):
        how, _, name = self.path.strip("/").partition("/")
        self.requests.append(how)
        content = self.contents.get(name)
        if content is None:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        times = self.requests.count(how)
        if how != "whole" and times == 1:
            content = content[:HALF]
        with contextlib.suppress(ConnectionError):
            self.wfile.write(content)
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
def test_a_file_is_downloaded_once_and_then_read_from_the_cache(mirror, cache, kind):
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


def test_after_a_failing_mirror_the_next_one_is_tried(mirror, cache, nobody):
    failing = addresses_that_fail(mirror, nobody)
    assert read(pinned(*failing, f"{mirror.address}/whole/{NAME}"), cache=cache) == TEXT
    assert len(mirror.requests) == 6
    assert files_in(cache) == [f"music/{NAME}"]


def test_if_every_mirror_fails_the_error_lists_the_reasons_and_no_file_is_left(mirror, cache, nobody):
    failing = addresses_that_fail(mirror, nobody)
    with pytest.raises(DataFileError, match=r"songs.txt could not be downloaded") as error:
        read(pinned(*failing), cache=cache)
    _, *tried = str(error.value).splitlines()
    causes = [
        "no connection",
        "404",
        "does not match",
        "truncated",
        "an archive without it",
        "does not match",
    ]
    for line, address, cause in zip(tried, failing, causes, strict=True):
        assert address in line
        assert cause in line
    assert "GLASSFORMER_DATA" in str(error.value)
    assert files_in(cache) == []


def test_after_a_cut_connection_the_next_mirror_is_tried(mirror, cache):
    mirrors = [f"{mirror.address}/{how}/{NAME}" for how in ("cut", "whole")]
    assert read(pinned(*mirrors), cache=cache) == TEXT
    assert files_in(cache) == [f"music/{NAME}"]


def test_a_connection_that_is_cut_is_named_and_leaves_no_file(mirror, cache):
    file = pinned(f"{mirror.address}/cut/{NAME}")
    with pytest.raises(DataFileError, match=r"the connection was cut"):
        read(file, cache=cache)
    assert files_in(cache) == []
    assert read(file, cache=cache) == TEXT


def test_an_interrupted_download_leaves_no_file_and_the_next_one_works(mirror, cache):
    file = pinned(f"{mirror.address}/hang/{NAME}")
    program = (
        "import signal\n"
        "from glassformer.data.downloads import PinnedFile, read_pinned\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # background jobs ignore it
        f"read_pinned([{file!r}], cache={str(cache)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not mirror.requests and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    assert files_in(cache) == []
    assert read(file, cache=cache) == TEXT


def test_simultaneous_downloads_do_not_disturb_each_other(mirror, cache):
    file = pinned(f"{mirror.address}/whole/{NAME}")
    texts = []
    threads = [threading.Thread(target=lambda: texts.append(read(file, cache=cache))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == [TEXT] * 5
    assert files_in(cache) == [f"music/{NAME}"]


def test_a_damaged_file_in_the_cache_is_downloaded_again(mirror, cache):
    file = pinned(f"{mirror.address}/whole/{NAME}")
    read(file, cache=cache)
    (cache / "music" / NAME).write_bytes(CONTENT[:-1])
    assert read(file, cache=cache) == TEXT
    assert (cache / "music" / NAME).read_bytes() == CONTENT


@pytest.mark.parametrize("kind", ["plain", "gzip"])
def test_a_full_disk_is_named_in_the_error_and_leaves_no_file(mirror, cache, kind):
    resource = pytest.importorskip("resource", reason="no limit on the size of files on this system")
    mirror.contents[NAME] = PACKED[kind]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (HALF, before[1]))
    try:
        with pytest.raises(
            DataFileError, match=r"could not be written to .*cache.*: free some space"
        ) as error:
            read(pinned(f"{mirror.address}/whole/{NAME}"), cache=cache)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "File too large" in str(error.value)
    assert files_in(cache) == []


def test_a_cache_that_is_a_file_is_named(mirror, cache):
    cache.write_text("a file")
    with pytest.raises(DataFileError, match=r"could not be written to .*cache"):
        read(pinned(f"{mirror.address}/whole/{NAME}"), cache=cache)


def test_a_download_prints_the_terms_and_its_progress(mirror, cache, capsys):
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
def test_a_local_folder_replaces_the_network(tmp_path, nobody, monkeypatch, place, named_by):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_bytes(gzip.compress(CONTENT) if place.endswith(".gz") else CONTENT)
    if named_by == "environment":
        monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))
    assert read(pinned(nobody), folder=tmp_path if named_by == "argument" else None) == TEXT


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "unrelated.txt",
            CONTENT,
            r"folder \(.*\) must contain music/songs.txt.gz or songs.txt, got neither",
        ),
        (
            NAME,
            CONTENT[:-7],
            r"songs.txt must contain the pinned songs.txt .* truncated, damaged or of another",
        ),
        (f"{NAME}.gz", PACKED["gzip"][:997], r"songs.txt.gz is damaged or truncated"),
        (f"{NAME}.gz", PACKED["gzip"][:-3], r"songs.txt.gz is damaged or truncated"),
        (f"{NAME}.gz", gzip.compress(b"other bytes"), r"songs.txt.gz must contain the pinned songs.txt"),
        (f"{NAME}.gz", b"", r"songs.txt.gz must contain the pinned songs.txt"),
    ],
    ids=["absent", "cut", "cut archive", "archive without its end", "another version", "empty"],
)
def test_a_file_in_a_local_folder_is_verified_like_a_download(tmp_path, mirror, name, content, message):
    (tmp_path / name).write_bytes(content)
    address = f"{mirror.address}/whole/{NAME}"
    with pytest.raises(DataFileError, match=message) as error:
        read(pinned(address), folder=tmp_path)
    assert address in str(error.value) or "replace it" in str(error.value)
    assert mirror.requests == []
    assert files_in(tmp_path) == [name]


def test_a_missing_local_folder_is_named(tmp_path, nobody):
    with pytest.raises(DataFileError, match=r"folder \(.*absent\) must contain"):
        read(pinned(nobody), folder=tmp_path / "absent")

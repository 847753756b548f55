"""Pinned files: from a local folder, or from one of several mirrors, resumed where a download was cut."""

import contextlib
import gzip
import hashlib
import io
import os
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import requests
from tqdm import tqdm

with warnings.catch_warnings():  # in a notebook, for want of widgets; the bar here is plain text
    warnings.filterwarnings("ignore", message="IProgress not found")
    import pooch

FOLDER_VARIABLE = "GLASSFORMER_DATA"
_TIMEOUT = 15  # seconds without a byte
_CHUNK = 1 << 13  # bytes, of which the last is lost when a connection is cut


class DataFileError(OSError):
    """A data file is missing, damaged or out of reach; the message says what to do."""


@dataclass(frozen=True)
class PinnedFile:
    """A file of which every byte is known in advance.

    Attributes:
        path: where it lies in a data folder, unpacked, such as "multi30k/train.en".
        sha256: the checksum of its unpacked content.
        mirrors: the addresses that hold it, plain, gzipped or in a zip, tried in this order.
    """

    path: str
    sha256: str
    mirrors: tuple[str, ...]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name


def read_pinned(
    files: Iterable[PinnedFile],
    *,
    folder: Path | str | None = None,
    cache: Path | str | None = None,
    terms: str = "",
) -> dict[str, str]:
    """Return the text of each file by its name, every byte checked.

    Args:
        files: what to read.
        folder: a local folder that stands in for the network; without it, the environment's GLASSFORMER_DATA.
        cache: where downloads are kept; without it, the user's cache folder.
        terms: printed before anything is downloaded: on what terms the files may be used.

    Raises:
        DataFileError: a file is missing in the folder, damaged or another version; no mirror has it; or
            there is no room for it. No half file is ever left under its name.
    """
    files = tuple(files)
    if folder := folder or os.environ.get(FOLDER_VARIABLE):
        return {file.name: _read_local(file, Path(folder)).decode() for file in files}
    cache = Path(cache or pooch.os_cache("glassformer"))
    if terms and not all((cache / file.path).is_file() for file in files):
        print(terms, file=sys.stderr)
    return {file.name: _fetch(file, cache).decode() for file in files}


def _read_local(file: PinnedFile, folder: Path) -> bytes:
    names = (f"{file.path}.gz", file.path, f"{file.name}.gz", file.name)
    place = next((folder / name for name in names if (folder / name).is_file()), None)
    if place is None:
        raise DataFileError(
            f"folder ({folder}) must hold {file.path}.gz or {file.name}, got neither: put it there from "
            f"{file.mirrors[0]}, or unset {FOLDER_VARIABLE} and leave folder out to have it downloaded"
        )
    content = _unpack(place.read_bytes(), file.name, origin=str(place))
    if (got := hashlib.sha256(content).hexdigest()) != file.sha256:
        raise DataFileError(
            f"{place} must hold the pinned {file.name} (sha256 {file.sha256}), got sha256 {got}: "
            f"it is cut short, damaged or another version; replace it from {file.mirrors[0]}"
        )
    return content


def _unpack(packed: bytes, name: str, *, origin: str) -> bytes:
    try:
        if packed.startswith(b"\x1f\x8b"):
            return gzip.decompress(packed)
        if packed.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(packed)) as archive:
                members = (path for path in archive.namelist() if PurePosixPath(path).name == name)
                return archive.read(next(members))
    except StopIteration as error:
        raise DataFileError(f"{origin} must hold {name}, got an archive without it") from error
    except (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error) as error:
        raise DataFileError(f"{origin} is damaged or cut short ({error}); replace it") from error
    return packed


def _fetch(file: PinnedFile, cache: Path) -> bytes:
    """Return the content of a file, from the cache or the first mirror that has it."""
    failures = []
    for address in file.mirrors:
        try:
            place = Path(
                pooch.retrieve(
                    address,
                    file.sha256,
                    fname=file.path,
                    path=cache,
                    downloader=_ResumingDownloader(file.name),
                )
            )
            for part in place.parent.glob(f"{file.name}.*.part"):  # what a mirror that failed left
                part.unlink(missing_ok=True)
            return place.read_bytes()
        except requests.RequestException as error:
            failures.append(f"{address}: {_reason(error)}")
        except ValueError as error:  # pooch compared the checksums, and dropped what came
            failures.append(f"{address}: {error}")
        except DataFileError as error:
            failures.append(str(error))
        except OSError as error:
            raise DataFileError(
                f"{file.name} could not be written to {cache} ({error.strerror}): make room or give it leave "
                f"to be written, then run again; or name a folder that holds the file by {FOLDER_VARIABLE}"
            ) from error
    raise DataFileError(
        f"{file.name} could not be downloaded. Run again when there is a connection (what has come is kept), "
        f"or put the file into a folder and name that by {FOLDER_VARIABLE}. Tried:\n  "
        + "\n  ".join(failures)
    )


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP status {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return f"no answer for {_TIMEOUT} seconds"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection was cut"
    return f"no connection ({type(error).__name__})"


class _ResumingDownloader:
    """What pooch calls for an address: it goes on where a download was cut, and unpacks what came.

    pooch's own downloader starts anew, and cannot compare the checksum of what is inside an archive.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, url: str, output_file: str, caller: object) -> None:
        """Bring what an address holds into pooch's temporary file, which no other process writes to."""
        received = Path(output_file)
        part = received.with_name(f"{self.name}.{hashlib.sha256(url.encode()).hexdigest()[:8]}.part")
        with contextlib.suppress(
            FileNotFoundError
        ):  # two runs at once: one takes the part, the other has none
            part.replace(received)
        try:
            self._receive(url, received)
        except (requests.RequestException, KeyboardInterrupt):
            if received.stat().st_size:
                received.replace(part)
            raise
        received.write_bytes(_unpack(received.read_bytes(), self.name, origin=url))

    def _receive(self, url: str, received: Path) -> None:
        """Ask for the rest for as long as each request brings us further."""
        while True:
            before = received.stat().st_size
            try:
                return self._receive_rest(url, received)
            except requests.RequestException:
                if received.stat().st_size <= before:
                    raise

    def _receive_rest(self, url: str, received: Path) -> None:
        start = received.stat().st_size
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            if start and response.status_code == requests.codes.requested_range_not_satisfiable:
                received.write_bytes(b"")  # the part is longer than the file: it was another one's
                return self._receive_rest(url, received)
            response.raise_for_status()
            goes_on = response.status_code == requests.codes.partial_content
            arrived = start if goes_on else 0
            size = arrived + int(response.headers.get("Content-Length", 0))
            with (
                received.open("ab" if goes_on else "wb") as file,
                tqdm(desc=self.name, initial=arrived, total=size or None, unit="B", unit_scale=True) as bar,
            ):
                for chunk in response.iter_content(_CHUNK):
                    file.write(chunk)
                    bar.update(len(chunk))
        return None

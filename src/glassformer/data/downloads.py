"""Pinned files: read from a local folder or downloaded from a mirror, and verified by checksum."""

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
from functools import partial
from pathlib import Path, PurePosixPath

import requests
from tqdm import tqdm

with warnings.catch_warnings():  # in a notebook without widgets; the progress bar here is plain text
    warnings.filterwarnings("ignore", message="IProgress not found")
    import pooch

FOLDER_VARIABLE = "GLASSFORMER_DATA"
_TIMEOUT = 15  # seconds without a byte
_CHUNK = 1 << 13  # bytes


class DataFileError(OSError):
    """A data file is missing, damaged or cannot be downloaded; the message says what to do."""


@dataclass(frozen=True)
class PinnedFile:
    """A file with a known checksum.

    Attributes:
        path: path of the unpacked file in a data folder, such as "multi30k/train.en".
        sha256: checksum of the unpacked content.
        mirrors: addresses of the file, plain, gzipped or in a zip archive, in the order in which to try them.
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
    """Read files and verify their checksums; return the text of each file by its name.

    Args:
        files: files to read.
        folder: local folder to read instead of downloading; by default, that in GLASSFORMER_DATA, if set.
        cache: folder for downloads; by default the user's cache folder.
        terms: terms of use, printed before a download.

    Raises:
        DataFileError: a file is missing from the folder, damaged or of another version; every mirror fails;
            or the cache cannot be written. An incomplete file is never left under its name.
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
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        raise DataFileError(
            f"folder ({folder}) must contain {file.path}.gz or {file.name}, got neither: download it from "
            f"{file.mirrors[0]}, or unset {FOLDER_VARIABLE} and omit folder to have it downloaded"
        )
    content = _unpack(path.read_bytes(), file.name, origin=str(path))
    if (got := hashlib.sha256(content).hexdigest()) != file.sha256:
        raise DataFileError(
            f"{path} must contain the pinned {file.name} (sha256 {file.sha256}), got sha256 {got}: "
            f"it is truncated, damaged or of another version; replace it from {file.mirrors[0]}"
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
        raise DataFileError(f"{origin} must contain {name}, got an archive without it") from error
    except (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error) as error:
        raise DataFileError(f"{origin} is damaged or truncated ({error}); replace it") from error
    return packed


def _fetch(file: PinnedFile, cache: Path) -> bytes:
    """Return the content of a file, from the cache or from the first mirror that works."""
    failures = []
    download = partial(_download, name=file.name)
    for address in file.mirrors:
        try:
            # Left to pooch, the folder would be made twice by downloads that start together.
            (cache / file.path).parent.mkdir(parents=True, exist_ok=True)
            path = pooch.retrieve(address, file.sha256, fname=file.path, path=cache, downloader=download)
            return Path(path).read_bytes()
        except requests.RequestException as error:
            failures.append(f"{address}: {_reason(error)}")
        except ValueError as error:  # from pooch: the checksums differ
            failures.append(f"{address}: {error}")
        except DataFileError as error:
            failures.append(str(error))
        except OSError as error:
            raise DataFileError(
                f"{file.name} could not be written to {cache} ({error.strerror}): free some space or make it "
                f"writable, then run again; or set {FOLDER_VARIABLE} to a folder that contains the file"
            ) from error
    raise DataFileError(
        f"{file.name} could not be downloaded. Check the connection and run again, or put the file into a "
        f"folder and set {FOLDER_VARIABLE} to it. Tried:\n  " + "\n  ".join(failures)
    )


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP status {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return f"no answer for {_TIMEOUT} seconds"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection was cut"
    return f"no connection ({type(error).__name__})"


def _download(url: str, output_file: str, _: object, *, name: str) -> None:
    """Download to pooch's temporary file, unpacked, because the checksum is that of the unpacked content."""
    content = bytearray()
    headers = {"Accept-Encoding": "identity"}  # so that Content-Length is the number of bytes received
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        response.raise_for_status()
        size = int(response.headers.get("Content-Length", 0))
        with tqdm(desc=name, total=size or None, unit="B", unit_scale=True) as bar:
            for chunk in response.iter_content(_CHUNK):
                content += chunk
                bar.update(len(chunk))
    Path(output_file).write_bytes(_unpack(bytes(content), name, origin=url))

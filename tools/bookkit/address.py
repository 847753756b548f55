"""Publish the book at another address: `make address REPOSITORY=https://github.com/you/yours`.

`[project.urls]` in pyproject.toml holds the URLs of the repository and of the website. The files in `COPIES`
repeat them, since a README or a notebook cannot read pyproject.toml. The standard library is all it needs.
"""

import argparse
import tomllib
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

COPIES = (
    "README.md",
    "CITATION.cff",
    "_config.yml",
    "intro.md",
    "teach/guide.md",
    "teach/platforms.md",
    "chapters/*.ipynb",
)


class Address(NamedTuple):
    """Web addresses of the book.

    Args:
        repository: URL of the repository, without a slash at its end.
        website: URL of the website, with a slash at its end.
    """

    repository: str
    website: str


def read_address(root: Path) -> Address:
    """Read the address from pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Address(project["urls"]["Repository"], project["urls"]["Documentation"])


def make_address(repository: str, website: str = "") -> Address:
    """Return the address of a repository, with GitHub Pages as the website unless another one is given.

    Raises:
        ValueError: a URL is malformed, or the website is missing and cannot be derived.
    """
    repository = repository.rstrip("/").removesuffix(".git")
    parts = urlsplit(repository)
    owner, _, name = parts.path.strip("/").partition("/")
    if parts.scheme != "https" or not name:
        raise ValueError(f"repository must look like https://github.com/you/yours, got {repository!r}")
    if not website and parts.hostname != "github.com":
        raise ValueError(f"website is needed, since {parts.hostname} is not GitHub")
    if not website:
        host = f"{owner.lower()}.github.io"
        website = f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"
    if urlsplit(website).scheme != "https":
        raise ValueError(f"website must look like https://you.github.io/yours/, got {website!r}")
    return Address(repository, website.rstrip("/") + "/")


def list_copies(root: Path) -> list[Path]:
    """List the files that repeat the address."""
    return [path for pattern in COPIES for path in sorted(root.glob(pattern))]


def change_address(root: Path, new: Address) -> list[Path]:
    """Replace the address in pyproject.toml and in its copies; return the files that changed."""
    old, changed = read_address(root), []
    for path in [root / "pyproject.toml", *list_copies(root)]:
        text = path.read_bytes().decode()
        edited = text.replace(old.repository, new.repository).replace(old.website, new.website)
        if edited != text:
            path.write_bytes(edited.encode())
            changed.append(path)
    return changed


def main() -> None:
    """Change the address of the repository that this file is in."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("repository", help="URL of the repository: https://github.com/you/yours")
    parser.add_argument("website", nargs="?", default="", help="URL of the website (default: GitHub Pages)")
    args = parser.parse_args()
    try:
        address = make_address(args.repository, args.website)
    except ValueError as error:
        parser.error(str(error))
    root = Path(__file__).parents[2]
    for path in change_address(root, address):
        print(f"changed {path.relative_to(root)}")
    print(f"The book is published at {address.repository} and {address.website}")


if __name__ == "__main__":
    main()

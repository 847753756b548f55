"""Find parts of the solutions in a built website, in any file and any encoding."""

import html
import json
import re
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PICTURES_AND_FONTS = {".png", ".woff", ".woff2", ".mo", ".safetensors"}
SHORTEST = 6  # characters; shorter lines may coincide by chance


class Solution(NamedTuple):
    """Code, output and words of a solution that occur nowhere else in the book."""

    chapter: str
    id: str
    code: tuple[str, ...]
    printed: tuple[str, ...]
    words: frozenset[str]


def squeeze(text: str) -> str:
    """Remove what differs between a cell and its page: white space and HTML entities."""
    return re.sub(r"\s+", "", html.unescape(text))


def read_solutions(folder: Path, *others: Path) -> list[Solution]:
    """Read the solutions of all chapters, with the lines that occur in no other cell or file."""
    cells = [
        (path.stem, cell)
        for path in sorted(folder.glob("*.ipynb"))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    ]
    elsewhere = [path.read_text(encoding="utf-8") for path in others]
    elsewhere += [f"{_code(cell)}\n{_printed(cell)}" for _, cell in cells if not _is_solution(cell)]
    public, public_words = squeeze("\n".join(elsewhere)), _words("\n".join(elsewhere))
    return [
        Solution(
            chapter,
            cell["id"],
            code=tuple(_own_lines(_code(cell), public)),
            printed=tuple(_own_lines(_printed(cell), public)),
            words=frozenset(_words(_code(cell)) - public_words),
        )
        for chapter, cell in cells
        if _is_solution(cell)
    ]


def _is_solution(cell: dict[str, Any]) -> bool:
    return "solution" in cell["metadata"].get("tags", [])


def _code(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _printed(cell: dict[str, Any]) -> str:
    return "\n".join("".join(output.get("text", "")) for output in cell.get("outputs", []))


def _own_lines(text: str, public: str) -> Iterator[str]:
    for line in dict.fromkeys(map(squeeze, [*text.splitlines(), text])):  # and the whole text
        if len(line) >= SHORTEST and line not in public:
            yield line


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z_]{4,}", text.lower()))


@cache
def read_site(folder: Path) -> dict[str, str]:
    """Read every text file of a website, decoded and squeezed."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): squeeze(_unpack(path))
        for path in files
        if path.suffix not in PICTURES_AND_FONTS
    }


def _unpack(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".inv":
        return zlib.decompress(content.split(b"\n", 4)[4]).decode()
    text = content.decode()  # an unknown binary file is an error
    if path.suffix in (".ipynb", ".json"):
        return "\n".join(_strings(json.loads(text)))
    if path.suffix == ".html":
        return f"{text}\n{re.sub(r'<[^>]*>', '', text)}"
    return text.replace("\\n", "\n").replace('\\"', '"') if path.suffix == ".js" else text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        yield "".join(value)
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def find(solutions: list[Solution], site: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return each file, solution id and line that match."""
    return [
        (name, solution.id, line)
        for name, text in site.items()
        for solution in solutions
        for line in (*solution.code, *solution.printed)
        if line in text
    ]


def searchable(folder: Path) -> set[str]:
    """Return the words in the search index of a website: lower-case stems."""
    index = (folder / "searchindex.js").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    return set(found["terms"]) | set(found["titleterms"])

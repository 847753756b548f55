"""Convert code spans in the text of questions to XML elements."""

from collections.abc import Callable

from lxml.etree import _Element as Element


def split_code(text: str, code: Callable[[str], Element]) -> list[str | Element]:
    """Split a text into plain text and elements; ``code`` makes an element of each span between backticks."""
    parts = text.split("`")
    return [code(part) if place % 2 else part for place, part in enumerate(parts)]

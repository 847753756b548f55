"""The texts of questions, in which code stands between backticks, as parts of an XML document."""

from collections.abc import Callable

from lxml.etree import _Element as Element


def split_code(text: str, code: Callable[[str], Element]) -> list[str | Element]:
    """Cut a text into words and elements, made by ``code`` of what stands between backticks."""
    parts = text.split("`")
    return [code(part) if place % 2 else part for place, part in enumerate(parts)]

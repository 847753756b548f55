"""Build docutils tables."""

from collections.abc import Iterable, Sequence

from docutils import nodes


def build_table(
    heads: Sequence[str],
    rows: Iterable[nodes.row],
    classes: Sequence[str] = (),
    widths: Sequence[int] | None = None,
) -> nodes.table:
    """Build a table with a head row.

    Args:
        heads: titles of the columns.
        rows: rows of the body, as from `build_row`.
        classes: CSS classes of the table.
        widths: relative widths of the columns; equal if omitted.
    """
    columns = [nodes.colspec(colwidth=width) for width in widths or [1] * len(heads)]
    group = nodes.tgroup("", *columns, cols=len(heads))
    group += nodes.thead("", build_row(heads))
    group += nodes.tbody("", *rows)
    return nodes.table("", group, classes=[*classes])


def build_row(cells: Iterable[nodes.Node | str], **attributes: list[str]) -> nodes.row:
    """Build a row from blocks, inline nodes or plain text, with attributes such as ``ids``."""
    return nodes.row("", *(nodes.entry("", _block(cell)) for cell in cells), **attributes)


def _block(cell: nodes.Node | str) -> nodes.Node:
    if isinstance(cell, nodes.paragraph | nodes.line_block | nodes.raw):
        return cell
    return nodes.paragraph("", "", nodes.Text(cell) if isinstance(cell, str) else cell)

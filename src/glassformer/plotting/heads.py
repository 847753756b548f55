"""Show how vectors are split into heads: the components of each head, before and after."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from numpy import ndarray as Array

from glassformer.plotting.arrays import require_labels, to_array, to_arrays
from glassformer.plotting.style import COLORS, FREE_COLORS, SIZES, finish, panels, styled
from glassformer.validation import require_multiple

_GAP = 0.6  # cells between two heads


@styled
def plot_split(x: Any, pieces: Mapping[str, Any], *, words: Sequence[str]) -> Any:
    """Plot the vectors of a sentence, and beside them the same components split into heads.

    The numbers in ``x`` must count its components, word by word: 0, 1, 2, and so on. Each component shows the
    initial of its word and its index in that word's vector, in the colour of its head.

    Args:
        x: numbers of the components, (time, d_model).
        pieces: the same numbers split into heads, (heads, time, d_head), by the title of their panel.
        words: words of the rows of ``x``; their initials should differ.

    Returns:
        The axes; the first shows ``x``.

    Raises:
        ValueError: ``x`` does not count its components, the pieces hold other numbers or differ in their
            number of heads, or the number of words is wrong.
    """
    cells = to_array("x", x, (2,))
    _require_same_cells("x", cells, cells.size)
    require_labels("words", words, len(cells))
    drawn = to_arrays("pieces", pieces, (3,))
    counts = {len(piece) for piece in drawn.values()}
    if len(counts) != 1:
        raise ValueError(f"pieces must have the same number of heads, got {sorted(counts)}")
    num_heads, d_model = counts.pop(), cells.shape[1]
    require_multiple(d_model, num_heads)
    for title, piece in drawn.items():
        _require_same_cells(f"pieces[{title!r}]", piece, cells.size)
    axes = panels(1 + len(drawn), height=0.6 + 0.36 * num_heads * (len(cells) + _GAP))
    _draw(axes[0], cells[None], words, d_model, num_heads)
    finish(axes[0], "before")
    for ax, (title, piece) in zip(axes[1:], drawn.items(), strict=True):
        _draw(ax, piece, words, d_model, num_heads)
        finish(ax, title)
    for ax in axes:
        ax.set(xlim=(-0.8, d_model), ylim=(num_heads * (len(cells) + _GAP) - _GAP, 0), aspect="equal")
        ax.axis("off")
    return axes


def _require_same_cells(name: str, piece: Array, count: int) -> None:
    if sorted(piece.ravel().tolist()) != list(range(count)):
        raise ValueError(f"{name} must hold each number from 0 to {count - 1} once")


def _draw(ax: Axes, blocks: Array, words: Sequence[str], d_model: int, num_heads: int) -> None:
    _, height, _ = blocks.shape
    for block, rows in enumerate(blocks):
        top = block * (height + _GAP)
        for row, entries in enumerate(rows):
            for column, entry in enumerate(entries):
                word, place = divmod(int(entry), d_model)
                head = place * num_heads // d_model
                color = COLORS[FREE_COLORS[head % len(FREE_COLORS)]]
                _cell(ax, column, top + row, f"{words[word][0]}{place}", color)
        if len(blocks) > 1:
            ax.text(-0.15, top + height / 2, f"head {block}", rotation=90, va="center", ha="right")


def _cell(ax: Axes, x: float | int, y: float | int, text: str, color: str) -> None:
    ax.add_patch(
        FancyBboxPatch(
            (x + 0.05, y + 0.05),
            0.9,
            0.9,
            boxstyle="round,pad=0,rounding_size=0.15",
            facecolor=(color, 0.22),
            edgecolor=color,
            linewidth=1.2,
        )
    )
    ax.text(x + 0.5, y + 0.52, text, ha="center", va="center", size=SIZES["tick"], weight="bold")

"""Draw the paths of a signal between two words: through recurrence and through attention."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from glassformer.plotting.style import COLORS, SIZES, panels, styled


@styled
def plot_paths(words: Sequence[str], first: int, last: int) -> Axes:
    """Draw two paths between two words: recurrence below, word by word; attention above, in one step.

    Args:
        words: words of the sentence.
        first: index of the word where the signal starts, counted from 0.
        last: index of the word where it is needed.

    Raises:
        ValueError: ``first`` is not before ``last``, or ``last`` is outside the sentence.
    """
    if not 0 <= first < last < len(words):
        raise ValueError(f"first ({first}) must come before last ({last}), and both be below {len(words)}")
    ax = panels(1, height=2.1)[0]
    places = _places(words)
    for place, (word, x) in enumerate(zip(words, places, strict=True)):
        lit = place in (first, last)
        weight = "bold" if lit else "normal"
        ax.text(x, 0, word, ha="center", va="center", fontsize=SIZES["label"], weight=weight)
    for place in range(first, last):
        _arc(ax, places[place], places[place + 1], y=-0.28, bend=0.45, color=COLORS["slate"])
    share = (places[last] - places[first]) / (places[-1] + places[0])
    bend = -0.22 * min(1, 0.65 / share)  # a wide arc is flatter, so that it stays below its label
    _arc(ax, places[first], places[last], y=0.28, bend=bend, color=COLORS["violet"])
    middle = (places[first] + places[last]) / 2
    hops = last - first
    for y, text, color in (
        (1.3, "attention: 1 step", "violet"),
        (-0.95, f"recurrence: {hops} step{'s' * (hops > 1)}, one after the other", "slate"),
    ):
        ax.text(middle, y, text, ha="center", va="center", color=COLORS[color], fontsize=SIZES["tick"])
    ax.set(xlim=(0, places[-1] + places[0]), ylim=(-1.2, 1.55))
    ax.axis("off")
    return ax


def _places(words: Sequence[str]) -> list[float]:
    """Return the centre of each word on a line, in letters, with a gap of two letters."""
    places, edge = [], 1.0
    for word in words:
        places.append(edge + len(word) / 2)
        edge += len(word) + 2
    return places


def _arc(ax: Axes, start: float, end: float, *, y: float, bend: float, color: str) -> None:
    ax.add_patch(
        FancyArrowPatch(
            (start, y),
            (end, y),
            connectionstyle=f"arc3,rad={bend}",
            arrowstyle="-|>",
            mutation_scale=11,
            linewidth=1.6,
            color=color,
        )
    )

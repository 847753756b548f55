"""Plot beam search as a tree: the prefixes it kept, those it dropped, and the result."""

from collections.abc import Collection, Iterable, Mapping

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from glassformer.plotting.style import COLORS, SIZES, panels, styled

Prefix = tuple[str, ...]

_ROW = 0.36  # inches from one leaf to the next
_LETTER = 0.07  # inches per letter; each side of a word has one letter of space


@styled
def plot_beams(
    probabilities: Mapping[Prefix, float],
    *,
    kept: Collection[Prefix],
    best: Prefix = (),
) -> Axes:
    """Plot the prefixes of hypotheses as a tree that grows to the right, word by word.

    Every word has the probability of its prefix. Kept prefixes are violet with solid lines, and the best one
    is bold. Dropped prefixes are grey with dashed lines.

    Args:
        probabilities: probability of each prefix, a tuple of words.
        kept: prefixes that the search kept.
        best: hypothesis that the search returns.

    Raises:
        ValueError: there is no prefix, the parent of a prefix is missing, or ``kept`` or ``best`` are not
            among them.
    """
    if not probabilities:
        raise ValueError("probabilities must hold at least 1 prefix, got 0")
    _require_among(probabilities, "the parent of each prefix", (words[:-1] for words in probabilities))
    _require_among(probabilities, "kept", kept)
    _require_among(probabilities, "best", [best])
    heights = _heights(probabilities)
    ax = panels(1, height=0.6 + _ROW * (1 + max(heights.values())))[0]
    on_path = {(), *kept, *(best[:length] for length in range(len(best)))}
    for words, probability in probabilities.items():
        is_best, is_kept = best[: len(words)] == words, words in on_path
        color = COLORS["violet" if is_kept else "text"]
        weight = "bold" if is_best else "normal"
        x, y = len(words), heights[words]
        ax.text(x, y + 0.02, words[-1], ha="center", va="bottom", color=color, weight=weight)
        number = f"{probability:.2f}" if probability >= 0.005 else f"{probability:.0e}"
        ax.text(x, y - 0.04, number, ha="center", va="top", color=color, weight=weight, size=SIZES["small"])
        _branch(ax, words, heights, color, lit=is_best, dashed=not is_kept)
    ax.plot(0, heights[()], marker="o", color=COLORS["violet"], markersize=6)
    ax.set(xlim=(-0.15, max(map(len, probabilities)) + 0.5), ylim=(-0.65, max(heights.values()) + 0.65))
    ax.axis("off")
    return ax


def _require_among(probabilities: Mapping[Prefix, float], name: str, prefixes: Iterable[Prefix]) -> None:
    for words in prefixes:
        if words and words not in probabilities:
            raise ValueError(f"{name} must be among probabilities, got {' '.join(words)!r}")


def _heights(probabilities: Mapping[Prefix, float]) -> dict[Prefix, float]:
    """Place leaves below each other in the given order, and other prefixes midway between their children."""
    heights: dict[Prefix, float] = {}

    def place(words: Prefix, free: float) -> float:
        own = [other for other in probabilities if other[:-1] == words and other]
        for other in own:
            free = place(other, free)
        heights[words] = (heights[own[0]] + heights[own[-1]]) / 2 if own else free
        return free if own else free - 1

    lowest = place((), 0.0) + 1
    return {words: height - lowest for words, height in heights.items()}


def _branch(
    ax: Axes, words: Prefix, heights: Mapping[Prefix, float], color: str, *, lit: bool, dashed: bool
) -> None:
    """Draw the line from the previous word, with space for both words."""
    before = words[:-1]
    gaps = [72 * _LETTER * (1 + max(len(word), 4) / 2) for word in (*before[-1:], words[-1])]
    ax.add_patch(
        FancyArrowPatch(
            (len(before), heights[before]),
            (len(words), heights[words]),
            arrowstyle="-",
            shrinkA=gaps[0] if before else 5,
            shrinkB=gaps[-1],
            color=color,
            linewidth=2.4 if lit else 1.2,
            linestyle=(0, (4, 3)) if dashed else "-",
            alpha=0.7 if dashed else 1.0,
        )
    )

"""What a search went through, as a tree: prefixes it followed, those it dropped, the one it chose."""

from collections.abc import Collection, Iterable, Mapping

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from glassformer.plotting.style import COLORS, SIZES, axes_or_new, finish, styled

Prefix = tuple[str, ...]

_ROW = 0.36  # inches from one leaf to the next
_LETTER = 0.07  # inches a letter takes; one more is left free on both sides of a word


@styled
def plot_beams(
    probabilities: Mapping[Prefix, float],
    *,
    followed: Collection[Prefix],
    chosen: Prefix = (),
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the prefixes of sentences as a tree that grows to the right, word by word.

    Every word stands with the probability of all words up to it. What was followed is violet, on full lines,
    the chosen sentence bold; what was dropped is grey, on broken lines.

    Args:
        probabilities: prefixes, each a tuple of words, and how likely each is as a whole.
        followed: those of them that the search went on with.
        chosen: the one it returns.
        ax: where to draw; without it, in a new figure.
        title: what is shown.

    Raises:
        ValueError: there is no beginning, one lacks the beginning that it continues, or what is followed or
            chosen is none of them.
    """
    if not probabilities:
        raise ValueError("probabilities must hold at least 1 beginning, got 0")
    _require_among(probabilities, "the parent of one", (words[:-1] for words in probabilities))
    _require_among(probabilities, "followed", followed)
    _require_among(probabilities, "chosen", [chosen])
    heights = _heights(probabilities)
    ax = axes_or_new(ax, height=0.6 + _ROW * (1 + max(heights.values())))
    spared = {(), *followed, *(chosen[:length] for length in range(len(chosen)))}
    for words, probability in probabilities.items():
        is_chosen, is_followed = chosen[: len(words)] == words, words in spared
        color = COLORS["violet" if is_followed else "text"]
        weight = "bold" if is_chosen else "normal"
        x, y = len(words), heights[words]
        ax.text(x, y + 0.02, words[-1], ha="center", va="bottom", color=color, weight=weight)
        number = f"{probability:.2f}" if probability >= 0.005 else f"{probability:.0e}"
        ax.text(x, y - 0.04, number, ha="center", va="top", color=color, weight=weight, size=SIZES["small"])
        _branch(ax, words, heights, color, lit=is_chosen, broken=not is_followed)
    ax.plot(0, heights[()], marker="o", color=COLORS["violet"], markersize=6)
    ax.set(xlim=(-0.15, max(map(len, probabilities)) + 0.5), ylim=(-0.65, max(heights.values()) + 0.65))
    ax.axis("off")
    return finish(ax, title)


def _require_among(probabilities: Mapping[Prefix, float], name: str, prefixes: Iterable[Prefix]) -> None:
    for words in prefixes:
        if words and words not in probabilities:
            raise ValueError(f"{name} must be among probabilities, got {' '.join(words)!r}")


def _heights(probabilities: Mapping[Prefix, float]) -> dict[Prefix, float]:
    """Place leaves one below the other, in the order given, and every other beginning midway of its own."""
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
    ax: Axes, words: Prefix, heights: Mapping[Prefix, float], color: str, *, lit: bool, broken: bool
) -> None:
    """Draw the line from the word before, which leaves room for both words."""
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
            linestyle=(0, (4, 3)) if broken else "-",
            alpha=0.7 if broken else 1.0,
        )
    )

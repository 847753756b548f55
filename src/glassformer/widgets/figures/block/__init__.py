"""Switch the parts of a block on and off, stack it, and see what becomes of the words and of a gradient."""

from collections.abc import Sequence

from glassformer.validation import require_multiple, require_whole
from glassformer.widgets.figures.block.stack import ROUNDING, Parts, Seen, Stack
from glassformer.widgets.live import LiveFigure, Table

START, SHOWN = 6, 16  # layers, and numbers of each word
STACKS = {
    "attention": Parts(residual=False, norm="none", feed_forward=False),
    "attention, feed-forward": Parts(residual=False, norm="none", feed_forward=True),
    "attention, feed-forward, residual": Parts(residual=True, norm="none", feed_forward=True),
    "attention, feed-forward, residual, post-norm": Parts(residual=True, norm="post", feed_forward=True),
    "attention, feed-forward, residual, pre-norm": Parts(residual=True, norm="pre", feed_forward=True),
}


def live_block(
    words: Sequence[str],
    *,
    d_model: int = 64,
    num_heads: int = 4,
    d_ff: int = 256,
    num_layers: int = 24,
    seed: int = 12,
) -> LiveFigure:
    """Show how far words stay apart, how long they are, and which gradient arrives, in stacks of any block.

    The browser draws words and weights itself, by the same generator as the table here, and runs the stacks.

    Args:
        words: what the rows of random numbers stand for.
        d_model: how many numbers a word has, at least 16.
        num_heads: how many heads attend.
        d_ff: the width inside the feed-forward network.
        num_layers: how many layers there can be, at least 6.
        seed: which random numbers. The default is a typical draw: of the seeds 1 to 14 it lies nearest to
            their medians, in all that the table measures.

    Raises:
        ValueError: there is no second word, a size is no whole number or too small, or d_model is no multiple
            of num_heads.
    """
    require_whole(d_model=d_model, num_heads=num_heads, d_ff=d_ff, num_layers=num_layers, seed=seed)
    require_multiple(d_model, num_heads)
    for name, number, least in (
        ("the number of words", len(words), 2),
        ("d_model", d_model, SHOWN),
        ("num_layers", num_layers, START),
    ):
        if number < least:
            raise ValueError(f"{name} must be at least {least}, got {number}")
    sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "seed": seed}
    stack = Stack(len(words), num_layers=num_layers, **sizes)
    return LiveFigure(
        "block",
        label="A block and its stack",
        data={"words": list(words), "depth": START, "num_layers": num_layers, **sizes},
        table=Table(
            f"{len(words)} words after {START} and after {num_layers} layers: their spread, the mean length "
            "of the vectors, and how much of a gradient sent in at the top arrives at the bottom",
            (
                "block",
                *(f"{name}, {depth}" for depth in (START, num_layers) for name in Seen._fields),
            ),
            [
                (name, *_row(stack, parts, START), *_row(stack, parts, num_layers))
                for name, parts in STACKS.items()
            ],
        ),
        heights=(48.1, 76.6),
    )


def _row(stack: Stack, parts: Parts, depth: int) -> list[str]:
    levels = stack.run(parts, depth)
    return [_show(number) for number in (levels[-1].spread, levels[-1].length, levels[0].gradient)]


def _show(number: float) -> str:
    """Write a number as the figure does."""
    if number <= ROUNDING:
        return "< 1e−15"
    if 0.001 <= number < 999.5:
        return f"{number:#.3g}".rstrip(".")
    digits, power = f"{number:.1e}".split("e")
    return f"{digits}e{int(power)}".replace("-", "−")

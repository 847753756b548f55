"""A stack of Transformer blocks with optional parts; spread, norms and gradients at each level."""

from collections.abc import Sequence

from glassformer.validation import require_multiple, require_positive_int
from glassformer.widgets.figures.block.stack import ROUNDING, Measures, Parts, Stack
from glassformer.widgets.live import LiveFigure, Table

START, SHOWN = 6, 16  # number of layers at the start, and of values drawn per word
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
    """Show the spread of words, the norm of their vectors and the gradient at each level of a stack.

    The browser samples words and weights by the same generator as this function.

    Args:
        words: labels of the random word vectors, at least two.
        d_model: width of the word vectors, at least 16.
        num_heads: number of attention heads.
        d_ff: inner width of the feed-forward network.
        num_layers: maximum number of layers, at least 6.
        seed: seed of words and weights. The default is typical: among the seeds 1 to 14 it is closest to the
            medians of all measures in the table.

    Raises:
        ValueError: there are fewer than two words, a size is not an integer or is too small, or d_model is
            not a multiple of num_heads.
    """
    require_positive_int(d_model=d_model, num_heads=num_heads, d_ff=d_ff, num_layers=num_layers, seed=seed)
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
            f"{len(words)} words after {START} and {num_layers} layers: their spread, the mean norm of their "
            "vectors, and the gradient at the bottom relative to the one at the top",
            (
                "block",
                *(f"{name}, {depth}" for depth in (START, num_layers) for name in Measures._fields),
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
    """Format a number like the figure."""
    if number <= ROUNDING:
        return "< 1e−15"
    if 0.001 <= number < 999.5:
        return f"{number:#.3g}".rstrip(".")
    digits, power = f"{number:.1e}".split("e")
    return f"{digits}e{int(power)}".replace("-", "−")

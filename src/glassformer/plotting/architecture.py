"""Draw the whole Transformer with one part highlighted, as at the top of every chapter."""

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from numpy import ndarray as Array

from glassformer.plotting.sketch import Sketch
from glassformer.plotting.style import COLORS, SIZES, styled
from glassformer.validation import require_choice

_TITLES = {
    "before_you_begin": "Before you begin",
    "recurrence": "Recurrence",
    "queries_keys_values": "Queries, keys, values",
    "scaling": "Scaling",
    "softmax": "Softmax",
    "masks": "Masks",
    "multi_head_attention": "Multi-head attention",
    "positional_encoding": "Positional encoding",
    "transformer_block": "Transformer block",
    "encoder_decoder": "Encoder-decoder",
    "training": "Training",
    "decoding": "Decoding",
    "looking_inside": "Looking inside",
    "cost": "Cost",
}

#: Parts that can be highlighted, in the order of the book.
PARTS = tuple(_TITLES)

_ENCODER, _DECODER, _STACK_WIDTH = 5.0, 25.5, 15.0  # left edges of the two stacks, and their width
_ROWS = (8.7, 12.5, 16.3)  # bottom edges of the boxes in a block
_LENS = 46.0  # left edge of the pane with one head
_CHAIN, _STEP_WIDTH = 48.0, 12.4  # left edge of the chain, and the width of its steps
_STEPS = {"scores": 4.8, "scale": 8.3, "mask": 11.8, "softmax": 15.3, "mix": 18.8}  # bottom edges
_LIT_STEPS = {
    "scaling": ("scale",),
    "masks": ("mask",),
    "softmax": ("softmax",),
    "cost": ("scores", "mix"),
}
_FORMULAS = {  # symbols with their colours and distances from the right edge
    "scores": (("Q", "query", 2.3), ("Kᵀ", "key", 0.7)),
    "scale": (("÷ √dₖ", "text", 0.7),),
    "mix": (("×", "text", 2.3), ("V", "value", 0.7)),
}


@styled
def plot_architecture(*, highlight: str) -> Axes:
    """Draw the whole Transformer with one part highlighted.

    The encoder is on the left and the decoder beside it, each from its tokens at the bottom to its output at
    the top (Vaswani et al., 2017, figure 1). The lens on the right shows one attention head: queries and keys
    give scores, which are scaled, masked and turned by the softmax into weights that mix the values.

    Args:
        highlight: part to highlight, one of `PARTS`.

    Raises:
        ValueError: ``highlight`` is not one of `PARTS`.
    """
    require_choice(PARTS, highlight=highlight)
    sketch = Sketch(2.6)
    sketch.text(1.0, 24.4, "You are here", align="left")
    size, color = SIZES["headline"], COLORS["violet"]
    sketch.text(1.0, 22.3, _TITLES[highlight], align="left", size=size, weight="bold", color=color)
    _lens(sketch, highlight)
    _tokens(sketch, highlight)
    for left in (_ENCODER, _DECODER):
        _entrance(sketch, highlight, left)
    _encoder(sketch, highlight)
    _decoder(sketch, highlight)
    _chain(sketch, highlight)
    return sketch.ax


def _tokens(sketch: Sketch, part: str) -> None:
    """Draw the tokens at the bottom, which recurrence connects one after the other."""
    lit = part == "recurrence"
    starts = [left + 1.2 + 2.75 * place for left in (_ENCODER, _DECODER) for place in range(5)]
    for left in starts:
        sketch.box((left, 0.7, 1.6, 1.6), lit=lit, radius=0.5)
    if lit:
        for before, after in pairwise(starts):
            sketch.arrow((before + 1.8, 1.5), (after - 0.1, 1.5), lit=True)


def _entrance(sketch: Sketch, part: str, left: float) -> None:
    """Draw the embedding and the addition of the positional encoding."""
    middle = left + _STACK_WIDTH / 2
    lit = part == "positional_encoding"
    sketch.arrow((middle, 2.5), (middle, 3.3), muted_alpha=0.6, head=False)
    sketch.label("embedding", (left, 3.3, _STACK_WIDTH, 2.0), lit=part == "before_you_begin")
    sketch.arrow((middle, 5.3), (middle, 8.7))
    wave = np.linspace(0, 2 * np.pi, 50)
    start = left - 3.6
    sketch.curve(start + wave * 0.42, 6.55 + 0.62 * np.sin(wave), lit=lit)
    sketch.curve(start + wave * 0.42, 6.55 + 0.62 * np.cos(2 * wave), lit=lit)
    sketch.arrow((start + 3.0, 6.55), (middle - 0.8, 6.55), lit=lit, head=False)
    angle = np.linspace(0, 2 * np.pi, 60)
    sketch.curve(middle + 0.75 * np.cos(angle), 6.55 + 0.75 * np.sin(angle), lit=lit)
    sketch.curve(np.array([middle - 0.75, middle + 0.75]), np.array([6.55, 6.55]), lit=lit)


def _block(sketch: Sketch, part: str, left: float, names: tuple[str, ...]) -> None:
    """Draw one of the N blocks: its sublayers, one above the other."""
    inside = part == "transformer_block"
    pane = (left, 7.7, _STACK_WIDTH, _ROWS[len(names) - 1] - 4.3)
    sketch.frame(pane, lit=inside or part == "encoder_decoder")
    for name, bottom in zip(names, _ROWS, strict=False):
        attends = name.endswith("attention") and part in ("multi_head_attention", "looking_inside")
        special = (part, name) in (("masks", "masked attention"), ("encoder_decoder", "cross-attention"))
        _sublayer(sketch, name, left, bottom, lit=inside or attends or special, norm=inside)


def _sublayer(sketch: Sketch, name: str, left: float, bottom: float, *, lit: bool, norm: bool) -> None:
    """Draw a sublayer, its residual connection, and the bar where both are added and normalised."""
    inner, width, middle = left + 1.6, _STACK_WIDTH - 3.2, left + _STACK_WIDTH / 2
    bar = bottom + 2.5
    sketch.arrow((middle, bottom - 0.9), (middle, bottom), head=False)
    corners = ((left + 0.8, bottom - 0.45), (left + 0.8, bar + 0.2))
    sketch.arrow((middle, bottom - 0.45), *corners, (inner, bar + 0.2), lit=norm, head=False)
    sketch.label(name, (inner, bottom, width, 2.1), lit=lit)
    sketch.box((inner, bar, width, 0.4), lit=norm, radius=0.2, fill=0.35)


def _encoder(sketch: Sketch, part: str) -> None:
    _block(sketch, part, _ENCODER, ("self-attention", "feed-forward"))
    sketch.text(_ENCODER - 0.8, _ROWS[1] + 2.4, "N ×", align="right")
    top, middle, turn = _ROWS[1] + 3.4, _ENCODER + _STACK_WIDTH / 2, _ENCODER + _STACK_WIDTH + 2.2
    height = _ROWS[1] + 1.05
    corners = ((middle, top + 1.6), (turn, top + 1.6), (turn, height))
    lit = part == "encoder_decoder"
    sketch.arrow((middle, top - 0.5), *corners, (_DECODER + 1.6, height), lit=lit)
    if part == "training":  # the gradient reaches the encoder through cross-attention
        back, edge, down = height - 0.7, _ENCODER + _STACK_WIDTH, turn - 1.1
        sketch.arrow((_DECODER + 1.6, back), (edge - 1.5, back), lit=True, dashed=True)
        sketch.arrow((down, back), (down, 4.3), (edge + 0.1, 4.3), lit=True, dashed=True)
        sketch.arrow((down, _ROWS[0] + 1.05), (edge - 1.5, _ROWS[0] + 1.05), lit=True, dashed=True)


def _decoder(sketch: Sketch, part: str) -> None:
    _block(sketch, part, _DECODER, ("masked attention", "cross-attention", "feed-forward"))
    sketch.text(_DECODER - 0.8, _ROWS[2] + 2.4, "N ×", align="right")
    middle, right = _DECODER + _STACK_WIDTH / 2, _DECODER + _STACK_WIDTH
    trains, decodes = part == "training", part == "decoding"
    sketch.arrow((middle, _ROWS[2] + 2.9), (middle, 21.3))
    sketch.label("linear, softmax", (_DECODER, 21.3, _STACK_WIDTH, 2.0), lit=trains or decodes)
    if not trains and not decodes:
        sketch.arrow((middle, 23.3), (middle, 25.2))
        return
    x, y = (right + 0.1, 4.3) if trains else (right - 0.2, 1.5)
    corners = ((middle, 24.7), (right + 2.4, 24.7), (right + 2.4, y))
    sketch.arrow((middle, 23.3), *corners, (x, y), lit=True, dashed=trains)
    if trains:
        sketch.text(middle - 0.8, 24.6, "loss", align="right", color=COLORS["violet"], weight="bold")
        for bottom in _ROWS:
            sketch.arrow((right + 2.4, bottom + 1.05), (right - 1.5, bottom + 1.05), lit=True, dashed=True)


def _lens(sketch: Sketch, part: str) -> None:
    """Draw a pane per head, the first magnified from the decoder's lowest box."""
    width, height, box = 23.6, 23.2, _DECODER + _STACK_WIDTH - 1.6
    sketch.polygon(
        [(box, _ROWS[0]), (_LENS, 1.3), (_LENS, 23.5), (box, _ROWS[0] + 2.1)], lit=part == "looking_inside"
    )
    sketch.frame((_LENS, 0.8, width, height), lit=part in ("multi_head_attention", "looking_inside"))
    for depth in (0.6, 1.2):
        left, right, bottom, top = _LENS + depth, _LENS + width + depth, 0.8 + depth, 0.8 + height + depth
        edge = ((left, top - 0.6), (left, top), (right, top), (right, bottom), (right - 0.6, bottom))
        sketch.arrow(*edge, lit=part == "multi_head_attention", head=False, muted_alpha=0.45)


def _chain(sketch: Sketch, part: str) -> None:
    """Draw the steps of one head, from queries, keys and values to its output."""
    lit = _LIT_STEPS.get(part, ())
    vectors = part == "queries_keys_values"
    middle, right, value = _CHAIN + _STEP_WIDTH / 2, _CHAIN + _STEP_WIDTH, _LENS + 21.2
    for name, x in (("query", _CHAIN + 2.6), ("key", right - 2.6), ("value", value)):
        color = COLORS[name]
        box = (x - 1.2, 1.4, 2.4, 2.2)
        sketch.label(name[0].upper(), box, lit=vectors, color=color, size=SIZES["tick"])
        entry = _STEPS["mix"] + 1.1
        path = [(x, entry), (right, entry)] if name == "value" else [(x, _STEPS["scores"])]
        sketch.arrow((x, 3.6), *path, lit=vectors, color=color)
    for (step, bottom), shades in zip(_STEPS.items(), _matrices(), strict=True):
        sketch.label(step, (_CHAIN, bottom, _STEP_WIDTH, 2.2), lit=step in lit, align="left")
        for piece, color, distance in _FORMULAS.get(step, ()):
            ink = "white" if step in lit else COLORS[color]
            sketch.text(right - distance, bottom + 1.1, piece, align="right", color=ink, weight="bold")
        sketch.arrow((middle, bottom + 2.2), (middle, bottom + 3.6))
        if shades is not None:
            sketch.tiles(
                right + 1.3, bottom - 0.34, shades, side=0.74, lit=step in lit or part == "looking_inside"
            )
    sketch.text(middle, _STEPS["mix"] + 4.25, "attended")


def _matrices() -> tuple[Array | None, ...]:
    """Compute the scores of four tokens after each step of a head, as shades from 0 to 1."""
    rows = ([5.0, 1.0, 2.0, 0.5], [2.0, 6.0, 1.0, 3.0], [1.5, 3.5, 4.0, 1.0], [4.5, 1.0, 2.5, 3.5])
    scores = np.array(rows)
    scaled = scores / 2
    masked = np.where(np.tri(4) > 0, scaled, np.nan)
    exponentials = np.exp(masked)
    weights = exponentials / np.nansum(exponentials, axis=-1, keepdims=True)
    return scores / 6, scaled / 6, masked / 6, weights, None

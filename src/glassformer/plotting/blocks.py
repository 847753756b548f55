"""Draw Transformer blocks: the residual stream, and the sublayers that add to it."""

from matplotlib.axes import Axes

from glassformer.plotting.sketch import Sketch
from glassformer.plotting.style import SIZES, WIDTH, styled
from glassformer.validation import require_choice

_SUBLAYERS = {
    "post-norm": ("self-attention", "feed-forward"),
    "pre-norm": ("self-attention", "feed-forward"),
    "decoder": ("masked self-attention", "cross-attention", "feed-forward"),
}

#: The blocks that can be drawn.
BLOCKS = tuple(_SUBLAYERS)

_STEP, _FOOT = 9.4, 2.6  # heights of a sublayer with its norm and arrows, and of the space below
_BOX_WIDTH, _BOX_HEIGHT, _NORM_HEIGHT = 13.2, 2.4, 1.9
_FRAME = 22.8


@styled
def plot_blocks(*names: str) -> Axes:
    """Draw Transformer blocks side by side, from bottom to top.

    The residual stream is highlighted. Each sublayer is beside it and adds to it. The norm is in the stream
    (post-norm) or before the sublayer (pre-norm), which shows the direct path through the block.

    Args:
        *names: blocks from left to right: "post-norm" and "pre-norm" for an encoder, "decoder" for a decoder
            with post-norm.

    Raises:
        ValueError: a name is not one of `BLOCKS`, or there is none.
    """
    if not names:
        raise ValueError("names must hold at least 1, got 0")
    for name in names:
        require_choice(BLOCKS, names=name)
    tallest = max(len(_SUBLAYERS[name]) for name in names)
    sketch = Sketch((_FOOT + _STEP * tallest + 3.4) / 10)
    width = 10 * WIDTH / len(names)
    for place, name in enumerate(names):
        _block(sketch, name, left=place * width + (width - _FRAME) / 2)
    return sketch.ax


def _block(sketch: Sketch, name: str, left: float) -> None:
    stream, pre_norm = left + 3.2, name == "pre-norm"
    sublayers = _SUBLAYERS[name]
    top = _FOOT + _STEP * len(sublayers)
    sketch.frame((left, _FOOT - 0.6, _FRAME, top - _FOOT + 0.4))
    sketch.text(stream + 1.2, top + 1.3, name, align="left", size=SIZES["label"], weight="bold")
    sketch.text(stream + 1.0, 0.9, "one vector per word", align="left")
    sketch.arrow((stream, 0.2), (stream, top + 1.9), lit=True)
    for place, sublayer in enumerate(sublayers):
        _sublayer(sketch, sublayer, stream, _FOOT + _STEP * place, pre_norm=pre_norm)


def _sublayer(sketch: Sketch, name: str, stream: float, bottom: float, *, pre_norm: bool) -> None:
    """Draw a sublayer, which reads from the stream and adds to it."""
    left, middle = stream + 4.2, stream + 4.2 + _BOX_WIDTH / 2
    box = bottom + (3.4 if pre_norm else 1.6)
    plus = box + _BOX_HEIGHT + 1.2
    sketch.arrow((stream, bottom + 0.3), (middle, bottom + 0.3), (middle, box), head=False)
    if pre_norm:
        _norm(sketch, left, bottom + 0.9, _BOX_WIDTH)
    sketch.label(name, (left, box, _BOX_WIDTH, _BOX_HEIGHT))
    if name == "cross-attention":
        end = left + _BOX_WIDTH
        sketch.arrow((end + 1.2, box - 1.4), (end + 1.2, box + 1.2), (end, box + 1.2))
        sketch.text(end + 1.8, box - 2.3, "memory", align="right")
    sketch.arrow((middle, box + _BOX_HEIGHT), (middle, plus), (stream + 1.1, plus))
    sketch.box((stream - 0.9, plus - 0.9, 1.8, 1.8), lit=True, radius=0.9)
    sketch.text(stream, plus, "+", color="white", size=SIZES["label"], weight="bold")
    if not pre_norm:
        _norm(sketch, stream - 2.4, plus + 1.3, 4.8)


def _norm(sketch: Sketch, left: float, bottom: float, width: float) -> None:
    sketch.box((left, bottom, width, _NORM_HEIGHT), lit=True, radius=0.6)
    sketch.text(left + width / 2, bottom + _NORM_HEIGHT / 2, "norm", color="white", weight="bold")

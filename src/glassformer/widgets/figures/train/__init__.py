"""A small translator that the reader trains in the page, complete and without some of its parts."""

from dataclasses import asdict, dataclass

from glassformer.widgets.live import LiveFigure, Table


@dataclass(frozen=True)
class Part:
    """A part of the Transformer or of its training that can be removed.

    Attributes:
        name: name in `learning/run.js`.
        label: name for the reader.
        reason: sentence that says what the part is for.
        section: address of the section that explains it, relative to the book's root.
    """

    name: str
    label: str
    reason: str
    section: str


REMOVABLE_PARTS = (
    Part(
        "positions",
        "positions",
        "Attention ignores the order of the words, so their positions are added to their vectors.",
        "chapters/07_positional_encoding.html#where-does-the-order-come-from",
    ),
    Part(
        "causalMask",
        "causal mask",
        "It hides from each position the words that come later, which the model should predict.",
        "chapters/05_masks.html#the-words-not-yet-written",
    ),
    Part(
        "crossAttention",
        "cross-attention",
        "It lets each French word look at the English words it needs. Without it, all get the same "
        "vector, the mean of the sentence.",
        "chapters/01_rnn_bottleneck.html#one-vector-must-carry-the-sentence",
    ),
    Part(
        "residuals",
        "residual connections",
        "They carry each word unchanged past every layer, and the gradient back.",
        "chapters/08_transformer_block.html#keep-what-was-there-the-residual-connection",
    ),
    Part(
        "layerNorm",
        "layer norm",
        "It gives all vectors the same size, in every layer.",
        "chapters/08_transformer_block.html#keep-the-scale-in-check-layer-norm",
    ),
    Part(
        "scaling",
        "divisor √dₖ",
        "It keeps the scores small, so that the softmax can still choose between words.",
        "chapters/03_scaling.html#what-large-scores-do-to-the-softmax",
    ),
    Part(
        "warmUp",
        "warm-up",
        "It keeps Adam's first steps short, because they rest on very few gradients.",
        "chapters/10_training.html#warm-up",
    ),
    Part(
        "manyHeads",
        "three of four heads",
        "Each head has its own weights, so several heads can attend to several words at once.",
        "chapters/06_multi_head_attention.html#can-one-row-of-weights-answer-two-questions",
    ),
)


def live_train() -> LiveFigure:
    """Train a translator of small sentences in the page, beside one without some parts.

    The models and their training are in `learning/`, in JavaScript; they run in a worker.
    """
    return LiveFigure(
        "train",
        label="Train a Transformer",
        data={"parts": [asdict(part) for part in REMOVABLE_PARTS]},
        heights=(87, 123.8),
        table=Table(
            "Parts that can be removed, and what they are for",
            ("part", "what it is for"),
            [(part.label, part.reason) for part in REMOVABLE_PARTS],
        ),
    )

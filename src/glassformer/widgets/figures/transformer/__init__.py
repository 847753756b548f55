"""The encoder-decoder as a diagram, with shapes, parameters and multiplications of every part."""

from collections.abc import Mapping, Sequence
from typing import Any

from glassformer.validation import require_choice, require_multiple, require_positive_int
from glassformer.widgets.live import LiveFigure, Table

MAX_WORDS = 60
CHOICES = {"norm": ("pre", "post"), "tie_embeddings": ("none", "target", "all"), "positions": ("sinusoidal",)}
SIZES = (
    "d_model",
    "num_heads",
    "d_ff",
    "num_encoder_layers",
    "num_decoder_layers",
    "source_vocabulary_size",
    "target_vocabulary_size",
)


def live_transformer(
    source: Sequence[str], target: Sequence[str], models: Mapping[str, Mapping[str, Any]]
) -> LiveFigure:
    """Show inputs, outputs, parameters and cost of every part of an encoder-decoder.

    Args:
        source: initial source words, 1 to 60.
        target: initial target words without special tokens, at most 60.
        models: configurations by name, as returned by ``dataclasses.asdict``; the first is selected.

    Raises:
        ValueError: ``models`` is empty, a setting is invalid, or there are too many words.
    """
    for name, words, least in (("source", source, 1), ("target", target, 0)):
        if not least <= len(words) <= MAX_WORDS:
            raise ValueError(f"{name} must have {least} to {MAX_WORDS} words, got {len(words)}")
    if not models:
        raise ValueError("models must not be empty")
    for name, model in models.items():
        _require_model(name, model)
    first, given = next(iter(models)), len(target) + 1
    return LiveFigure(
        "transformer",
        label="Through the whole model",
        data={
            "source": _sentence(source),
            "target": _sentence(target),
            "models": {
                name: {key: model[key] for key in (*SIZES, *CHOICES)} for name, model in models.items()
            },
            "maxWords": MAX_WORDS,
        },
        heights=(45.8, 75.9),
        table=Table(
            f"The model “{first}”, all layers, for {len(source)} source words and {given} decoder inputs",
            ("part", "output", "parameters", "multiplications"),
            _rows(models[first], len(source), given),
        ),
    )


def _require_model(name: str, model: Mapping[str, Any]) -> None:
    if missing := [key for key in (*SIZES, *CHOICES) if key not in model]:
        raise ValueError(f"models[{name!r}] must have {', '.join(missing)}")
    require_positive_int(**{size: model[size] for size in SIZES})
    require_multiple(model["d_model"], model["num_heads"])
    for key, choices in CHOICES.items():
        require_choice(choices, **{key: model[key]})


def _sentence(words: Sequence[str]) -> str:
    return " ".join(words).replace("' ", "'")


def _rows(model: Mapping[str, Any], source: int, target: int) -> list[tuple[str, ...]]:
    """List each part with its output shape and its counts over all layers, and the totals."""
    width, inner = model["d_model"], model["d_ff"]
    num_encoder, num_decoder = model["num_encoder_layers"], model["num_decoder_layers"]
    source_table, target_table = (model[f"{side}_vocabulary_size"] * width for side in ("source", "target"))
    tie, vocabulary = model["tie_embeddings"], model["target_vocabulary_size"]
    attention, feed_forward = 4 * width * (width + 1), 2 * width * inner + inner + width
    projection = target_table if tie == "none" else 0
    norms = 2 * num_encoder + 3 * num_decoder + 2 * (model["norm"] == "pre")

    def attention_cost(query: int, key: int) -> int:
        return 2 * (query + key) * width**2 + 2 * query * key * width

    def feed_forward_cost(time: int) -> int:
        return 2 * time * width * inner

    encoded, decoded = (source, width), (target, width)
    parts = [  # name, output, number of copies, parameters and multiplications of each
        ("source embedding", encoded, 1, source_table, 0),
        ("encoder: self-attention", encoded, num_encoder, attention, attention_cost(source, source)),
        ("encoder: feed-forward", encoded, num_encoder, feed_forward, feed_forward_cost(source)),
        ("target embedding", decoded, 1, 0 if tie == "all" else target_table, 0),
        ("decoder: masked attention", decoded, num_decoder, attention, attention_cost(target, target)),
        ("decoder: cross-attention", decoded, num_decoder, attention, attention_cost(target, source)),
        ("decoder: feed-forward", decoded, num_decoder, feed_forward, feed_forward_cost(target)),
        ("all norms", "as the input", norms, 2 * width, 0),
        ("linear, softmax", (target, vocabulary), 1, projection, target * width * vocabulary),
    ]
    counts = [(name, shape, copies * held, copies * cost) for name, shape, copies, held, cost in parts]
    total = ("total", "", sum(held for *_, held, _ in counts), sum(cost for *_, cost in counts))
    return [(name, str(shape), f"{held:,}", f"{cost:,}") for name, shape, held, cost in (*counts, total)]

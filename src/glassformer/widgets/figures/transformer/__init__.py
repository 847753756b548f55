"""Follow a sentence through all boxes of an encoder-decoder, with shapes, parameters and their cost."""

from collections.abc import Mapping, Sequence
from typing import Any

from glassformer.validation import require_choice, require_multiple, require_whole
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
    """Show every box of an encoder-decoder: what comes in and goes out, what it holds and what it costs.

    Args:
        source: the words that the reader starts with, 1 to 60.
        target: the beginning of the translation, without marks, at most 60 words.
        models: sizes and choices, each a configuration as ``dataclasses.asdict`` gives it; the first is shown
            first.

    Raises:
        ValueError: there is no model, a size or a choice does not fit, or there are too many words.
    """
    for name, words, least in (("source", source, 1), ("target", target, 0)):
        if not least <= len(words) <= MAX_WORDS:
            raise ValueError(f"{name} must have {least} to {MAX_WORDS} words, got {len(words)}")
    if not models:
        raise ValueError("models must name at least one model, got none")
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
            f"The model “{first}”, all layers, for {len(source)} source words and {given} given tokens",
            ("part", "gives", "parameters", "multiplications"),
            _rows(models[first], len(source), given),
        ),
    )


def _require_model(name: str, model: Mapping[str, Any]) -> None:
    if missing := [key for key in (*SIZES, *CHOICES) if key not in model]:
        raise ValueError(f"models[{name!r}] must say {', '.join(missing)}")
    require_whole(**{size: model[size] for size in SIZES})
    require_multiple(model["d_model"], model["num_heads"])
    for key, choices in CHOICES.items():
        require_choice(choices, **{key: model[key]})


def _sentence(words: Sequence[str]) -> str:
    return " ".join(words).replace("' ", "'")


def _rows(model: Mapping[str, Any], source: int, target: int) -> list[tuple[str, ...]]:
    """Each part with its shape and its counts over all layers, and their sums."""
    width, inner = model["d_model"], model["d_ff"]
    reads, writes = model["num_encoder_layers"], model["num_decoder_layers"]
    source_table, target_table = (model[f"{side}_vocabulary_size"] * width for side in ("source", "target"))
    tie, vocabulary = model["tie_embeddings"], model["target_vocabulary_size"]
    attention, feed_forward = 4 * width * (width + 1), 2 * width * inner + inner + width
    norms = 2 * reads + 3 * writes + 2 * (model["norm"] == "pre")

    def attending(query: int, key: int) -> int:
        return 2 * (query + key) * width**2 + 2 * query * key * width

    def thinking(time: int) -> int:
        return 2 * time * width * inner

    parts = [
        ("source embedding", (source, width), source_table, 0),
        (
            "encoder: self-attention",
            (source, width),
            reads * attention,
            reads * attending(source, source),
        ),
        ("encoder: feed-forward", (source, width), reads * feed_forward, reads * thinking(source)),
        ("target embedding", (target, width), 0 if tie == "all" else target_table, 0),
        (
            "decoder: masked attention",
            (target, width),
            writes * attention,
            writes * attending(target, target),
        ),
        (
            "decoder: cross-attention",
            (target, width),
            writes * attention,
            writes * attending(target, source),
        ),
        ("decoder: feed-forward", (target, width), writes * feed_forward, writes * thinking(target)),
        ("all norms", "as they take", norms * 2 * width, 0),
        (
            "linear, softmax",
            (target, vocabulary),
            target_table if tie == "none" else 0,
            target * width * vocabulary,
        ),
    ]
    together = ("together", "", sum(part[2] for part in parts), sum(part[3] for part in parts))
    return [(name, str(shape), f"{held:,}", f"{cost:,}") for name, shape, held, cost in (*parts, together)]

"""Replay of a training run: curves, translations and attention maps at each checkpoint."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.validation import require_shape
from glassformer.widgets.live import LiveFigure, Table

MAX_CHARACTERS = 80  # shown of a translation: early ones may be very long
ROW = 1.3125  # height in the large map, in rem

Curve = Mapping[str, Sequence[float | int]]


def live_training(
    sentences: Sequence[str],
    references: Sequence[str],
    *,
    learned: Sequence[bool],
    steps: Sequence[int],
    bleu: Sequence[float | int],
    translations: Sequence[Sequence[str]],
    training: Curve,
    validation: Curve,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    maps: Float[Array, "checkpoints layer head target source"],
) -> LiveFigure:
    """Show a run at its checkpoints: loss, learning rate, BLEU, translations and cross-attention maps.

    Args:
        sentences: source sentences translated at each checkpoint; the maps belong to the last.
        references: reference translation of each sentence.
        learned: flag of each sentence that is part of the training data.
        steps: steps of the checkpoints, in ascending order.
        bleu: validation BLEU at each checkpoint.
        translations: translations of all sentences at each checkpoint.
        training: logged ``step``, ``loss`` and ``learning_rate``, from the first checkpoint or earlier.
        validation: ``step`` and ``loss`` of validation, which may skip checkpoints.
        source_tokens: tokens of the last sentence including the end.
        target_tokens: decoder labels of the maps including the end, the same at all checkpoints.
        maps: cross-attention weights between 0 and 1.

    Raises:
        ValueError: lengths or shapes do not match, the steps do not increase, or a weight is out of range.
    """
    _require_equal(sentences=sentences, references=references, learned=learned)
    _require_equal(steps=steps, bleu=bleu, translations=translations)
    for each in translations:
        _require_equal(sentences=sentences, translations=each)
    for name, curve, lines in (
        ("training", training, ("step", "loss", "learning_rate")),
        ("validation", validation, ("step", "loss")),
    ):
        _require_equal(**{f"{name}[{line!r}]": curve[line] for line in lines})
    if not steps or list(steps) != sorted(set(steps)) or not 0 < training["step"][0] <= steps[0]:
        raise ValueError(f"steps must increase and not start before those of training, got {list(steps)}")
    require_shape((len(steps), *maps.shape[1:3], len(target_tokens), len(source_tokens)), maps=maps)
    if not (maps.min() >= 0 and maps.max() <= 1):
        raise ValueError(f"maps must lie between 0 and 1, got {maps.min():g} to {maps.max():g}")
    validated = dict(zip(validation["step"], validation["loss"], strict=True))
    logged = np.searchsorted(training["step"], steps, side="right") - 1
    checkpoints: list[dict[str, Any]] = [
        {
            "step": step,
            "bleu": bleu[place],
            "loss": training["loss"][logged[place]],
            "validationLoss": validated.get(step),
            "rate": training["learning_rate"][logged[place]],
            "translations": [_shorten(text) for text in translations[place]],
            "changed": [
                _changed_words(_shorten(now), _shorten(before))
                for now, before in zip(translations[place], translations[max(0, place - 1)], strict=True)
            ],
            "maps": " ".join(map(str, (1000 * maps[place]).round().astype(int).flat)),
        }
        for place, step in enumerate(steps)
    ]
    return LiveFigure(
        "training",
        label="A training run, replayed",
        data={
            "sentences": list(sentences),
            "references": list(references),
            "learned": list(map(bool, learned)),
            "checkpoints": checkpoints,
            "training": {line: list(training[line]) for line in ("step", "loss", "learning_rate")},
            "validation": {line: list(validation[line]) for line in ("step", "loss")},
            "sourceTokens": list(source_tokens),
            "targetTokens": list(target_tokens),
            "numLayers": maps.shape[1],
            "numHeads": maps.shape[2],
        },
        heights=(50 + ROW * len(target_tokens), 83.7 + ROW * len(target_tokens)),
        table=Table(
            f"The run at its checkpoints, and its translations of “{sentences[-1]}”",
            ("step", "training loss", "learning rate", "BLEU", "translation"),
            [_row(**each) for each in checkpoints],
        ),
    )


def _row(*, step: int, loss: float, rate: float, bleu: float, translations: list[str], **_: Any) -> list[str]:
    return [f"{step:,}", f"{loss:.2f}", f"{rate:.5f}", f"{bleu:.1f}", translations[-1]]


def _require_equal(**sequences: Sequence[Any]) -> None:
    lengths = {name: len(sequence) for name, sequence in sequences.items()}
    if len(set(lengths.values())) != 1:
        *names, last = lengths
        raise ValueError(
            f"{', '.join(names)} and {last} must have the same length, got {list(lengths.values())}"
        )


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def _changed_words(text: str, before: str) -> list[int]:
    """Find the words of a text that are not in a longest common subsequence with the one before."""
    words = text.split(" ")
    matches = SequenceMatcher(None, before.split(" "), words, autojunk=False).get_matching_blocks()
    same = {place for block in matches for place in range(block.b, block.b + block.size)}
    return [place for place in range(len(words)) if place not in same]

"""Replay a training run: its curves, and at each checkpoint what it said and where its heads looked."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from glassformer.validation import require_shape
from glassformer.widgets.live import LiveFigure, Table

MAX_CHARACTERS = 80  # of a translation that are shown: an early one may go on and on
ROW = 1.3125  # rem, of the large map

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
    """Show a run at its checkpoints: loss, learning rate, BLEU, translations, and maps of cross-attention.

    Args:
        sentences: what is translated at each checkpoint; the maps are of the last.
        references: our own translation of each.
        learned: whether the run learned from the sentence.
        steps: at which steps the checkpoints were written, rising.
        bleu: the score of the validation sentences at each checkpoint.
        translations: what came out at each checkpoint, one for each sentence.
        training: ``step``, ``loss`` and ``learning_rate`` of the log, from the first checkpoint or before.
        validation: ``step`` and ``loss`` of the validation sentences, not for each checkpoint.
        source_tokens: the last sentence in tokens, its end among them.
        target_tokens: the tokens that are written, the end among them, the same at all checkpoints.
        maps: the weights of cross-attention, between 0 and 1.

    Raises:
        ValueError: two arguments do not fit each other, the steps do not rise, or a weight is none.
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
        raise ValueError(f"steps must rise, and not begin before those of training, got {list(steps)}")
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
            f"The run at its checkpoints, and what it made of “{sentences[-1]}”",
            ("step", "training loss", "learning rate", "BLEU", "translation"),
            [
                (
                    f"{each['step']:,}",
                    f"{each['loss']:.2f}",
                    f"{each['rate']:.5f}",
                    f"{each['bleu']:.1f}",
                    each["translations"][-1],
                )
                for each in checkpoints
            ],
        ),
    )


def _require_equal(**sequences: Sequence[Any]) -> None:
    lengths = {name: len(sequence) for name, sequence in sequences.items()}
    if len(set(lengths.values())) != 1:
        *names, last = lengths
        raise ValueError(
            f"{', '.join(names)} and {last} must be equally long, got lengths {list(lengths.values())}"
        )


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def _changed_words(text: str, before: str) -> list[int]:
    """Say which words of a text are not, in their order, words of the one before."""
    words = text.split(" ")
    kept = SequenceMatcher(None, before.split(" "), words, autojunk=False).get_matching_blocks()
    same = {place for block in kept for place in range(block.b, block.b + block.size)}
    return [place for place in range(len(words)) if place not in same]

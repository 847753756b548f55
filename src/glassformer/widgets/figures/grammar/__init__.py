"""A small translator of grammar sentences with exchangeable words, its pronoun and its attention maps."""

import base64
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.widgets.live import LiveFigure, Table

NUM_SPECIAL_TOKENS = 3  # ids below those of the words: padding, start, end
FRAME = ("the", "didn't", "because", "it", "was", "too", "very")
PRONOUNS = ("il", "elle")

Word = Mapping[str, Any]


def live_grammar(
    weights: Mapping[str, Array],
    config: Mapping[str, Any],
    *,
    english: Sequence[str],
    french: Sequence[str],
    animals: Sequence[Word],
    places: Sequence[Word],
    verbs: Sequence[Word],
    adjectives: Sequence[Word],
    start: Word,
    translations: Mapping[str, str],
) -> LiveFigure:
    """Run a small translator in the page on the sentences of the grammar, with a map for every head.

    Args:
        weights: parameters of the model by name; the page uses them in float16.
        config: configuration of the model.
        english: English words in the order of their ids, without special tokens.
        french: French words, likewise.
        animals: possible subjects, each with ``english``, ``french`` and ``gender``.
        places: possible objects, likewise.
        verbs: possible verbs, each with ``infinitive`` and ``past``.
        adjectives: adjectives in ``english``, each of which ``describes`` an "animal" or a "place".
        start: initial sentence: ``subject``, ``verb``, ``object``, ``adjective`` and the flag ``negated``.
        translations: example translations for the static table.

    Raises:
        ValueError: a word or a size does not fit the model, or a weight is not finite in float16.
    """
    nouns = [*animals, *places]
    of_english = [verb[form] for verb in verbs for form in ("infinitive", "past")]
    of_english += [word["english"] for word in (*nouns, *adjectives)]
    _require_words("english", english, [*FRAME, *of_english])
    _require_words("french", french, [*PRONOUNS, *[noun["french"] for noun in nouns]])
    for side, words in {"source": english, "target": french}.items():
        expected, actual = len(words) + NUM_SPECIAL_TOKENS, config[f"{side}_vocabulary_size"]
        if actual != expected:
            raise ValueError(f"config must have a {side}_vocabulary_size of {expected}, got {actual}")
    for role, choices in {
        "subject": animals,
        "verb": verbs,
        "object": places,
        "adjective": adjectives,
    }.items():
        if start[role] not in choices:
            raise ValueError(f"start must have one of the choices as its {role}, got {start[role]}")
    return LiveFigure(
        "grammar",
        label="A translator of small sentences",
        data={
            "config": config,
            "weights": _pack(weights),
            "english": english,
            "french": french,
            "animals": animals,
            "places": places,
            "verbs": verbs,
            "adjectives": adjectives,
            "start": start,
        },
        heights=(57.7, 80.3),
        table=Table(
            "Example translations of this model",
            ("English", "French"),
            list(translations.items()),
        ),
    )


def _require_words(name: str, words: Sequence[str], needed: Iterable[str]) -> None:
    if missing := sorted(set(needed) - set(words)):
        raise ValueError(f"{name} must hold all words of the grammar, but lacks {', '.join(missing)}")


def _pack(weights: Mapping[str, Array]) -> str:
    """Encode weights as a safetensors file in float16, in base64."""
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    reached = 0
    for name, array in weights.items():
        with np.errstate(over="ignore"):
            halves = np.asarray(array).astype("<f2")
        if not np.isfinite(halves).all():
            raise ValueError(f"weights must be finite in float16, but {name} is not")
        parts.append(halves.tobytes())
        begin, reached = reached, reached + halves.nbytes
        header[name] = {"dtype": "F16", "shape": list(halves.shape), "data_offsets": [begin, reached]}
    text = json.dumps(header).encode()
    return base64.b64encode(struct.pack("<Q", len(text)) + text + b"".join(parts)).decode()

"""Let the reader exchange words in a sentence, and look into a small translator that writes il or elle."""

import base64
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.widgets.live import LiveFigure, Table

NUM_SPECIAL_TOKENS = 3  # ids before those of the words: padding, start, end
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
    """Run a small translator in the page, on the sentences of the grammar, with a map for every head.

    Args:
        weights: the model's parameters by name; the page gets them rounded to float16.
        config: its sizes and choices, under the names of its configuration.
        english: the English words in the order of their ids, without the marks.
        french: the French words, likewise.
        animals: what can be the subject: its ``english``, its ``french``, and its ``gender``.
        places: what can be the object, likewise.
        verbs: what the one does to the other, or does not: its ``infinitive`` and its ``past``.
        adjectives: what "it" can be, in ``english``, and whether that ``describes`` an "animal" or a "place".
        start: the sentence that stands there first: ``subject``, ``verb``, ``object`` and ``adjective``, one
            of the above each, and whether it is ``negated``.
        translations: what the model makes of some sentences, for where no script runs.

    Raises:
        ValueError: a word or a size does not fit the model, or a weight is too large for float16.
    """
    nouns = [*animals, *places]
    of_english = [verb[form] for verb in verbs for form in ("infinitive", "past")]
    of_english += [word["english"] for word in (*nouns, *adjectives)]
    _require_words("english", english, [*FRAME, *of_english])
    _require_words("french", french, [*PRONOUNS, *[noun["french"] for noun in nouns]])
    for side, words in {"source": english, "target": french}.items():
        wanted, given = len(words) + NUM_SPECIAL_TOKENS, config[f"{side}_vocabulary_size"]
        if given != wanted:
            raise ValueError(f"config must have a {side}_vocabulary_size of {wanted}, got {given}")
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
            "What the translator of this page makes of some sentences",
            ("English", "French"),
            list(translations.items()),
        ),
    )


def _require_words(name: str, words: Sequence[str], needed: Iterable[str]) -> None:
    if missing := sorted(set(needed) - set(words)):
        raise ValueError(f"{name} must hold all words of the grammar, but lacks {', '.join(missing)}")


def _pack(weights: Mapping[str, Array]) -> str:
    """Write weights as a file of safetensors, in half precision, in base64."""
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

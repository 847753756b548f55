"""Which exercises there are, and the one way in which an attempt at any of them is judged."""

import importlib
from typing import Any

from glassformer.exercises.checking import Check, Verdict

CHAPTERS = (
    "rnn_bottleneck",
    "queries_keys_values",
    "scaling",
    "softmax",
    "masks",
    "multi_head_attention",
    "positional_encoding",
    "transformer_block",
    "encoder_decoder",
    "training",
    "decoding",
    "looking_inside",
)


def list_checks(slug: str) -> dict[str, Check]:
    """Give the checks of a chapter, each by the name of what the learner defines.

    Raises:
        ValueError: there is no such chapter.
    """
    if slug not in CHAPTERS:
        raise ValueError(f"chapter must be one of {', '.join(CHAPTERS)}, got {slug!r}")
    module = importlib.import_module(f"glassformer.exercises.{slug}")
    return {found.name: found for found in vars(module).values() if isinstance(found, Check)}


def judge(slug: str, name: str, attempt: Any, seed: int = 0) -> Verdict:
    """Judge an attempt at an exercise.

    Args:
        slug: of the chapter.
        name: of the exercise: what the learner defines.
        attempt: what the learner has defined; None or ``...`` if nothing.
        seed: of the cases. The notebooks judge with 0.

    Raises:
        ValueError: there is no such chapter or exercise.
    """
    checks = list_checks(slug)
    if name not in checks:
        raise ValueError(f"exercise of {slug} must be one of {', '.join(checks)}, got {name!r}")
    return checks[name].judge(attempt, seed)

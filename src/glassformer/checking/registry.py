"""List the book's chapters in order and find the module that a package holds for one of them."""

import importlib
from types import ModuleType

#: Chapters in reading order, by the slug that names their notebook, their exercises and their quiz.
CHAPTERS = (
    "before_you_begin",
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
    "cost",
)


def chapter_module(package: str, slug: str) -> ModuleType:
    """Import a chapter's module from a package that holds one module per chapter.

    Raises:
        ValueError: the book has no such chapter.
    """
    if slug not in CHAPTERS:
        raise ValueError(f"chapter must be one of {', '.join(CHAPTERS)}, got {slug!r}")
    return importlib.import_module(f"{package}.{slug}")

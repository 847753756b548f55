"""Batches of token ids: one row per sentence, filled up with a pad id."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from glassformer.validation import require_ids, require_integers


def require_sentences(**sentences: Tensor) -> None:
    """Check that token ids are integers in two axes, without reading their values.

    A model never reads a value of a tensor back to the host: on an accelerator that would wait for all work
    under way. `explain_bad_ids` names ids outside the vocabulary where it costs nothing.
    """
    require_integers(**sentences)
    for name, ids in sentences.items():
        if ids.ndim != 2:
            raise ValueError(f"{name} must have 2 axes (sentence, token), got shape {tuple(ids.shape)}")


@contextmanager
def explain_bad_ids(name: str, ids: Tensor, vocabulary_size: int) -> Iterator[None]:
    """Turn the IndexError of an embedding on the CPU into a ValueError that names the ids."""
    try:
        yield
    except IndexError:
        require_ids(name, ids, vocabulary_size)
        raise

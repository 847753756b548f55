"""Validation of batches of token ids: one row per sentence, padded with a pad id."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from glassformer.validation import require_ids, require_integers


def require_sentences(**sentences: Tensor) -> None:
    """Check that token ids are integers with two axes, without reading their values.

    Reading the values would copy them to the CPU, and on an accelerator the copy waits for all pending work.
    On a CPU, `explain_bad_ids` reports ids outside the vocabulary at no extra cost.
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

"""Validation of batches of token ids: one row per sentence, padded with a pad id."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from glassformer.validation import require_ids, require_integers


def require_sentences(**sentences: Tensor) -> None:
    """Check that arrays of token ids hold integers, have two axes and are not empty.

    The values are not read, because on an accelerator this would wait for all pending work. On a CPU,
    `explain_bad_ids` reports ids outside the vocabulary at no extra cost.

    Args:
        **sentences: token ids by argument name; an error names the argument.

    Raises:
        ValueError: an array has another dtype, has another number of axes, or is empty.
    """
    require_integers(**sentences)
    for name, ids in sentences.items():
        if ids.ndim != 2:
            raise ValueError(f"{name} must have 2 axes (sentence, token), got shape {tuple(ids.shape)}")


@contextmanager
def explain_bad_ids(name: str, ids: Tensor, vocabulary_size: int) -> Iterator[None]:
    """Turn an IndexError, raised on the CPU for ids outside the vocabulary, into a clear ValueError.

    Args:
        name: name of the argument that holds the ids.
        ids: token ids that the block looks up.
        vocabulary_size: number of tokens in the vocabulary.

    Raises:
        ValueError: the block raised an IndexError, and an id is outside the vocabulary.
    """
    try:
        yield
    except IndexError:
        require_ids(name, ids, vocabulary_size)
        raise

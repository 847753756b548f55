"""Token ids come as sentences: one row each, filled up with a pad id."""

import torch
from torch import Tensor

from glassformer.validation import require_ids


def require_sentences(name: str, ids: Tensor, vocabulary_size: int) -> None:
    """The ids are of the vocabulary, in two axes: sentence and token."""
    if not torch.compiler.is_compiling():  # reading values would break the graph
        require_ids(name, ids, vocabulary_size)
    if ids.ndim != 2:
        raise ValueError(f"{name} must have 2 axes (sentence, token), got shape {tuple(ids.shape)}")

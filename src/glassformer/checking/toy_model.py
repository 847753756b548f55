"""A toy model that is cheap to differentiate many times."""

import torch
from numpy.random import Generator
from torch import Tensor, nn

from glassformer.checking.compare import sample


class AttentionPool(nn.Module):
    """Attention pooling with dropout and a scalar readout."""

    def __init__(self, rng: Generator, size: int) -> None:
        super().__init__()
        self.query, self.readout = torch.tensor(sample(rng, 2, size))
        self.dropout = nn.Dropout(0.5)

    def forward(self, vectors: Tensor, attn_mask: Tensor | None = None) -> Tensor:
        """Return one number for the vectors that the mask marks True."""
        query, readout = self.query.to(vectors.dtype), self.readout.to(vectors.dtype)
        scores = vectors @ query
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        pooled = scores.softmax(-1) @ torch.tanh(vectors)
        return self.dropout(pooled) @ readout

    def __repr__(self) -> str:
        return "a model with dropout"

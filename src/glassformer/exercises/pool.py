"""A stand-in for a model, small enough to be asked again and again."""

import torch
from numpy.random import Generator
from torch import Tensor, nn

from glassformer.exercises.judging import sample


class Pool(nn.Module):
    """Attends to what it may, with dropout while it trains, and gives one number."""

    def __init__(self, rng: Generator, size: int) -> None:
        super().__init__()
        self.query, self.readout = torch.tensor(sample(rng, 2, size))
        self.dropout = nn.Dropout(0.5)

    def forward(self, vectors: Tensor, may_look: Tensor | None = None) -> Tensor:
        """Give one number for the vectors, of which those are read that may be looked at."""
        query, readout = self.query.to(vectors.dtype), self.readout.to(vectors.dtype)
        scores = vectors @ query
        if may_look is not None:
            scores = scores.masked_fill(~may_look, -torch.inf)
        pooled = scores.softmax(-1) @ torch.tanh(vectors)
        return self.dropout(pooled) @ readout

    def __repr__(self) -> str:
        return "a model with dropout"

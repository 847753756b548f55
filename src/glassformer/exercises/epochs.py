"""One pass of a small model over its batches: the right one, and those that make a slip."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from torch import Tensor, nn

from glassformer.exercises.checking import Slip


class Reader(nn.Module):
    """A small model with dropout: called with a batch, it gives the surprise at each of its tokens."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        self.output_proj = nn.Linear(5, 7)
        nn.init.normal_(self.output_proj.weight, generator=generator)
        nn.init.zeros_(self.output_proj.bias)

    def forward(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """Give −log p of each wanted token."""
        x, wanted_ids = batch
        logits = self.output_proj(self.dropout(x))
        return nn.functional.cross_entropy(logits, wanted_ids, reduction="none")

    def __deepcopy__(self, memo: Any) -> "Reader":
        return self  # it is there to be changed


class Descent(torch.optim.SGD):
    """Plain gradient descent, which a check may watch without making a copy."""

    def __deepcopy__(self, memo: Any) -> "Descent":
        return self


class Batches:
    """Batches of 3, 8 and 1 tokens, to be gone through as often as wanted."""

    def __init__(self, generator: torch.Generator) -> None:
        self._batches = [
            (torch.randn(size, 5, generator=generator), torch.randint(7, (size,), generator=generator))
            for size in (3, 8, 1)
        ]

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return iter(self._batches)

    def __deepcopy__(self, memo: Any) -> "Batches":
        return self


Epoch = Callable[[Reader, Descent, Batches, Batches], float]

#: What can go wrong, and what to say to it.
SLIPS = {
    "adds": "gradients are never cleared: each step also repeats all those before it",
    "clears": "gradients are cleared before they are used: nothing is learned",
    "sums": "a batch is corrected by the sum of its surprises: the step grows with the batch, take the mean",
    "no dropout": "it trains in evaluation mode: dropout is off",
    "dropout": "it evaluates in training mode: dropout is still on",
    "means": "the mean of the batches' means: a token of a small batch counts more",
}
COMBINATIONS = [
    slips
    for number in range(4)
    for slips in itertools.combinations(SLIPS, number)
    if "clears" not in slips or not {"adds", "sums", "no dropout"} & set(slips)  # nothing is learned anyway
]


def epoch_with(*slips: str) -> Epoch:
    """Write the epoch that makes these slips."""

    def run(model: Reader, optimizer: Descent, batches: Batches, held_out: Batches) -> float:
        model.train("no dropout" not in slips)
        for batch in batches:
            if "adds" not in slips:
                optimizer.zero_grad()
            surprises = model(batch)
            (surprises.sum() if "sums" in slips else surprises.mean()).backward()
            if "clears" in slips:
                optimizer.zero_grad()
            optimizer.step()
        model.train("dropout" in slips)
        with torch.no_grad():
            each = [model(batch) for batch in held_out]
        if "means" in slips:
            return float(np.mean([surprises.mean().item() for surprises in each]))
        return torch.cat(each).mean().item()

    return run


def run_epoch(epoch: Epoch) -> tuple[Array, float]:
    """Give the weights after an epoch, and the loss it returns; chance is the same each time."""
    generator = torch.Generator().manual_seed(10)
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(10)
        model, batches, held_out = Reader(generator), Batches(generator), Batches(generator)
        loss = epoch(model, Descent(model.parameters(), 0.5), batches, held_out)
    try:
        return model.output_proj.weight.detach().numpy().copy(), float(loss)
    except (TypeError, ValueError) as error:
        raise Slip(f"wanted one number, the held-out loss, got {type(loss).__name__}") from error

"""One pass of a small model over its batches: the right one, and those that make a slip."""

import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch
from numpy import ndarray as Array
from torch import Tensor, nn

from glassformer.exercises.slips import Slip


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


class Batches:
    """Batches of 3, 8 and 1 tokens, to be gone through as often as wanted."""

    def __init__(self, generator: torch.Generator) -> None:
        self._batches = [
            (torch.randn(size, 5, generator=generator), torch.randint(7, (size,), generator=generator))
            for size in (3, 8, 1)
        ]

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return iter(self._batches)

    def __len__(self) -> int:
        return len(self._batches)


Epoch = Callable[[Reader, torch.optim.SGD, Batches, Batches], float]

#: What can go wrong, and what to say to it: while the model learns, and when it is asked.
_OF_LEARNING = {
    "adds": "gradients are not cleared between steps: each also repeats all those before it",
    "stays": "nothing is learned: a step needs gradients that are computed before it, and not yet cleared",
    "once": "one correction for all batches: the weights are to be corrected after each",
    "sums": "a batch is corrected by the sum of its surprises: the step grows with the batch, take the mean",
    "no dropout": "it trains in evaluation mode: dropout is off",
}
_OF_ASKING = {
    "dropout": "it evaluates in training mode: dropout is still on",
    "means": "the mean of the batches' means: a token of a small batch counts more",
    "total": "the sum of the surprises of all held-out tokens: their mean is wanted",
    "learned": "it evaluates the batches it learned from: the held-out ones are asked for",
}
SLIPS = _OF_LEARNING | _OF_ASKING


def _combine(slips: Iterable[str], *exclusive: set[str]) -> list[tuple[str, ...]]:
    """List what can go wrong together, the fewest first."""
    names = tuple(slips)
    numbers = range(len(names))
    together = itertools.chain.from_iterable(itertools.combinations(names, number) for number in numbers)
    return [some for some in together if not any(len(few & {*some}) > 1 for few in exclusive)]


LEARNING = _combine(_OF_LEARNING, {"adds", "stays", "once"}, {"stays", "sums"}, {"stays", "no dropout"})
ASKING = _combine(_OF_ASKING, {"means", "total"})


def epoch_with(*slips: str) -> Epoch:
    """Write the epoch that makes these slips."""

    def run(model: Reader, optimizer: torch.optim.SGD, batches: Batches, held_out: Batches) -> float:
        model.train("no dropout" not in slips)
        for batch in batches:
            if not {"adds", "once"} & {*slips}:
                optimizer.zero_grad()
            surprises = model(batch)
            (surprises.sum() if "sums" in slips else surprises.mean()).backward()
            if not {"stays", "once"} & {*slips}:
                optimizer.step()
        if "once" in slips:
            optimizer.step()
        model.train("dropout" in slips)
        with torch.no_grad():
            each = [model(batch) for batch in (batches if "learned" in slips else held_out)]
        if "means" in slips:
            return float(np.mean([surprises.mean().item() for surprises in each]))
        every = torch.cat(each)
        return (every.sum() if "total" in slips else every.mean()).item()

    return run


def run_epoch(epoch: Epoch, seed: int = 0) -> tuple[Array, float]:
    """Give the weights after an epoch, and the loss it returns; chance is the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(seed)
        model, batches, held_out = Reader(generator), Batches(generator), Batches(generator)
        loss = epoch(model, torch.optim.SGD(model.parameters(), 0.5), batches, held_out)
    try:
        return model.output_proj.weight.detach().numpy().copy(), float(loss)
    except (TypeError, ValueError) as error:
        raise Slip(f"wanted one number, the held-out loss, got {type(loss).__name__}") from error


def name_slips(weights: Array, loss: float, seed: int) -> tuple[str, ...] | None:
    """Say which slips an epoch made that came to these weights and this loss; None if no usual ones."""
    for learning in LEARNING:
        if np.allclose(weights, run_epoch(epoch_with(*learning), seed)[0], atol=1e-5):
            break
    else:
        return None
    for asking in ASKING:
        if np.isclose(loss, run_epoch(epoch_with(*learning, *asking), seed)[1], atol=1e-5):
            return (*learning, *asking)
    return None

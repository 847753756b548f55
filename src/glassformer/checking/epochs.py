"""Run one training epoch of a toy model, correctly or with usual slips, to recognise those of an attempt."""

import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch
from numpy import ndarray as Array
from torch import Tensor, nn

from glassformer.checking.slips import Slip


class ToyClassifier(nn.Module):
    """Linear classifier with dropout that returns the loss of each token in a batch."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        self.output_proj = nn.Linear(5, 7)
        nn.init.normal_(self.output_proj.weight, generator=generator)
        nn.init.zeros_(self.output_proj.bias)

    def forward(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """Return −log p of each label."""
        x, labels = batch
        logits = self.output_proj(self.dropout(x))
        return nn.functional.cross_entropy(logits, labels, reduction="none")


class Batches:
    """Batches of 3, 8 and 1 tokens."""

    def __init__(self, generator: torch.Generator) -> None:
        self._batches = [
            (torch.randn(size, 5, generator=generator), torch.randint(7, (size,), generator=generator))
            for size in (3, 8, 1)
        ]

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return iter(self._batches)

    def __len__(self) -> int:
        return len(self._batches)


Epoch = Callable[[ToyClassifier, torch.optim.SGD, Batches, Batches], float]

#: Messages for slips in the training loop and in the evaluation, keyed by the name used below.
_TRAINING_SLIPS = {
    "adds": "you do not clear the gradients between steps, so each step repeats all earlier gradients",
    "stays": "your weights never change: call `step` after `backward` and before you clear the gradients",
    "once": "you update the weights once for all batches; update them after every batch",
    "sums": "you sum the losses of a batch, so larger batches take larger steps; take their mean",
    "no dropout": "you train in evaluation mode, without dropout",
}
_EVALUATION_SLIPS = {
    "dropout": "you evaluate in training mode, with dropout",
    "means": "you average the means of the batches, so tokens of small batches count more",
    "total": "you return the sum of the held-out losses; return their mean",
    "learned": "you evaluate the training batches; evaluate the held-out ones",
}
SLIPS = _TRAINING_SLIPS | _EVALUATION_SLIPS


def _combine(slips: Iterable[str], *exclusive: set[str]) -> list[tuple[str, ...]]:
    """List the combinations of slips that can occur together, shortest first."""
    names = tuple(slips)
    sizes = range(len(names))
    combinations = itertools.chain.from_iterable(itertools.combinations(names, size) for size in sizes)
    return [chosen for chosen in combinations if not any(len(group & {*chosen}) > 1 for group in exclusive)]


TRAINING = _combine(_TRAINING_SLIPS, {"adds", "stays", "once"}, {"stays", "sums"}, {"stays", "no dropout"})
EVALUATION = _combine(_EVALUATION_SLIPS, {"means", "total"})


def epoch_with(*slips: str) -> Epoch:
    """Return an epoch function that makes these slips."""

    def run(model: ToyClassifier, optimizer: torch.optim.SGD, batches: Batches, held_out: Batches) -> float:
        model.train("no dropout" not in slips)
        for batch in batches:
            if not {"adds", "once"} & {*slips}:
                optimizer.zero_grad()
            losses = model(batch)
            (losses.sum() if "sums" in slips else losses.mean()).backward()
            if not {"stays", "once"} & {*slips}:
                optimizer.step()
        if "once" in slips:
            optimizer.step()
        model.train("dropout" in slips)
        with torch.no_grad():
            each = [model(batch) for batch in (batches if "learned" in slips else held_out)]
        if "means" in slips:
            return float(np.mean([losses.mean().item() for losses in each]))
        every = torch.cat(each)
        return (every.sum() if "total" in slips else every.mean()).item()

    return run


def run_epoch(epoch: Epoch, seed: int = 0) -> tuple[Array, float]:
    """Run an epoch with a fixed seed; return the final weights and the loss that it returned."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(seed)
        model, batches, held_out = ToyClassifier(generator), Batches(generator), Batches(generator)
        loss = epoch(model, torch.optim.SGD(model.parameters(), 0.5), batches, held_out)
    try:
        return model.output_proj.weight.detach().numpy().copy(), float(loss)
    except (TypeError, ValueError) as error:
        kind = type(loss).__name__
        raise Slip(f"expected the held-out loss, one number, yours is of type {kind}") from error


def name_slips(weights: Array, loss: float, seed: int) -> tuple[str, ...] | None:
    """Name the slips that lead to these weights and this loss; None if no combination does."""
    for training in TRAINING:
        if np.allclose(weights, run_epoch(epoch_with(*training), seed)[0], atol=1e-5):
            break
    else:
        return None
    for evaluation in EVALUATION:
        if np.isclose(loss, run_epoch(epoch_with(*training, *evaluation), seed)[1], atol=1e-5):
            return (*training, *evaluation)
    return None

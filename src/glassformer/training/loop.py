"""The shortest training loop: draw a batch, compute the loss, update the weights."""

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Int
from torch import Tensor

from glassformer.modules.transformer import Transformer
from glassformer.training.loss import teacher_forced_loss
from glassformer.validation import require_positive, require_positive_int, require_same_batch

Loss = Callable[[Transformer, Tensor, Tensor], Tensor]
Batch = tuple[Int[Tensor, "batch source"], Int[Tensor, "batch target"]]


def draw_batches(
    source_ids: Int[Tensor, "sentences source"],
    target_ids: Int[Tensor, "sentences target"],
    *,
    batch_size: int,
    generator: torch.Generator,
) -> Iterator[Batch]:
    """Yield shuffled batches of sentence pairs indefinitely, epoch after epoch.

    Args:
        source_ids: all source sentences, on any device.
        target_ids: translations of the source sentences, on the same device.
        batch_size: number of pairs per batch; the incomplete last batch of an epoch is dropped.
        generator: random number generator for the order, on the CPU: every device sees the same batches.

    Raises:
        ValueError: the numbers of sentences and translations differ or are below ``batch_size``, or
            ``batch_size`` is not a positive integer.
    """
    require_same_batch(source_ids=source_ids, target_ids=target_ids)
    require_positive_int(batch_size=batch_size)
    if batch_size > len(source_ids):
        raise ValueError(f"batch_size ({batch_size}) must be at most the number of pairs ({len(source_ids)})")
    return _epochs(source_ids, target_ids, batch_size, generator)


def train(
    model: Transformer,
    batches: Iterator[Batch],
    *,
    steps: int,
    learning_rate: float,
    loss: Loss = teacher_forced_loss,
) -> list[float]:
    """Train a model with Adam and a one-cycle learning rate: warm-up to a peak, then decay almost to zero.

    Args:
        model: model to train; it is left in evaluation mode.
        batches: iterator over at least ``steps`` batches on the model's device, as from `draw_batches`.
        steps: number of optimizer updates, one per batch.
        learning_rate: peak learning rate.
        loss: function that computes the loss from the model, source ids and target ids.

    Returns:
        The loss of each step.

    Raises:
        ValueError: ``steps`` is not a positive integer, or ``learning_rate`` is not positive.
    """
    require_positive_int(steps=steps)
    require_positive(learning_rate=learning_rate)
    optimizer = torch.optim.Adam(model.parameters(), learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, total_steps=steps, cycle_momentum=False
    )
    losses = []
    model.train()
    for _ in range(steps):
        step_loss = loss(model, *next(batches))
        optimizer.zero_grad()
        step_loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        losses.append(step_loss.detach())
    model.eval()
    return torch.stack(losses).tolist()


def _epochs(
    source_ids: Tensor, target_ids: Tensor, batch_size: int, generator: torch.Generator
) -> Iterator[Batch]:
    while True:
        order = torch.randperm(len(source_ids), generator=generator).to(source_ids.device)
        for first in range(0, len(order) - batch_size + 1, batch_size):
            rows = order[first : first + batch_size]
            yield source_ids[rows], target_ids[rows]

"""The shortest loop that trains: draw a batch, ask, correct."""

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Int
from torch import Tensor

from glassformer.modules.transformer import Transformer
from glassformer.training.loss import teacher_forced_loss
from glassformer.validation import require_positive, require_same_batch, require_whole

Loss = Callable[[Transformer, Tensor, Tensor], Tensor]
Batch = tuple[Int[Tensor, "batch source"], Int[Tensor, "batch target"]]


def draw_batches(
    source_ids: Int[Tensor, "sentences source"],
    target_ids: Int[Tensor, "sentences target"],
    *,
    batch_size: int,
    generator: torch.Generator,
) -> Iterator[Batch]:
    """Draw batches of sentence pairs for ever: each pair once in random order, then again in another.

    Args:
        source_ids: all sentences, on any device.
        target_ids: their translations.
        batch_size: how many pairs a batch holds; what does not fill one more is left out of that round.
        generator: where chance comes from, on the CPU, so that every device sees the same batches.

    Raises:
        ValueError: there are not equally many sentences and translations, or fewer than ``batch_size``.
    """
    require_same_batch(source_ids=source_ids, target_ids=target_ids)
    require_whole(batch_size=batch_size)
    if batch_size > len(source_ids):
        raise ValueError(f"batch_size ({batch_size}) must be at most the number of pairs ({len(source_ids)})")
    return _rounds(source_ids, target_ids, batch_size, generator)


def train(
    model: Transformer,
    batches: Iterator[Batch],
    *,
    steps: int,
    learning_rate: float,
    loss: Loss = teacher_forced_loss,
) -> list[float]:
    """Take so many steps of Adam, its learning rate rising to the given one and falling to nothing.

    Args:
        model: what is to learn. It is left in evaluation mode.
        batches: what it learns from, on its device.
        steps: how many batches it sees.
        learning_rate: the highest learning rate.
        loss: what is to become small: a function of model, source ids and target ids.

    Returns:
        The loss at each step.

    Raises:
        ValueError: ``steps`` or ``learning_rate`` is not above zero.
    """
    require_whole(steps=steps)
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


def _rounds(
    source_ids: Tensor, target_ids: Tensor, batch_size: int, generator: torch.Generator
) -> Iterator[Batch]:
    while True:
        order = torch.randperm(len(source_ids), generator=generator).to(source_ids.device)
        for first in range(0, len(order) - batch_size + 1, batch_size):
            chosen = order[first : first + batch_size]
            yield source_ids[chosen], target_ids[chosen]

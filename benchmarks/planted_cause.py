"""Test whether attention, gradients and occlusion find a planted cause.

A small Transformer reads letters and answers which of them is a capital. It is trained in four ways; the
result is how often each method gives its largest attribution to the capital, over several seeds. Then memory
vectors are replaced by those of a row with another capital, to find where the decoder gets the answer from.
"""

import argparse
import time
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from record import Result, run_benchmark
from torch import Tensor, nn

from glassformer.data import START_ID
from glassformer.inspection import (
    input_gradients,
    occlusion,
    patch_activations,
    record_activations,
    record_attention,
)
from glassformer.modules import Transformer, TransformerConfig
from glassformer.tasks import CapitalTask

LENGTH, NUM_LETTERS, BATCH_SIZE, LEARNING_RATE, TEST_SIZE = 10, 6, 64, 0.003, 1000
WAYS: dict[str, dict[str, Any]] = {
    "one": {"num_layers": 1},
    "two": {"num_layers": 2},
    "hidden": {"num_layers": 2, "covered": True},
    "twice": {"num_layers": 2, "num_capitals": 2},
}


def build(task: CapitalTask, num_layers: int, seed: int) -> Transformer:
    """Build a model with one decoder layer and one head per attention."""
    config = TransformerConfig(
        source_vocabulary_size=len(task.words),
        target_vocabulary_size=len(task.words),
        d_model=32,
        num_heads=1,
        d_ff=64,
        num_encoder_layers=num_layers,
        num_decoder_layers=1,
        dropout=0.0,
        norm="pre",
    )
    return Transformer(config, generator=torch.Generator().manual_seed(seed))


def answer(model: Transformer, source_ids: Tensor, covered: Tensor | None = None) -> Tensor:
    """Return the logits after <start>; covered positions are hidden from the decoder."""
    memory, may_read = model.encode(source_ids)
    if covered is not None:
        may_read = may_read & ~covered[:, None, None, :]
    start = torch.full_like(source_ids[:, :1], START_ID)
    return model.decode(start, memory, may_read)[:, 0]


def train(
    model: Transformer, task: CapitalTask, *, covered: bool, steps: int, rng: np.random.Generator
) -> None:
    """Train with Adam on new rows; the learning rate rises and then falls to zero."""
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=steps, cycle_momentum=False
    )
    model.train()
    for _ in range(steps):
        source_ids, labels, _ = on(device, task.sample(BATCH_SIZE, rng))
        capitals = source_ids > CapitalTask.BLANK_ID + task.num_letters
        loss = nn.functional.cross_entropy(answer(model, source_ids, capitals if covered else None), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()


def on(device: torch.device, arrays: Any) -> tuple[Tensor, ...]:
    """Move arrays to a device."""
    return tuple(torch.from_numpy(array).to(device) for array in arrays)


def look(model: Transformer, source_ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return the attention from the answer to the letters: of the last layer, and rolled out over all."""
    with torch.no_grad(), record_attention(model) as weights_of:
        answer(model, source_ids)
    last = weights_of.pop("decoder.layers.0.cross_attention").mean(1)
    rolled = last
    for name, weights in reversed(weights_of.items()):
        if name.startswith("encoder"):  # the residual connection counts half (Abnar & Zuidema, 2020)
            rolled = rolled @ (weights.mean(1) + torch.eye(source_ids.shape[1], device=last.device)) / 2
    return last[:, 0], rolled[:, 0]


def explain(model: Transformer, source_ids: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """Return the attribution of each letter by each method."""

    def score(ids: Tensor) -> Tensor:
        return answer(model, ids).log_softmax(-1).gather(-1, labels[:, None])[:, 0]

    last, rolled = look(model, source_ids)
    vectors, gradients = input_gradients(score, source_ids, model.source_embedding.token)
    return {
        "attention": last,
        "rollout": rolled,
        "gradient × input": (vectors * gradients).sum(-1),
        "size of gradient": gradients.norm(dim=-1),
        "occlusion": occlusion(score, source_ids, replacement_id=CapitalTask.BLANK_ID),
    }


def exchange_capitals(task: CapitalTask, batch: Any, rng: np.random.Generator) -> tuple[Array, Array]:
    """Replace the capitals of each row by another letter; return the rows and their new answers."""
    first = CapitalTask.BLANK_ID + 1
    rows = np.arange(len(batch.cause_positions))[:, None]
    other_ids = first + (batch.labels - first + 1 + rng.integers(task.num_letters - 1)) % task.num_letters
    exchanged = batch.source_ids.copy()
    exchanged[rows, batch.cause_positions] = other_ids[:, None] + task.num_letters
    return exchanged, other_ids


@torch.no_grad()
def follow(
    model: Transformer,
    task: CapitalTask,
    batch: Any,
    exchanged: tuple[Array, Array],
    rng: np.random.Generator,
) -> dict[str, float]:
    """Exchange letters and test whether the answer depends on the capitals alone."""
    device = next(model.parameters()).device
    first = CapitalTask.BLANK_ID + 1
    rows = np.arange(len(batch.cause_positions))[:, None]
    drawn = task.sample(len(rows), rng).source_ids
    redrawn = np.where(drawn < first + task.num_letters, drawn, CapitalTask.BLANK_ID)
    redrawn[rows, batch.cause_positions] = batch.source_ids[rows, batch.cause_positions]
    asked = {"right": batch.source_ids, "capital exchanged": exchanged[0], "all others redrawn": redrawn}
    wanted = {
        "right": batch.labels,
        "capital exchanged": exchanged[1],
        "all others redrawn": batch.labels,
    }
    return {
        name: float((answer(model, *on(device, [ids])).argmax(-1).cpu().numpy() == wanted[name]).mean())
        for name, ids in asked.items()
    }


@torch.no_grad()
def patch(
    model: Transformer, batch: Any, exchanged: tuple[Array, Array], looked_at: Tensor, seed: int
) -> dict[str, float]:
    """Patch the memory of each row; return how often the answer becomes that of the other capital.

    Patched are the position of the (first) capital, that of the largest weight in the last attention, a
    random one that is neither, and all but the capital.
    """
    device = next(model.parameters()).device
    source_ids, donor_ids, other_answers = on(device, [batch.source_ids, *exchanged])
    memories = []
    for ids in (source_ids, donor_ids):
        with record_activations(model, ["encoder"]) as activations:
            answer(model, ids)
        memories.append(activations["encoder"])
    capital, largest = on(device, [batch.cause_positions])[0][:, 0], looked_at.argmax(-1)
    rows = torch.arange(len(capital), device=device)
    chance = torch.rand(source_ids.shape, generator=torch.Generator().manual_seed(seed)).to(device)
    chance[rows, capital] = chance[rows, largest] = -1
    single = {"capital": capital, "largest weight": largest, "random other": chance.argmax(-1)}
    patched = {
        name: nn.functional.one_hot(place, source_ids.shape[1]).bool() for name, place in single.items()
    }
    patched["all but the capital"] = ~patched["capital"]
    flipped = {}
    for name, chosen in patched.items():
        mixed = torch.where(chosen[..., None], memories[1], memories[0])
        with patch_activations(model, "encoder", mixed):
            answers = answer(model, source_ids).argmax(-1)
        flipped[name] = float((answers == other_answers).double().mean())
    return flipped


def measure(way: str, seed: int, steps: int, device: torch.device) -> dict[str, Any]:
    """Train one model and apply every method."""
    options = dict(WAYS[way])
    task = CapitalTask(LENGTH, NUM_LETTERS, options.get("num_capitals", 1))
    start, rng = time.process_time(), np.random.default_rng(seed)
    model = build(task, options["num_layers"], seed).to(device)
    train(model, task, covered=options.get("covered", False), steps=steps, rng=rng)
    batch = task.sample(TEST_SIZE, np.random.default_rng(10_000 + seed))
    source_ids, labels, causes = on(device, batch)
    explained = explain(model, source_ids, labels)
    falls = explained["occlusion"].gather(1, causes)
    exchanged = exchange_capitals(task, batch, rng)
    row = {
        "way": way,
        "seed": seed,
        "answers": follow(model, task, batch, exchanged, rng),
        "points_at_cause": {
            name: (numbers.argmax(-1, keepdim=True) == causes).any(-1).double().mean().item()
            for name, numbers in explained.items()
        },
        "attention_on_cause": explained["attention"].gather(1, causes).sum(-1).mean().item(),
        "median_fall": falls.median().item(),
        "answer_follows_patch_at": patch(model, batch, exchanged, explained["attention"], seed),
    }
    print(row, f"{time.process_time() - start:.0f} s", flush=True)
    return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Train every way with every seed."""
    measured = [measure(way, seed, options.steps, device) for way in WAYS for seed in range(options.seeds)]
    settings = {
        "length": LENGTH,
        "num_letters": NUM_LETTERS,
        "batch_size": BATCH_SIZE,
        "learning_rate": LEARNING_RATE,
        "test_size": TEST_SIZE,
        "ways": WAYS,
    }
    return measured, settings


if __name__ == "__main__":
    run_benchmark(measure_all, steps=500, seeds=5)

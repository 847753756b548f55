"""Measure how many questions one attention can answer, by its number of heads, at equal size.

One attention reads a list of pairs and must return the values of one to four symbols in order. Its number of
parameters does not depend on the number of heads. Four experiments: every number of questions with every
number of heads; then most questions with the narrowest heads, trained four times as long; in a model of twice
the width, so that each head has two numbers instead of one; and in a model of the same width with two numbers
per query and key, or two per value.
"""

import argparse
import time
from typing import Any

import numpy as np
import torch
from record import Result, run_benchmark
from torch import nn

from glassformer.modules import MultiHeadAttention
from glassformer.runtime import seed_everything
from glassformer.tasks import QuestionBatch, QuestionTask, accuracy_per_question, exact_match_rate

WIDTH, NUM_PAIRS, NUM_SYMBOLS, NUM_VALUES = 32, 6, 8, 8
BATCH_SIZE, TEST_SIZE, LEARNING_RATE = 128, 4000, 0.02


def answer(
    attention: MultiHeadAttention, task: QuestionTask, batch: QuestionBatch, device: torch.device
) -> torch.Tensor:
    """Return the logits over the values for each question."""
    question, pairs = (torch.from_numpy(cards).to(device) for cards in task.encode(batch, attention.d_model))
    output = attention(question, pairs, pairs, need_weights=False)[0][
        :, 0, : task.num_questions * task.num_values
    ]
    return output.unflatten(-1, (task.num_questions, task.num_values))


def widen_heads(attention: MultiHeadAttention, *, d_k: int, d_v: int) -> MultiHeadAttention:
    """Replace the projections, so that each head has ``d_k`` numbers per query and key, ``d_v`` per value."""
    width, num_heads = attention.d_model, attention.num_heads
    attention.query_proj = nn.Linear(width, num_heads * d_k, bias=False)
    attention.key_proj = nn.Linear(width, num_heads * d_k, bias=False)
    attention.value_proj = nn.Linear(width, num_heads * d_v, bias=False)
    attention.output_proj = nn.Linear(num_heads * d_v, width, bias=False)
    return attention


def train(
    task: QuestionTask,
    attention: MultiHeadAttention,
    steps: int,
    rng: np.random.Generator,
    device: torch.device,
) -> MultiHeadAttention:
    """Train on new lists; the learning rate falls linearly to a twentieth."""
    optimizer = torch.optim.Adam(attention.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0.05, steps)
    for _ in range(steps):
        batch = task.sample(BATCH_SIZE, rng)
        labels = torch.from_numpy(batch.labels).to(device)
        logits = answer(attention, task, batch, device)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return attention


def measure(
    num_questions: int,
    num_heads: int,
    steps: int,
    seeds: int,
    device: torch.device,
    *,
    width: int = WIDTH,
    **head_sizes: int,
) -> dict[str, Any]:
    """Measure the accuracies on unseen lists for each seed."""
    task = QuestionTask(NUM_PAIRS, NUM_SYMBOLS, NUM_VALUES, num_questions)
    row: dict[str, Any] = {"questions": num_questions, "heads": num_heads, "width": width, "steps": steps}
    row |= {**head_sizes, "all_right": [], "each_right": []}
    start = time.perf_counter()
    for seed in range(seeds):
        seed_everything(seed)
        rng = np.random.default_rng(seed)
        attention = MultiHeadAttention(width, num_heads, bias=False)
        if head_sizes:
            widen_heads(attention, **head_sizes)
        attention = train(task, attention.to(device), steps, rng, device)
        test = task.sample(TEST_SIZE, rng)
        with torch.no_grad():
            predicted_ids = answer(attention, task, test, device).argmax(-1).cpu().numpy()
        row["all_right"].append(round(exact_match_rate(predicted_ids, test), 4))
        row["each_right"].append(
            [round(float(rate), 4) for rate in accuracy_per_question(predicted_ids, test)]
        )
    row["parameters"] = sum(weight.numel() for weight in attention.parameters())
    print(row, f"{time.perf_counter() - start:.0f} s", flush=True)
    return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Run the four experiments."""

    def run(num_questions: int, num_heads: int, steps: int, **changed: int) -> dict[str, Any]:
        return measure(num_questions, num_heads, steps, options.seeds, device, **changed)

    most = max(options.questions), max(options.heads)
    measured = {
        "grid": [
            run(questions, heads, options.steps) for questions in options.questions for heads in options.heads
        ],
        "longer": [run(*most, options.longer_steps)],
        "wider": [run(*most, options.steps, width=2 * WIDTH)],
        "keys_or_values": [run(*most, options.steps, d_k=2, d_v=1), run(*most, options.steps, d_k=1, d_v=2)],
    }
    settings = {
        "width": WIDTH,
        "num_pairs": NUM_PAIRS,
        "num_symbols": NUM_SYMBOLS,
        "num_values": NUM_VALUES,
        "batch_size": BATCH_SIZE,
        "test_size": TEST_SIZE,
        "learning_rate": LEARNING_RATE,
    }
    return measured, settings


if __name__ == "__main__":
    run_benchmark(
        measure_all,
        questions=[1, 2, 3, 4],
        heads=[1, 2, 4, 8, 16, 32],
        steps=1000,
        longer_steps=4000,
        seeds=5,
    )

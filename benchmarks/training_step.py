"""Compare time and memory of one optimizer update with other libraries.

One batch of random sentences without padding, label smoothing 0.1, dropout 0.1, fused Adam, float32, one
thread. The other libraries compute all logits and pass them to PyTorch's cross-entropy; ours computes the
loss in chunks (`glassformer.training.chunked_cross_entropy`). "bfloat16" adds autocast, which rounds.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from peers import END, PAD, PEERS, SIZES, START, num_parameters, sentences, versions
from record import CPU, RESULTS, parse_options, write_result
from table import print_table
from torch import Tensor
from turns import Implementation, Measured, take_turns

from glassformer.training import chunked_cross_entropy

SMOOTHING = 0.1
OURS, THEIRS = "glassformer", "torch.nn.Transformer"


def prepare(peer: str, size_name: str, way: str) -> Callable[[], tuple[float, int]]:
    """Build a model and a batch; return a function that takes one step and returns loss and parameters."""
    size = SIZES[size_name]
    model, to_logits = PEERS[peer](size)
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), 1e-4, fused=True)
    source_ids = sentences(size.sentences, size.tokens)
    start, end = (torch.full((size.sentences, 1), mark) for mark in (START, END))
    target_ids = torch.cat([start, source_ids[:, :-1].flip(0), end], dim=1)
    in_chunks = peer == OURS and "all logits" not in way
    precision = torch.autocast("cpu", torch.bfloat16) if "bfloat16" in way else nullcontext()

    def loss() -> Tensor:
        if in_chunks:
            total = chunked_cross_entropy(model, source_ids, target_ids, label_smoothing=SMOOTHING)
            return total / target_ids[:, 1:].numel()
        logits = to_logits(source_ids, target_ids[:, :-1])
        return F.cross_entropy(
            logits.flatten(0, 1),
            target_ids[:, 1:].flatten(),
            ignore_index=PAD,
            label_smoothing=SMOOTHING,
        )

    def step() -> tuple[float, int]:
        optimizer.zero_grad()
        with precision:
            value = loss()
        value.backward()
        optimizer.step()
        return value.item(), num_parameters(model)

    return step


def measure(size_name: str, turns: int, peers: list[str], at_once: int) -> list[dict[str, Any]]:
    """Measure time and memory of every implementation, some of them with bfloat16."""
    ways = [(peer, "") for peer in peers]
    ways += [(OURS, "all logits"), (OURS, "bfloat16"), (THEIRS, "bfloat16")]
    reference = Implementation(prepare, (THEIRS, size_name, ""))
    implementations = {
        " + ".join(filter(None, way)): Implementation(prepare, (way[0], size_name, way[1]))
        for way in dict.fromkeys(ways)
        if way != (THEIRS, "")
    }
    rows: dict[str, dict[str, Any]] = {}
    for names in batched(implementations, at_once - 1):  # each group includes the reference, for its ratios
        group = {name: implementations[name] for name in names}
        measured = take_turns({THEIRS: reference, **group}, turns=turns)
        for name, one in measured.items():
            rows.setdefault(name, row(name, one, measured))
    return list(rows.values())


def batched(names: Iterable[str], count: int) -> Iterator[list[str]]:
    """Split names into groups of at most ``count``."""
    left = list(names)
    return (left[start : start + count] for start in range(0, len(left), count))


def row(name: str, one: Measured, measured: dict[str, Measured]) -> dict[str, Any]:
    """Return the numbers of one implementation, and their ratios to torch.nn.Transformer."""
    loss, weights = one.result
    return {
        "implementation": name,
        "milliseconds": one.milliseconds(),
        "ratio": one.ratio(measured[THEIRS]),
        "megabytes": round(one.megabytes),
        "megabytes_before": round(one.megabytes_before),
        "memory_ratio": round(one.megabytes / measured[THEIRS].megabytes, 3),
        "parameters": weights,
        "loss": round(loss, 4),
    }


def main() -> None:
    """Measure every size, print the tables and store the results."""
    options = parse_options(
        __doc__,
        sizes={"default": list(SIZES), "choices": list(SIZES)},
        peers={"default": list(PEERS), "choices": list(PEERS)},
        turns=11,
        at_once={"default": 4, "help": "number of processes held in memory together"},
    )
    peers = list(dict.fromkeys([OURS, THEIRS, *options.peers]))
    for size_name in options.sizes:
        measured = measure(size_name, options.turns, peers, options.at_once)
        print_table(f"Training step, {size_name}", measured)
        settings = vars(options) | {"versions": versions(), "size": SIZES[size_name]._asdict()}
        path = RESULTS / f"training_step_{size_name}.json"
        write_result(path, device=CPU, settings=settings, measured=measured)


if __name__ == "__main__":
    main()

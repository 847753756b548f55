"""What attention to 8,192 tokens costs, forward and backward: our chunks beside PyTorch's fused kernel.

`glassformer.modules.chunked.chunked_attention` is plain PyTorch; the kernel, SDPA, is C++. One sentence,
float32, one thread, with the heads of the tiny and of the base model. Memory is the highest during the runs
less what was resident before them, inputs and mask included. With a causal mask, "SDPA" is handed the mask,
as we are; "SDPA, is_causal" is only told. "switches" are those of `glassformer.runtime.speed_up_cpu`.
"""

import argparse
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from peers import SIZES
from record import write_result
from table import print_table
from torch import Tensor
from turns import Rival, take_turns

from glassformer.modules import causal_mask, chunked_attention
from glassformer.runtime import speed_up_cpu

LENGTH = 8192
SHORT = 64  # what a first run, before anything is counted, is given
OURS, KERNEL, TOLD = "glassformer, chunked", "SDPA", "SDPA, is_causal"
Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]
PATHS: dict[str, Attend] = {
    OURS: chunked_attention,
    KERNEL: F.scaled_dot_product_attention,
    TOLD: lambda query, key, value, mask: F.scaled_dot_product_attention(query, key, value, is_causal=True),
}


def prepare(path: str, size_name: str, causal: bool, switches: bool) -> Callable[[], tuple[float, ...]]:
    """Make the inputs; what is returned attends and carries a gradient back: sums of what comes out."""
    heads = SIZES[size_name].num_heads
    shape = (1, heads, LENGTH, SIZES[size_name].d_model // heads)
    given = [torch.randn(shape, requires_grad=True) for _ in range(3)]
    grad_attended = torch.randn(shape)
    mask = causal_mask(LENGTH) if causal else None
    if switches:  # only now: else memory that the inputs were made in is kept, and not counted
        speed_up_cpu()

    def run(length: int = LENGTH) -> tuple[float, ...]:
        vectors = [vector[..., :length, :] for vector in given]
        attended = PATHS[path](*vectors, None if mask is None else mask[:length, :length])
        gradients = torch.autograd.grad(attended, vectors, grad_attended[..., :length, :])
        return tuple(float(x.detach().abs().mean()) for x in (attended, *gradients))

    run(SHORT)
    return run


def measure(size_name: str, causal: bool, turns: int) -> list[dict[str, Any]]:
    """Time and memory of every path."""
    paths = list(PATHS) if causal else [OURS, KERNEL]
    rivals = {path: Rival(prepare, (path, size_name, causal, False)) for path in paths}
    for path in (OURS, KERNEL):
        rivals[f"{path} + switches"] = Rival(prepare, (path, size_name, causal, True))
    measured = take_turns(rivals, turns=turns, warm_up=1)
    expected = torch.tensor(measured[KERNEL].result)
    for path, one in measured.items():
        torch.testing.assert_close(torch.tensor(one.result), expected, msg=f"{path} computed something else")
    return [
        {
            "path": path,
            "milliseconds": one.milliseconds(),
            "ratio": one.ratio(measured[KERNEL]),
            "extra_megabytes": round(one.megabytes - one.megabytes_before),
        }
        for path, one in measured.items()
    ]


def main() -> None:
    """Measure with and without a mask, print tables and store them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    measured: dict[str, list[dict[str, Any]]] = {}
    for size_name in options.sizes:
        for causal in (False, True):
            title = f"{size_name}, causal" if causal else size_name
            measured[title] = measure(size_name, causal, options.turns)
            print_table(f"Attention to {LENGTH} tokens, heads of {title}", measured[title])
    settings = (
        vars(options) | {"length": LENGTH} | {name: SIZES[name].of_the_model() for name in options.sizes}
    )
    print(write_result("long_attention", device=torch.device("cpu"), settings=settings, measured=measured))


if __name__ == "__main__":
    main()

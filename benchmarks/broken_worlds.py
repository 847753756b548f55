"""Worlds in which a chapter can be run: other seeds, and worlds where something is broken.

`enter` changes this process for good, so each run has a process of its own. The bugs of the museum are broken
worlds too: `chapter_run.py` gets them as a patched copy of the package.
"""

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

SEEDS = tuple(f"seeds-{number}" for number in range(1, 6))


def enter(world: str) -> None:
    """Change this process into the world with this name; the package must be imported already."""
    if world in SEEDS:
        _shift_seeds(1000 * int(world.removeprefix("seeds-")))
    else:
        BROKEN[world]()


def _shift_seeds(offset: int) -> None:
    """Add an offset to every seed of NumPy and PyTorch."""
    default_rng, numpy_seed, torch_seed = np.random.default_rng, np.random.seed, torch.manual_seed

    class Generator(torch.Generator):
        def manual_seed(self, seed: int) -> torch.Generator:
            return super().manual_seed(seed + offset)

    np.random.default_rng = lambda seed=None: default_rng(
        [offset, *np.atleast_1d(0 if seed is None else seed)]
    )
    np.random.seed = lambda seed=0: numpy_seed(seed + offset)
    torch.manual_seed = lambda seed: torch_seed(seed + offset)
    torch.Generator = Generator


def _replace(original: Callable[..., Any], replacement: Callable[..., Any]) -> None:
    """Replace a function in every module that has imported it."""
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else ():
            if value is original:
                setattr(module, name, replacement)


def _labels_shuffled() -> None:
    """Losses compare each prediction with the label of another example."""
    from glassformer.training import shift_targets

    def shuffle(labels: torch.Tensor) -> torch.Tensor:
        return labels[torch.randperm(len(labels), device=labels.device)]

    def shuffled(loss: Callable[..., Any]) -> Callable[..., Any]:
        return lambda input, target, *rest, **options: loss(input, shuffle(target), *rest, **options)

    def shift(target_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        decoder_input_ids, labels = shift_targets(target_ids)
        return decoder_input_ids, shuffle(labels)

    for name in ("cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "nll_loss"):
        setattr(F, name, shuffled(getattr(F, name)))
    _replace(shift_targets, shift)


def _never_trained() -> None:
    """Optimizers leave the parameters as they were initialised."""
    for optimizer in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        optimizer.step = lambda self, closure=None: None if closure is None else closure()


def _loaded_weights_shuffled() -> None:
    """The numbers of each loaded weight matrix are in random order."""
    from safetensors.torch import load_file

    load = torch.nn.Module.load_state_dict

    def shuffled(state: Any) -> dict[str, torch.Tensor]:
        return {
            name: weight.flatten()[torch.randperm(weight.numel())].reshape(weight.shape)
            for name, weight in state.items()
        }

    torch.nn.Module.load_state_dict = lambda self, state, *rest, **options: load(
        self, shuffled(state), *rest, **options
    )
    _replace(load_file, lambda *given, **options: shuffled(load_file(*given, **options)))


def _initialisation_times(factor: float) -> None:
    """Every random initialisation of PyTorch's is larger or smaller by a factor."""

    def scaled(initialise: Callable[..., Any]) -> Callable[..., Any]:
        def rescaled(tensor: torch.Tensor, *rest: Any, **options: Any) -> torch.Tensor:
            with torch.no_grad():
                return initialise(tensor, *rest, **options).mul_(factor)

        return rescaled

    for name in (
        "uniform_",
        "normal_",
        "xavier_uniform_",
        "xavier_normal_",
        "kaiming_uniform_",
        "kaiming_normal_",
    ):
        setattr(torch.nn.init, name, scaled(getattr(torch.nn.init, name)))


def _draws(change: Callable[[Any], Any]) -> None:
    """Change what NumPy and PyTorch draw from normal and uniform distributions."""
    names = ("standard_normal", "normal", "uniform", "random", "integers")
    default_rng = np.random.default_rng

    class Generator(np.random.Generator):
        pass

    def changed(draw: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *sizes, **options: change(draw(*sizes, **options))

    for name in names:
        method = getattr(np.random.Generator, name)
        setattr(
            Generator,
            name,
            lambda self, *sizes, _draw=method, **options: change(_draw(self, *sizes, **options)),
        )
    np.random.default_rng = lambda seed=None: Generator(default_rng(seed).bit_generator)
    torch.randn, torch.rand = changed(torch.randn), changed(torch.rand)


def _repeat_first(drawn: Any) -> Any:
    if np.ndim(drawn) == 0:
        return drawn
    if isinstance(drawn, torch.Tensor):
        return drawn[:1].expand(drawn.shape).clone()
    return np.broadcast_to(drawn[:1], drawn.shape).copy()


def _keep_first_component(drawn: Any) -> Any:
    if np.ndim(drawn) < 2:
        return drawn
    flat = drawn.clone() if isinstance(drawn, torch.Tensor) else drawn.copy()
    flat[..., 1:] = 0
    return flat


def _shuffles_undone() -> None:
    """Permutations leave everything in its order."""
    default_rng = np.random.default_rng

    class Generator(np.random.Generator):
        def permutation(self, x: Any, axis: int = 0) -> Any:
            return np.arange(x) if isinstance(x, int) else np.array(x)

        def permuted(self, x: Any, **_: Any) -> Any:
            return np.array(x)

        def shuffle(self, x: Any, axis: int = 0) -> None:
            pass

    np.random.default_rng = lambda seed=None: Generator(default_rng(seed).bit_generator)
    torch.randperm = lambda n, **options: torch.arange(n, device=options.get("device"))


def _softmax(change: Callable[[Any], Any], *, masked: bool = True) -> None:
    """Change the scores before each softmax, in the reference, the modules and PyTorch; or ignore masks."""
    from glassformer import modules, reference

    tensor_softmax, functional = torch.Tensor.softmax, F.softmax
    fused, theirs, ours = F.scaled_dot_product_attention, modules.softmax, reference.softmax

    def numpy_softmax(x: Any, axis: int = -1, where: Any = None) -> Any:
        return ours(change(x), axis, where if masked else None)

    def torch_softmax(x: Any, axis: int = -1, where: Any = None) -> Any:
        return theirs(x if masked else change(x), axis, where if masked else None)

    def attend(query: Any, key: Any, value: Any, attn_mask: Any = None, *rest: Any, **options: Any) -> Any:
        if masked:  # these kernels know no other softmax: a changed one is computed step by step
            scale = options.get("scale") or query.shape[-1] ** -0.5
            scores = change(query @ key.mT * scale)
            if options.get("is_causal"):
                attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
            if attn_mask is not None and attn_mask.dtype == torch.bool:
                scores = scores.masked_fill(~attn_mask, -torch.inf)
            elif attn_mask is not None:
                scores = scores + attn_mask
            return tensor_softmax(scores, -1) @ value
        return fused(query, key, value, None, *rest, **options | {"is_causal": False})

    torch.Tensor.softmax = lambda x, *rest, **options: tensor_softmax(change(x), *rest, **options)
    torch.softmax = F.softmax = lambda x, *rest, **options: functional(change(x), *rest, **options)
    F.scaled_dot_product_attention = attend
    _replace(ours, numpy_softmax)
    _replace(theirs, torch_softmax)


def _causal_mask_reversed() -> None:
    """The causal mask shows the future and hides the past."""
    from glassformer import modules, reference

    for causal_mask in (modules.causal_mask, reference.causal_mask):
        _replace(causal_mask, lambda *given, _make=causal_mask, **options: _make(*given, **options).T)


def _positions_in_random_order() -> None:
    """The positions of sinusoids and of rotary encodings are in random order."""
    from glassformer import modules, reference
    from glassformer.reference import sinusoidal_positions

    def shuffled(length: int, d_model: int) -> Any:
        return np.random.default_rng(0).permutation(sinusoidal_positions(length, d_model))

    def misplaced(rotate: Callable[..., Any]) -> Callable[..., Any]:
        order = np.random.default_rng(0).permutation(10_000)

        def rotated(x: Any, positions: Any = None, *rest: Any, **options: Any) -> Any:
            wrong = order[: x.shape[-2]] if positions is None else order[np.asarray(positions.tolist())]
            if isinstance(x, torch.Tensor):
                wrong = torch.from_numpy(wrong).to(x.device)
            return rotate(x, wrong, *rest, **options)

        return rotated

    _replace(sinusoidal_positions, shuffled)
    for rotate in (modules.apply_rotary_embedding, reference.apply_rotary_embedding):
        _replace(rotate, misplaced(rotate))


def _heads_scrambled() -> None:
    """The reference merges heads without swapping the axes back, which mixes positions."""
    from glassformer.reference import merge_heads

    _replace(merge_heads, lambda x: x.reshape(*x.shape[:-3], x.shape[-2], -1))


def _layer_norm_does_nothing() -> None:
    """Layer norm returns its input."""
    from glassformer.reference import layer_norm

    F.layer_norm = lambda x, *rest, **options: x
    _replace(layer_norm, lambda x, *rest, **options: np.asarray(x))


def _stored_numbers_shuffled() -> None:
    """The numbers in each stored result are in random order."""
    read_text = Path.read_text

    def numbers(value: Any) -> list[float]:
        if isinstance(value, dict | list):
            return [
                number
                for each in (value.values() if isinstance(value, dict) else value)
                for number in numbers(each)
            ]
        return [value] if isinstance(value, float) else []

    def refill(value: Any, shuffled: list[float]) -> Any:
        if isinstance(value, dict):
            return {name: refill(each, shuffled) for name, each in value.items()}
        if isinstance(value, list):
            return [refill(each, shuffled) for each in value]
        return shuffled.pop() if isinstance(value, float) else value

    def shuffle(result: Any) -> Any:
        shuffled = numbers(result)
        random.Random(0).shuffle(shuffled)
        return refill(result, shuffled)

    def read(path: Path, *rest: Any, **options: Any) -> str:
        text = read_text(path, *rest, **options)
        if path.parent.name != "results":
            return text
        if path.suffix == ".jsonl":  # the log of a run
            entries = shuffle([json.loads(line) for line in text.splitlines()])
            return "\n".join(map(json.dumps, entries)) + "\n"
        result = json.loads(text)
        found = "measured" if "measured" in result else "scores"
        return json.dumps(result | {found: shuffle(result.get(found))})

    Path.read_text = read  # type: ignore[method-assign]


BROKEN: dict[str, Callable[[], None]] = {
    "labels-shuffled": _labels_shuffled,
    "never-trained": _never_trained,
    "loaded-weights-shuffled": _loaded_weights_shuffled,
    "initialisation-doubled": lambda: _initialisation_times(2),
    "initialisation-halved": lambda: _initialisation_times(0.5),
    "draws-doubled": lambda: _draws(lambda drawn: 2 * drawn),
    "draws-repeated": lambda: _draws(_repeat_first),
    "draws-one-dimensional": lambda: _draws(_keep_first_component),
    "shuffles-undone": _shuffles_undone,
    "softmax-even": lambda: _softmax(lambda scores: 0 * scores),
    "softmax-sharp": lambda: _softmax(lambda scores: 10 * scores),
    "masks-ignored": lambda: _softmax(lambda scores: scores, masked=False),
    "causal-mask-reversed": _causal_mask_reversed,
    "positions-shuffled": _positions_in_random_order,
    "heads-scrambled": _heads_scrambled,
    "layer-norm-off": _layer_norm_does_nothing,
    "stored-numbers-shuffled": _stored_numbers_shuffled,
}

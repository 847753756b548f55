"""Look inside a model while it runs, and switch off parts of it, from outside: nothing stays behind."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.modules.attention import MultiHeadAttention


def find_attentions(model: nn.Module) -> dict[str, MultiHeadAttention]:
    """Return every attention of a model by its name, such as "decoder.layers.0.cross_attention".

    A model that is itself a `MultiHeadAttention` has the one name "attention".

    Raises:
        ValueError: there is none.
    """
    found = {
        name or "attention": module
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention)
    }
    if not found:
        raise ValueError(f"model must hold a MultiHeadAttention, got a {type(model).__name__} without one")
    return found


@contextmanager
def record_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Collect the weights of every attention that runs inside the block.

    The weights are the very ones that mixed the values, so the taught path is taken while recording; the
    output is the same. Of several forward passes the last is kept.

    >>> with record_attention(model) as weights_of:                  # doctest: +SKIP
    ...     model(source_ids, target_ids)
    >>> weights_of["decoder.layers.0.cross_attention"]               # doctest: +SKIP

    Args:
        model: anything that holds a `MultiHeadAttention`, or is one.

    Yields:
        A dictionary from names, as `find_attentions` gives them, to weights of shape
        ``*batch heads query key``: copies without gradient, on the device of the model.

    Raises:
        ValueError: the model has no attention.
    """
    weights_of: dict[str, Tensor] = {}
    with ExitStack() as hooks:
        for name, attention in find_attentions(model).items():
            hooks.enter_context(attention.heads.register_forward_pre_hook(_ask_for_weights, with_kwargs=True))
            hooks.enter_context(attention.heads.register_forward_hook(_keep_weights(name, weights_of)))
        yield weights_of


@contextmanager
def ablate_heads(model: nn.Module, heads: Mapping[str, Iterable[int]]) -> Iterator[None]:
    """Switch heads off inside the block: what they attended to is replaced by zeros.

    Only what a head hands on is removed. Its weights are still computed and can be recorded, and the bias of
    the output projection still counts.

    >>> with ablate_heads(model, {"encoder.layers.1.self_attention": [0, 3]}):   # doctest: +SKIP
    ...     model(source_ids, target_ids)

    Args:
        model: anything that holds a `MultiHeadAttention`, or is one.
        heads: which heads, counted from 0, of which attentions, by their names in `find_attentions`.

    Raises:
        ValueError: there is no attention of that name, or no head of that number.
    """
    attentions = find_attentions(model)
    with ExitStack() as hooks:
        for name, numbers in heads.items():
            if name not in attentions:
                raise ValueError(f"heads names {name!r}, but the attentions are {', '.join(attentions)}")
            switched_off = _mark_heads(name, tuple(numbers), attentions[name].num_heads)
            hooks.enter_context(attentions[name].heads.register_forward_hook(_silence(switched_off)))
        yield


def _mark_heads(name: str, numbers: tuple[int, ...], num_heads: int) -> Tensor:
    """Return a mask over ``heads query d_head`` that is True for the given heads."""
    if outside := [number for number in numbers if number not in range(num_heads)]:
        raise ValueError(f"heads of {name!r} must be from 0 to {num_heads - 1}, got {outside}")
    return torch.tensor([number in numbers for number in range(num_heads)])[:, None, None]


def _ask_for_weights(module: nn.Module, args: Any, kwargs: Any) -> Any:
    return args, {**kwargs, "need_weights": True}


def _keep_weights(name: str, weights_of: dict[str, Tensor]) -> Callable[..., None]:
    def hook(module: nn.Module, args: Any, output: tuple[Tensor, Tensor]) -> None:
        _, weights = output
        weights_of[name] = weights.detach().clone()

    return hook


def _silence(switched_off: Tensor) -> Callable[..., Any]:
    def hook(module: nn.Module, args: Any, output: tuple[Tensor, Tensor | None]) -> Any:
        attended, weights = output
        return attended.masked_fill(switched_off.to(attended.device), 0), weights

    return hook

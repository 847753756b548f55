"""Record the weights of attention heads, ablate heads, and estimate their importance.

No function changes the model: hooks are removed afterwards.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.modules.attention import MultiHeadAttention


def find_attention_layers(model: nn.Module) -> dict[str, MultiHeadAttention]:
    """Return all attention layers of a model by name, such as "decoder.layers.0.cross_attention".

    If the model itself is a `MultiHeadAttention`, its name is "attention".

    Raises:
        ValueError: the model has no attention.
    """
    found = {
        name or "attention": module
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention)
    }
    if not found:
        raise ValueError(f"model must contain a MultiHeadAttention, got a {type(model).__name__} without one")
    return found


@contextmanager
def record_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Record the weights of every attention that runs inside the block.

    The recorded weights are those that multiplied the values, so attention computes explicit weights inside
    the block, instead of using PyTorch's fused kernel. If there are several forward passes, the last is kept.

    >>> with record_attention(model) as weights_of:                  # doctest: +SKIP
    ...     model(source_ids, target_ids)
    >>> weights_of["decoder.layers.0.cross_attention"]               # doctest: +SKIP

    Args:
        model: module that contains or is a `MultiHeadAttention`.

    Yields:
        The weights, ``*batch heads query key``, by the layer's name in `find_attention_layers`: detached
        copies on the model's device.

    Raises:
        ValueError: the model has no attention.
    """
    weights_of: dict[str, Tensor] = {}
    with ExitStack() as hooks:
        for name, attention in find_attention_layers(model).items():
            hooks.enter_context(attention.heads.register_forward_pre_hook(_ask_for_weights, with_kwargs=True))
            hooks.enter_context(attention.heads.register_forward_hook(_keep_weights(name, weights_of)))
        yield weights_of


@contextmanager
def ablate_heads(model: nn.Module, heads: Mapping[str, Iterable[int]]) -> Iterator[None]:
    """Ablate heads inside the block: replace their outputs with zeros.

    The weights of an ablated head are still computed and can be recorded. The bias of the output projection
    still applies.

    >>> with ablate_heads(model, {"encoder.layers.1.self_attention": [0, 3]}):   # doctest: +SKIP
    ...     model(source_ids, target_ids)

    Args:
        model: module that contains or is a `MultiHeadAttention`.
        heads: indices of the heads to ablate, from 0, by the layer's name in `find_attention_layers`.

    Raises:
        ValueError: an attention layer or a head does not exist.
    """
    layers = find_attention_layers(model)
    with ExitStack() as hooks:
        for name, numbers in heads.items():
            if name not in layers:
                raise ValueError(f"heads must name attention layers: {', '.join(layers)}, got {name!r}")
            ablated = _head_mask(name, tuple(numbers), layers[name].num_heads)
            hooks.enter_context(layers[name].heads.register_forward_hook(_zero_heads(ablated)))
        yield


def head_importance(model: nn.Module, loss: Callable[[], Float[Tensor, ""]]) -> dict[str, Tensor]:
    """Estimate how much a loss depends on each head, from one backward pass.

    Multiply each head's output by a gate ξ = 1. The importance of a head is |∂loss/∂ξ| (Michel et al., 2019,
    eq. 2, for one batch). It predicts the effect of a small change of the gate. To find out whether it also
    predicts the effect of removing the head, or several heads at once, use `ablate_heads`.

    Args:
        model: module that contains or is a `MultiHeadAttention`.
        loss: function that runs the model on a batch and returns its loss.

    Returns:
        The importance of each head, by the layer's name in `find_attention_layers`.

    Raises:
        ValueError: the model has no attention, or the loss does not depend on one.
    """
    gates = {
        name: torch.ones(attention.num_heads, 1, 1, device=_device_of(attention), requires_grad=True)
        for name, attention in find_attention_layers(model).items()
    }
    with ExitStack() as hooks, torch.enable_grad():
        for name, attention in find_attention_layers(model).items():
            hooks.enter_context(attention.heads.register_forward_hook(_multiply(gates[name])))
        total = loss()
    gradients = torch.autograd.grad(total, list(gates.values()), allow_unused=True)
    if unused := [name for name, gradient in zip(gates, gradients, strict=True) if gradient is None]:
        raise ValueError(f"loss must depend on every attention, but does not on {', '.join(unused)}")
    return {
        name: gradient.abs().flatten()
        for name, gradient in zip(gates, gradients, strict=True)
        if gradient is not None
    }


def _head_mask(name: str, numbers: tuple[int, ...], num_heads: int) -> Tensor:
    """Make a mask over ``heads query d_head`` that is True for the given heads."""
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


def _zero_heads(ablated: Tensor) -> Callable[..., Any]:
    def hook(module: nn.Module, args: Any, output: tuple[Tensor, Tensor | None]) -> Any:
        attended, weights = output
        return attended.masked_fill(ablated.to(attended.device), 0), weights

    return hook


def _multiply(gate: Tensor) -> Callable[..., Any]:
    def hook(module: nn.Module, args: Any, output: tuple[Tensor, Tensor | None]) -> Any:
        attended, weights = output
        return attended * gate, weights

    return hook


def _device_of(module: nn.Module) -> torch.device:
    return next(module.parameters()).device

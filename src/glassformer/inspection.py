"""Record attention weights, ablate heads, and attribute a score to tokens.

No function changes the model: hooks are removed afterwards.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.modules.attention import MultiHeadAttention
from glassformer.validation import require_ids, require_shape

#: Function that scores each sentence of a batch, for example by the log-probability of a word.
Score = Callable[[Int[Tensor, "batch time"]], Float[Tensor, " batch"]]


def find_attentions(model: nn.Module) -> dict[str, MultiHeadAttention]:
    """Return all attentions of a model by name, such as "decoder.layers.0.cross_attention".

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
        The weights, ``*batch heads query key``, by the attention's name in `find_attentions`: detached copies
        on the model's device.

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
    """Ablate heads inside the block: replace their outputs with zeros.

    The weights of an ablated head are still computed and can be recorded. The bias of the output projection
    still applies.

    >>> with ablate_heads(model, {"encoder.layers.1.self_attention": [0, 3]}):   # doctest: +SKIP
    ...     model(source_ids, target_ids)

    Args:
        model: module that contains or is a `MultiHeadAttention`.
        heads: indices of the heads to ablate, from 0, by the attention's name in `find_attentions`.

    Raises:
        ValueError: an attention or a head does not exist.
    """
    attentions = find_attentions(model)
    with ExitStack() as hooks:
        for name, numbers in heads.items():
            if name not in attentions:
                raise ValueError(f"heads must name attentions of {', '.join(attentions)}, got {name!r}")
            ablated = _head_mask(name, tuple(numbers), attentions[name].num_heads)
            hooks.enter_context(attentions[name].heads.register_forward_hook(_zero_heads(ablated)))
        yield


def input_gradients(
    score: Score, ids: Int[Tensor, "batch time"], embedding: nn.Embedding
) -> tuple[Float[Tensor, "batch time d_model"], Float[Tensor, "batch time d_model"]]:
    """Compute the gradient of a score with respect to each token's embedding vector.

    Args:
        score: function that runs the model on ids, in evaluation mode.
        ids: token ids of the sentences to explain.
        embedding: embedding that the model applies to ``ids``.

    Returns:
        The embedding vectors, and the gradients of each sentence's score with respect to them.

    Raises:
        ValueError: the model is in training mode, in which dropout would make the score random; or the score
            is not one number per sentence, or does not depend on the embedded ids.
    """
    if embedding.training:
        raise ValueError("score must run the model in evaluation mode: call model.eval() first")
    looked_up: list[Tensor] = []

    def detach(module: nn.Module, args: Any, output: Tensor) -> Tensor:
        looked_up.append(output.detach().requires_grad_())
        return looked_up[-1]

    handle = embedding.register_forward_hook(detach)
    try:
        with torch.enable_grad():
            scores = score(ids)
            total = scores.sum()
    finally:
        handle.remove()
    require_shape((len(ids),), score=scores)
    if len(looked_up) != 1 or looked_up[0].shape[:-1] != ids.shape:
        shapes = [tuple(vectors.shape[:-1]) for vectors in looked_up]
        raise ValueError(f"score must embed ids of shape {tuple(ids.shape)} once, got {shapes}")
    (vectors,) = looked_up
    (gradients,) = torch.autograd.grad(total, vectors)
    return vectors.detach(), gradients


def gradient_times_input(
    score: Score, ids: Int[Tensor, "batch time"], embedding: nn.Embedding
) -> Float[Tensor, "batch time"]:
    """Attribute a score to tokens, by the dot product of each token's embedding vector and its gradient.

    If the score were linear in the vectors, these would be its summands (Shrikumar et al., 2016). Arguments
    and errors are as in `input_gradients`.
    """
    vectors, gradients = input_gradients(score, ids, embedding)
    return (vectors * gradients).sum(-1)


@torch.no_grad()
def occlusion(
    score: Score,
    ids: Int[Tensor, "batch time"],
    *,
    replacement_id: int,
    ignored_ids: Collection[int] = (),
) -> Float[Tensor, "batch time"]:
    """Compute the fall of a score when one token at a time is replaced (Zeiler and Fergus, 2014).

    Args:
        score: function that runs the model on ids.
        ids: token ids of the sentences to explain.
        replacement_id: id that replaces each token in turn, preferably one that the model was trained on.
        ignored_ids: ids that are never replaced, such as padding; the result for them is 0.

    Raises:
        ValueError: ``ids`` are not token ids, or the score is not one number per sentence.
    """
    require_ids("ids", ids)
    before = score(ids)
    require_shape((len(ids),), score=before)
    differences = []
    for position in range(ids.shape[1]):
        occluded = ids.clone()
        occluded[:, position] = replacement_id
        differences.append(before - score(occluded))
    ignored = torch.isin(ids, torch.tensor(tuple(ignored_ids), dtype=ids.dtype, device=ids.device))
    return torch.stack(differences, dim=-1).masked_fill(ignored, 0)


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

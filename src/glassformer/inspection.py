"""Look inside a model while it runs, switch off parts of it, and ask which tokens an answer rests on.

All of it from outside: the model is as it was when the block ends or the function returns.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.modules.attention import MultiHeadAttention
from glassformer.validation import require_ids, require_shape

#: A number for each sentence of a batch, such as the log-probability of a word that is to be explained.
Score = Callable[[Int[Tensor, "batch time"]], Float[Tensor, " batch"]]


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


def input_gradients(
    score: Score, ids: Int[Tensor, "batch time"], embedding: nn.Embedding
) -> tuple[Float[Tensor, "batch time d_model"], Float[Tensor, "batch time d_model"]]:
    """Give each token's vector, and how a score changes with each of its numbers.

    Args:
        score: runs the model on ids, in evaluation mode.
        ids: the sentences in question.
        embedding: where the model looks these tokens up.

    Returns:
        The vectors, and the gradients of each sentence's score with respect to them.

    Raises:
        ValueError: the model is in training mode, where dropout would answer another question each time; or
            the score does not give one number a sentence, or does not come from the embedded ids.
    """
    if embedding.training:
        raise ValueError("score must run the model in evaluation mode: call model.eval() first")
    looked_up: list[Tensor] = []

    def start_here(module: nn.Module, args: Any, output: Tensor) -> Tensor:
        looked_up.append(output.detach().requires_grad_())
        return looked_up[-1]

    handle = embedding.register_forward_hook(start_here)
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
    """Say how much each token speaks for a score: its vector times the score's gradient, summed.

    If the score were linear in the vectors, these would be its summands. Arguments and errors as in
    `input_gradients`; see Shrikumar et al. (2016).
    """
    vectors, gradients = input_gradients(score, ids, embedding)
    return (vectors * gradients).sum(-1)


@torch.no_grad()
def occlusion(
    score: Score,
    ids: Int[Tensor, "batch time"],
    *,
    replacement_id: int,
    spared_ids: Collection[int] = (),
) -> Float[Tensor, "batch time"]:
    """Say how far a score falls when a token, one at a time, gives way to another (Zeiler & Fergus, 2014).

    Args:
        score: runs the model on ids.
        ids: the sentences in question.
        replacement_id: what takes the place of each token in turn; best a token that the model has met.
        spared_ids: what is never replaced, such as padding: there the fall is 0.

    Raises:
        ValueError: ids are no ids, or the score does not give one number a sentence.
    """
    require_ids("ids", ids)
    before = score(ids)
    require_shape((len(ids),), score=before)
    falls = []
    for place in range(ids.shape[1]):
        occluded = ids.clone()
        occluded[:, place] = replacement_id
        falls.append(before - score(occluded))
    spared = torch.isin(ids, torch.tensor(tuple(spared_ids), dtype=ids.dtype, device=ids.device))
    return torch.stack(falls, dim=-1).masked_fill(spared, 0)


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

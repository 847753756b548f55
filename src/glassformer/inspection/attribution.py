"""Attribute a score to tokens, by gradients or by occlusion."""

from collections.abc import Callable, Collection
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.validation import require_ids, require_shape

#: Function that scores each sentence of a batch, for example by the log-probability of a word.
Score = Callable[[Int[Tensor, "batch time"]], Float[Tensor, " batch"]]


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

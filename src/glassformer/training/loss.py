"""What a translator is asked while it learns: the next word, with the right ones before it in sight."""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.modules.recurrent import FixedContextTranslator
from glassformer.modules.sentences import explain_bad_ids
from glassformer.modules.transformer import Transformer
from glassformer.validation import require_integers, require_probability, require_whole


def shift_targets(
    target_ids: Int[Tensor, "batch marked"],
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """Cut marked sentences into what the decoder is given and what is wanted of it, one step ahead.

    >>> shift_targets(torch.tensor([[START_ID, 7, 5, END_ID]]))  # doctest: +SKIP
    (tensor([[START_ID, 7, 5]]), tensor([[7, 5, END_ID]]))

    Raises:
        ValueError: there are not at least two tokens in each sentence, its start and its end.
    """
    if target_ids.ndim != 2 or target_ids.shape[1] < 2:
        raise ValueError(
            f"target_ids must have 2 axes (sentence, token) and at least 2 tokens, "
            f"got shape {tuple(target_ids.shape)}"
        )
    return target_ids[:, :-1], target_ids[:, 1:]


def cross_entropy(
    logits: Float[Tensor, "batch time vocabulary"],
    labels: Int[Tensor, "batch time"],
    pad_id: int,
    *,
    label_smoothing: float | int = 0.0,
) -> Float[Tensor, ""]:
    """Mean over all wanted tokens of −log p(token); padding is not wanted, and does not count.

    Args:
        logits: what the model says of each next token.
        labels: the right ones.
        pad_id: what is not wanted.
        label_smoothing: the share of what is wanted that goes to all tokens alike (section 5.4).

    Raises:
        ValueError: the shapes do not fit, an id is outside the vocabulary, or nothing but padding is wanted.
    """
    if logits.shape[:-1] != labels.shape:
        raise ValueError(
            f"logits {tuple(logits.shape[:-1])} and labels {tuple(labels.shape)} "
            f"must have the same number of sentences and tokens"
        )
    require_probability(label_smoothing=label_smoothing)
    require_integers(labels=labels)
    _require_labels(labels, pad_id)
    with explain_bad_ids("labels", labels, logits.shape[-1]):
        return F.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=label_smoothing
        )


def teacher_forced_loss(
    model: Transformer, source_ids: Int[Tensor, "batch source"], target_ids: Int[Tensor, "batch target"]
) -> Float[Tensor, ""]:
    """Ask for every token of the target at once, given the source and the right tokens before it.

    Args:
        model: what is to learn.
        source_ids: the sentences to read, filled up with the pad id.
        target_ids: their translations, from start to end, filled up likewise.
    """
    decoder_input_ids, labels = shift_targets(target_ids)
    return cross_entropy(model(source_ids, decoder_input_ids), labels, model.config.pad_id)


def chunked_loss(
    model: Transformer | FixedContextTranslator,
    source_ids: Int[Tensor, "batch source"],
    target_ids: Int[Tensor, "batch target"],
    *,
    label_smoothing: float | int = 0.0,
    chunk_size: int = 256,
) -> Float[Tensor, ""]:
    """Sum, not mean, of the teacher-forced loss, without ever holding the logits of all tokens at once.

    A vocabulary is far wider than the model: the logits are the largest array of a training step. Here they
    are made for ``chunk_size`` tokens at a time, turned into their gradients at once, and forgotten; padding
    is left out before. Value and gradients equal those of `cross_entropy`, times the number of wanted tokens.

    Args:
        model: what is to learn.
        source_ids: the sentences to read, filled up with the pad id.
        target_ids: their translations, from start to end, filled up likewise.
        label_smoothing: as in `cross_entropy`.
        chunk_size: for how many tokens logits are held at a time.
    """
    require_probability(label_smoothing=label_smoothing)
    require_whole(chunk_size=chunk_size)
    decoder_input_ids, labels = shift_targets(target_ids)
    _require_labels(labels, model.config.pad_id)
    states = model.hidden_states(decoder_input_ids, *model.encode(source_ids))
    kept = (labels != model.config.pad_id).flatten().nonzero()[:, 0]  # a device tells the host their number
    states, labels = states.flatten(0, 1).index_select(0, kept), labels.flatten()[kept]
    output = model.output_proj
    loss: Tensor = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        states, output.weight, output.bias, labels, float(label_smoothing), chunk_size
    )
    return loss


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Sum of the smoothed cross-entropies of x Wᵀ + b; its gradients are made on the way forward."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        smoothing: float,
        chunk_size: int,
    ) -> Tensor:
        kind = x.device.type
        half = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype
        fast_weight, mean_weight = weight.to(half), weight.mean(0)
        mean_bias = 0 if bias is None else bias.mean()
        needed = any(ctx.needs_input_grad)
        x_grads: list[Tensor] = []
        weight_grad = torch.zeros_like(weight) if needed else None
        bias_grad = torch.zeros_like(bias) if needed and bias is not None else None
        total = torch.zeros((), dtype=weight.dtype, device=x.device)
        rows = zip(torch.split(x, chunk_size), torch.split(labels[:, None], chunk_size), strict=True)
        for chunk, ids in rows:
            fast_chunk = chunk.to(half)
            logits = F.linear(fast_chunk, fast_weight, bias if bias is None else bias.to(half)).to(
                weight.dtype
            )
            right = (1 - smoothing) * logits.gather(-1, ids).squeeze(-1)
            right += smoothing * (chunk.to(weight.dtype) @ mean_weight + mean_bias)
            highest = logits.amax(-1, keepdim=True)
            exponentials = logits.sub_(highest).exp_()
            sums = exponentials.sum(-1, keepdim=True)
            total += (sums.log() + highest).sum() - right.sum()
            if weight_grad is None:
                continue
            # The gradient for the logits is what the model says minus what is wanted.
            surplus = exponentials.div_(sums).sub_(smoothing / logits.shape[-1])
            surplus.scatter_add_(-1, ids, surplus.new_full(ids.shape, smoothing - 1))
            if bias_grad is not None:
                bias_grad += surplus.sum(0)
            surplus = surplus.to(half)
            x_grads.append((surplus @ fast_weight).to(x.dtype))
            if half == weight.dtype:
                weight_grad.addmm_(surplus.T, chunk)
            else:
                weight_grad += surplus.T @ fast_chunk
        ctx.save_for_backward(torch.cat(x_grads) if needed else None, weight_grad, bias_grad)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        scaled = (None if own is None else own * gradients[0].to(own.dtype) for own in ctx.saved_tensors)
        return *scaled, None, None, None


def _require_labels(labels: Tensor, pad_id: int) -> None:
    """Check that there is a label, where reading the labels does not wait for a device."""
    if labels.device.type == "cpu" and not (labels != pad_id).any():
        raise ValueError(f"labels must hold something else than padding, got only the id {pad_id}")

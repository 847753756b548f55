"""Losses of teacher-forced training: cross-entropy over all target tokens at once, or in chunks."""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.modules.recurrent import FixedContextTranslator
from glassformer.modules.sentences import explain_bad_ids
from glassformer.modules.transformer import Transformer
from glassformer.validation import require_ids, require_integers, require_positive_int, require_probability


def shift_targets(
    target_ids: Int[Tensor, "batch target"],
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """Split targets into decoder inputs, without the last token, and labels, without the first token.

    >>> shift_targets(torch.tensor([[START_ID, 7, 5, END_ID]]))  # doctest: +SKIP
    (tensor([[START_ID, 7, 5]]), tensor([[7, 5, END_ID]]))

    Raises:
        ValueError: ``target_ids`` does not have two axes, or has fewer than two tokens per sentence.
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
    """Compute the cross-entropy loss: the mean of −log p(label) over all labels except padding.

    Args:
        logits: logits of the next token at each position.
        labels: correct next tokens.
        pad_id: id of the padding token; labels with this id are ignored.
        label_smoothing: probability mass spread evenly over all tokens (Vaswani et al., 2017, section 5.4).

    Raises:
        ValueError: a shape, a dtype or ``label_smoothing`` is invalid; or, on the CPU, a label is outside the
            vocabulary or every label is padding.
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
    """Compute the mean cross-entropy of the target tokens, each predicted from the correct tokens before it.

    Args:
        model: model to train.
        source_ids: padded source sentences.
        target_ids: padded translations, with start and end tokens.

    Raises:
        ValueError: a shape is invalid; or, on the CPU, an id is outside the vocabulary or every label is
            padding.
    """
    decoder_input_ids, labels = shift_targets(target_ids)
    return cross_entropy(model(source_ids, decoder_input_ids), labels, model.config.pad_id)


def chunked_cross_entropy(
    model: Transformer | FixedContextTranslator,
    source_ids: Int[Tensor, "batch source"],
    target_ids: Int[Tensor, "batch target"],
    *,
    label_smoothing: float | int = 0.0,
    chunk_size: int = 256,
) -> Float[Tensor, ""]:
    """Compute the teacher-forced cross-entropy, summed over all target tokens, a chunk of logits at a time.

    A vocabulary is usually much larger than a model's width, so the logits are the largest array of a
    training step. This function computes the logits of ``chunk_size`` tokens at a time, turns them into
    gradients immediately and discards them. Padding is removed first. The sum and its gradients equal those
    of `cross_entropy` times the number of labels, apart from rounding.

    Args:
        model: model to train.
        source_ids: padded source sentences.
        target_ids: padded translations, with start and end tokens.
        label_smoothing: probability mass spread evenly over all tokens, as in `cross_entropy`.
        chunk_size: number of tokens whose logits are held in memory at once.

    Raises:
        ValueError: a shape, ``label_smoothing`` or ``chunk_size`` is invalid; or, on the CPU, an id is
            outside the vocabulary or every label is padding.
    """
    require_probability(label_smoothing=label_smoothing)
    require_positive_int(chunk_size=chunk_size)
    decoder_input_ids, labels = shift_targets(target_ids)
    _require_labels(labels, model.config.pad_id)
    if labels.device.type == "cpu":  # elsewhere, the check would wait for the device
        require_ids("labels", labels, model.config.target_vocabulary_size)
    states = model.hidden_states(decoder_input_ids, *model.encode(source_ids))
    kept = (labels != model.config.pad_id).flatten().nonzero()[:, 0]  # the CPU waits for their number
    states, labels = states.flatten(0, 1).index_select(0, kept), labels.flatten()[kept]
    output = model.output_proj
    loss: Tensor = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        states, output.weight, output.bias, labels, float(label_smoothing), chunk_size
    )
    return loss


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Sum of the smoothed cross-entropies of x Wᵀ + b, with gradients computed in the forward pass."""

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
        device = x.device.type
        half = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype
        fast_weight, mean_weight = weight.to(half), weight.mean(0)
        mean_bias = 0 if bias is None else bias.mean()
        needs_grad = any(ctx.needs_input_grad)
        x_grads: list[Tensor] = []
        weight_grad = torch.zeros_like(weight) if needs_grad else None
        bias_grad = torch.zeros_like(bias) if needs_grad and bias is not None else None
        total = torch.zeros((), dtype=weight.dtype, device=x.device)
        rows = zip(torch.split(x, chunk_size), torch.split(labels[:, None], chunk_size), strict=True)
        for chunk, ids in rows:
            fast_chunk = chunk.to(half)
            logits = F.linear(fast_chunk, fast_weight, bias if bias is None else bias.to(half)).to(
                weight.dtype
            )
            target = (1 - smoothing) * logits.gather(-1, ids).squeeze(-1)
            target += smoothing * (chunk.to(weight.dtype) @ mean_weight + mean_bias)
            highest = logits.amax(-1, keepdim=True)
            exponentials = logits.sub_(highest).exp_()
            sums = exponentials.sum(-1, keepdim=True)
            total += (sums.log() + highest).sum() - target.sum()
            if weight_grad is None:
                continue
            # The gradient with respect to a logit is the predicted minus the target probability.
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
        ctx.save_for_backward(torch.cat(x_grads) if needs_grad else None, weight_grad, bias_grad)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        scaled = (None if own is None else own * gradients[0].to(own.dtype) for own in ctx.saved_tensors)
        return *scaled, None, None, None


def _require_labels(labels: Tensor, pad_id: int) -> None:
    """Require a label that is not padding. Check only on the CPU: on a GPU, the check would wait for it."""
    if labels.device.type == "cpu" and not (labels != pad_id).any():
        raise ValueError(f"labels must contain more than padding, got only the id {pad_id}")

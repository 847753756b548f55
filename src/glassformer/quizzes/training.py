"""Questions on training."""

import torch
from torch import Tensor

from glassformer.training.loss import cross_entropy
from glassformer.training.schedule import noam_learning_rate
from glassformer.widgets.questions import Number, OneOf, right, wrong

_PAD, _LABEL = 0, 1
_FIRST, _SECOND = [2.0, 2.0, 2.0], [6.0]


def _loss(nlls: list[float]) -> float:
    """Return the loss of tokens with these negative log-likelihoods."""
    nll = torch.tensor(nlls, dtype=torch.float64)
    logits = torch.stack([torch.log1p(-torch.exp(-nll)), -nll], dim=-1)[None]
    return round(float(cross_entropy(logits, torch.full((1, len(nlls)), _LABEL), _PAD)), 9)


def _smoothed_loss(probabilities: Tensor) -> float:
    """Return the loss with label smoothing 0.2 for these probabilities, whose second is the label's."""
    labels = torch.tensor([[_LABEL]])
    return float(cross_entropy(probabilities.log()[None, None], labels, _PAD, label_smoothing=0.2))


_TARGET_PROBS = torch.tensor([0.05, 0.85, 0.05, 0.05], dtype=torch.float64)


def _step_at_half_peak(warmup_steps: int) -> int:
    """Find the first step after warm-up at half the peak learning rate."""
    half = noam_learning_rate(warmup_steps, d_model=512, warmup_steps=warmup_steps) / 2
    step = warmup_steps
    while noam_learning_rate(step, d_model=512, warmup_steps=warmup_steps) > half * (1 + 1e-9):
        step += 1
    return step


_LENGTHS = [2, 9, 3, 10]


def _padding(lengths: list[int]) -> int:
    """Count the padding in batches of two sentences."""
    pairs = zip(lengths[::2], lengths[1::2], strict=True)
    return sum(abs(one - other) for one, other in pairs)


QUESTIONS = (
    Number(
        "train-mean-of-what",
        "A batch does not fit into memory and is split into two parts. One has three labels with a loss of 2 "
        "each, the other has a single label with a loss of 6. What is the loss of the batch?",
        answer=_loss(_FIRST + _SECOND),
        why="The losses of the four labels add up to 12.",
        within=0.01,
        mistakes=(
            (
                (_loss(_FIRST) + _loss(_SECOND)) / 2,
                "That is the mean of the parts' means, in which one label counts as much as three.",
            ),
            (
                _loss(_FIRST) + _loss(_SECOND),
                "You added the means of the parts. Add the losses, and divide once by the number of labels.",
            ),
        ),
    ),
    Number(
        "train-lowest",
        "There are four tokens, and label smoothing is 0.2. The loss is lowest if the model gives the "
        "correct token 0.85 and each other token 0.05. What is this lowest loss?",
        answer=_smoothed_loss(_TARGET_PROBS),
        why="It is the entropy of the targets: −0.85 log 0.85 − 3 · 0.05 log 0.05.",
        within=0.01,
        mistakes=(
            (0, "That is the lowest loss without smoothing. Here the other tokens have targets, too."),
            (
                float(-_TARGET_PROBS[_LABEL].log()),
                "That is the plain loss of the correct token, as if its target were 1.",
            ),
            (
                float(-_TARGET_PROBS[_LABEL] * _TARGET_PROBS[_LABEL].log()),
                "That leaves out the three other tokens, whose targets are 0.05 each.",
            ),
        ),
    ),
    Number(
        "train-half-the-peak",
        "The paper's learning rate is highest at step 4,000, the end of its warm-up. At which later step has "
        "it fallen to half of its peak?",
        answer=_step_at_half_peak(4000),
        why="The rate falls with one over the square root of the step: four times the step, half the rate.",
        mistakes=(
            (8000, "This would be right for one over the step. The rate falls with its square root."),
            (2000, "At this step the rate is half of its peak, too, but it is still rising."),
        ),
    ),
    OneOf(
        "train-upside-down",
        "With label smoothing and dropout, the training loss is 1.9. The validation loss, computed without "
        "either, is 1.2. What do you conclude?",
        (
            wrong(
                "the model has seen the validation sentences",
                "This needs no leak: the two losses are computed differently.",
            ),
            right(
                "nothing is wrong",
                "Smoothing keeps the training loss well above zero, and dropout makes the task harder.",
            ),
            wrong(
                "the model memorises its training sentences",
                "Then the validation loss would rise again. The gap alone doesn't show it.",
            ),
            wrong("the learning rate is too high", "This would raise both losses."),
        ),
    ),
    Number(
        "train-padding",
        "Four sentences of 2, 9, 3 and 10 tokens form two batches of two. How many positions of padding do "
        "you save if you sort them by length first?",
        answer=_padding(_LENGTHS) - _padding(sorted(_LENGTHS)),
        why=(
            "Unsorted, (2, 9) and (3, 10) have 7 + 7 positions of padding. Sorted, (2, 3) and (9, 10) have "
            "1 + 1."
        ),
        mistakes=(
            (
                _padding(_LENGTHS),
                "That is the padding of the unsorted batches. The sorted ones have some, too.",
            ),
            (_padding(sorted(_LENGTHS)), "That is the padding of the sorted batches. How much do they save?"),
        ),
    ),
    OneOf(
        "train-near-copies",
        "On its whole test set a model scores 53 BLEU. On the test sentences that are not within one word of "
        "a training sentence, it scores 48. What do you conclude?",
        (
            wrong(
                "the model has memorised its training sentences and learned nothing else",
                "Then it would score close to 0 on sentences without a near-copy.",
            ),
            right(
                "48 says more about new sentences than 53",
                "Near-copies raise the first score, and new sentences have none.",
            ),
            wrong(
                "the two scores have different signatures",
                "Both are counted in the same way, only on different sentences.",
            ),
            wrong(
                "a test set drawn at random has no near-copies",
                "A random draw takes near-copies apart: one goes to the test set, the other to training.",
            ),
        ),
    ),
)

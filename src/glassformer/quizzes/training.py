"""Questions on training."""

import torch
from torch import Tensor

from glassformer.training.loss import cross_entropy
from glassformer.training.schedule import paper_learning_rate
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
    half = paper_learning_rate(warmup_steps, d_model=512, warmup_steps=warmup_steps) / 2
    step = warmup_steps
    while paper_learning_rate(step, d_model=512, warmup_steps=warmup_steps) > half * (1 + 1e-9):
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
        "A batch does not fit into memory and is cut into two parts. One has three tokens with a surprise "
        "of 2 each, the other a single token with 6. What is the loss of the batch?",
        answer=_loss(_FIRST + _SECOND),
        why="Four tokens have a surprise of 12 together.",
        within=0.01,
        mistakes=(
            (
                (_loss(_FIRST) + _loss(_SECOND)) / 2,
                "That is the mean of the parts’ means: the lone token counts as much as the three together.",
            ),
            (
                _loss(_FIRST) + _loss(_SECOND),
                "Sums are added up, not means, and divided once by the number of all tokens.",
            ),
        ),
    ),
    Number(
        "train-lowest",
        "There are four tokens, and label smoothing is 0.2. What is the lowest loss a model can reach? It "
        "then gives the right token 0.85 and each other 0.05.",
        answer=_smoothed_loss(_TARGET_PROBS),
        why="It is the entropy of what is wanted: −0.85 log 0.85 − 3 · 0.05 log 0.05.",
        within=0.01,
        mistakes=(
            (0, "So it is without smoothing. A share of what is wanted goes to tokens that nobody wrote."),
            (
                float(-_TARGET_PROBS[_LABEL].log()),
                "That counts the right token alone, and as if all were wanted of it.",
            ),
            (
                float(-_TARGET_PROBS[_LABEL] * _TARGET_PROBS[_LABEL].log()),
                "That leaves out the three tokens of which 0.05 is wanted each.",
            ),
        ),
    ),
    Number(
        "train-half-the-peak",
        "The paper’s learning rate is highest at step 4,000, where the warm-up ends. At which later step is "
        "it down to half of that?",
        answer=_step_at_half_peak(4000),
        why="It falls with one over the root of the step: four times the steps, half the rate.",
        mistakes=(
            (8000, "So it would be if it fell with one over the step. It falls with its root."),
            (2000, "There it is half as high on the way up."),
        ),
    ),
    OneOf(
        "train-upside-down",
        "During a run the training loss is 1.9 and the loss of the validation sentences 1.2. What do you "
        "make of it?",
        (
            wrong(
                "the model has seen the validation sentences",
                "It need not have: the two are not counted alike.",
            ),
            right(
                "it is as it should be",
                "The training loss is smoothed, which alone keeps it from zero, and taken with dropout on.",
            ),
            wrong(
                "the model learns its sentences by heart", "Then the training loss would be the lower one."
            ),
            wrong("the learning rate is too high", "That would show in both."),
        ),
    ),
    Number(
        "train-padding",
        "Four sentences have 2, 9, 3 and 10 tokens and go in two batches of two. How many places of padding "
        "are spared if they are sorted by length first?",
        answer=_padding(_LENGTHS) - _padding(sorted(_LENGTHS)),
        why=(
            "As they come, (2, 9) and (3, 10) hold 7 + 7 places of padding; sorted, (2, 3) and (9, "
            "10) hold 1 + 1."
        ),
        mistakes=(
            (_padding(_LENGTHS), "So many there are unsorted. Sorting leaves a few."),
            (_padding(sorted(_LENGTHS)), "So many are left when they are sorted. How many are spared?"),
        ),
    ),
    OneOf(
        "train-resumed",
        "A run is killed and started again from its last checkpoint, but somebody stored the weights only. "
        "What is different from a run that nothing disturbed?",
        (
            wrong(
                "nothing: the weights are all that was learned",
                "Adam has learned the sizes of the gradients, too.",
            ),
            right(
                "its next step is as if it were Adam’s first",
                "Its two means are gone, so all weights move at full length.",
            ),
            wrong(
                "the loss is that of a fresh model", "The weights are there, and with them what they know."
            ),
            wrong("only the log has a gap", "The weights come out differently from the first step on."),
        ),
    ),
)

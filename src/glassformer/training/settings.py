"""Everything that decides how a run goes, in one place that is stored with it."""

from dataclasses import dataclass
from typing import Literal, get_args

from glassformer.training.schedule import Schedule
from glassformer.validation import require_choice, require_positive, require_probability, require_whole

Optimizer = Literal["adam", "adamw"]
Precision = Literal["float32", "bfloat16"]


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """How a run goes. Two runs with equal settings, model and corpus give the same weights on one machine.

    Attributes:
        steps: how many times the weights are corrected.
        max_tokens: tokens in a batch at most, padding among them, on either side.
        accumulation_steps: batches that are added up before a correction.
        learning_rate: the highest learning rate.
        schedule: how the learning rate falls after its peak.
        warmup_steps: steps over which the learning rate rises to its peak.
        optimizer: adam, or adamw, whose weight decay is apart from the gradient.
        beta1: how slowly the mean of the gradients forgets.
        beta2: how slowly the mean of their squares forgets.
        epsilon: what keeps the optimizer from dividing by zero.
        weight_decay: how strongly weights are drawn to zero.
        clip_norm: the longest gradient that is used as it is; longer ones are shortened.
        label_smoothing: the share of what is wanted that goes to all tokens alike.
        precision: bfloat16 multiplies matrices in half precision, for GPUs.
        compile: whether torch.compile rewrites the model first.
        seed: where chance starts: first weights, order of the batches, dropout.
        log_every: steps between two lines of the log.
        validate_every: steps between two looks at the validation sentences.
        checkpoint_every: steps between two checkpoints.
        keep_checkpoints: how many of the last checkpoints are kept, to be averaged.

    Raises:
        ValueError: a setting does not fit; the message names it.
    """

    steps: int = 10_000
    max_tokens: int = 4096
    accumulation_steps: int = 1
    learning_rate: float = 2e-3
    schedule: Schedule = "inverse_sqrt"
    warmup_steps: int = 1000
    optimizer: Optimizer = "adam"
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-9
    weight_decay: float = 0.0
    clip_norm: float = 1.0
    label_smoothing: float = 0.1
    precision: Precision = "float32"
    compile: bool = False
    seed: int = 0
    log_every: int = 50
    validate_every: int = 1000
    checkpoint_every: int = 500
    keep_checkpoints: int = 5

    def __post_init__(self) -> None:
        counts = (
            "steps",
            "max_tokens",
            "accumulation_steps",
            "log_every",
            "validate_every",
            "checkpoint_every",
        )
        require_whole(
            **{name: getattr(self, name) for name in counts}, keep_checkpoints=self.keep_checkpoints
        )
        require_positive(learning_rate=self.learning_rate, epsilon=self.epsilon, clip_norm=self.clip_norm)
        require_probability(beta1=self.beta1, beta2=self.beta2, label_smoothing=self.label_smoothing)
        require_choice(get_args(Schedule), schedule=self.schedule)
        require_choice(get_args(Optimizer), optimizer=self.optimizer)
        require_choice(get_args(Precision), precision=self.precision)
        if not 0 <= self.warmup_steps <= self.steps:
            raise ValueError(
                f"warmup_steps must be at least 0 and at most steps ({self.steps}), got {self.warmup_steps}"
            )
        if self.weight_decay < 0:
            raise ValueError(f"weight_decay must be at least 0, got {self.weight_decay}")

"""Settings of a training run, which are stored with it."""

from dataclasses import dataclass
from typing import Literal, get_args

from glassformer.training.schedule import Schedule
from glassformer.validation import require_choice, require_positive, require_positive_int, require_probability

Optimizer = Literal["adam", "adamw"]
Precision = Literal["float32", "bfloat16"]


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Hyperparameters of a training run.

    On the same CPU, runs with the same settings, model, corpus, number of processes and number of threads end
    with the same weights.

    Attributes:
        steps: number of optimizer updates.
        max_tokens: maximum number of tokens in a batch, including padding, on the source side and on the
            target side.
        accumulation_steps: number of batches whose gradients are summed for one update.
        learning_rate: peak learning rate.
        schedule: decay of the learning rate after warm-up.
        warmup_steps: number of steps over which the learning rate rises to its peak.
        optimizer: "adam", or "adamw" for Adam with decoupled weight decay.
        beta1: decay rate of Adam's first moment.
        beta2: decay rate of Adam's second moment.
        epsilon: constant that keeps Adam from dividing by zero.
        weight_decay: weight decay coefficient.
        clip_norm: maximum norm of the gradient of all parameters; a larger gradient is scaled down.
        label_smoothing: probability mass spread evenly over all tokens.
        precision: "float32", or "bfloat16" for mixed precision (torch.autocast), intended for GPUs.
        compile: True to compile the model with torch.compile.
        seed: seed for initialisation, batch order and dropout.
        log_every: number of steps between log entries.
        validate_every: number of steps between validations.
        checkpoint_every: number of steps between checkpoints.
        keep_checkpoints: number of most recent checkpoints to keep and average.

    Raises:
        ValueError: a setting is invalid; the message names it.
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
        intervals = ("log_every", "validate_every", "checkpoint_every")
        counts = ("steps", "max_tokens", "accumulation_steps", *intervals, "keep_checkpoints")
        require_positive_int(**{name: getattr(self, name) for name in counts})
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

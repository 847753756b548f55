"""Learning-rate schedules: warm-up and decay (Vaswani et al., 2017, section 5.3)."""

import math
from collections.abc import Callable
from typing import Literal, get_args

from glassformer.validation import require_choice, require_positive, require_positive_int

Schedule = Literal["inverse_sqrt", "cosine", "linear", "constant"]


def noam_learning_rate(step: int, *, d_model: int, warmup_steps: int) -> float:
    """Compute the original Transformer's learning rate: the Noam schedule (Vaswani et al., 2017, equation 3).

    The rate is d_model^(−1/2) · min(step^(−1/2), step · warmup_steps^(−3/2)).

    Args:
        step: index of the update, from 1.
        d_model: width of the model.
        warmup_steps: step at which the learning rate peaks.

    Raises:
        ValueError: an argument is not a positive integer.
    """
    require_positive_int(step=step, d_model=d_model, warmup_steps=warmup_steps)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def learning_rate_at(
    step: int, *, peak: float, warmup_steps: int, total_steps: int, schedule: Schedule
) -> float:
    """Compute the learning rate of a step: linear warm-up to the peak, then decay by the schedule.

    Args:
        step: index of the update, from 1.
        peak: highest learning rate.
        warmup_steps: step at which the learning rate peaks; 0 starts at the peak.
        total_steps: total number of steps in the run.
        schedule: decay after the peak. "inverse_sqrt" decays with 1/√step and equals `noam_learning_rate`
            for a peak of 1/√(d_model · warmup_steps). "cosine" and "linear" decay to 0 at the last step.
            "constant" does not decay.

    Raises:
        ValueError: a number or the schedule is invalid; the message names it.
    """
    require_positive_int(step=step, total_steps=total_steps)
    require_positive(peak=peak)
    require_choice(get_args(Schedule), schedule=schedule)
    if not 0 <= warmup_steps <= total_steps:
        raise ValueError(
            f"warmup_steps must be at least 0 and at most total_steps ({total_steps}), got {warmup_steps}"
        )
    if step < warmup_steps:
        return peak * step / warmup_steps
    decays: dict[Schedule, Callable[[float], float]] = {
        "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
        "linear": lambda done: 1 - done,
        "inverse_sqrt": lambda _: math.sqrt(max(warmup_steps, 1) / step),
        "constant": lambda _: 1.0,
    }
    done = (step - warmup_steps) / max(total_steps - warmup_steps, 1)
    return peak * decays[schedule](min(done, 1.0))

import math
from itertools import pairwise

import pytest

from glassformer.training.schedule import learning_rate_at, noam_learning_rate

RUN = {"peak": 0.3, "warmup_steps": 7, "total_steps": 53}


def rates(schedule, **changes):
    run = RUN | changes
    return [learning_rate_at(step, schedule=schedule, **run) for step in range(1, run["total_steps"] + 1)]


def test_equation_3_by_hand():
    assert noam_learning_rate(100, d_model=16, warmup_steps=400) == pytest.approx(100 / 400**1.5 / 4)
    assert noam_learning_rate(2500, d_model=16, warmup_steps=400) == pytest.approx(1 / 50 / 4)


def test_inverse_sqrt_is_the_papers_schedule_for_its_peak():
    peak = 1 / math.sqrt(16 * 7)
    paper = [noam_learning_rate(step, d_model=16, warmup_steps=7) for step in range(1, 54)]
    assert rates("inverse_sqrt", peak=peak) == pytest.approx(paper)


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "cosine", "linear", "constant"])
def test_every_schedule_warms_up_linearly_and_then_never_increases(schedule):
    given = rates(schedule)
    assert given[:7] == pytest.approx([0.3 * step / 7 for step in range(1, 8)])
    assert all(after <= before for before, after in pairwise(given[6:]))


@pytest.mark.parametrize(("schedule", "last"), [("cosine", 0), ("linear", 0), ("constant", 0.3)])
def test_each_schedule_ends_at_its_final_learning_rate(schedule, last):
    assert rates(schedule)[-1] == pytest.approx(last)


@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_halfway_through_the_decay_the_rate_is_half_the_peak(schedule):
    assert learning_rate_at(30, schedule=schedule, **RUN) == pytest.approx(0.15)


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "cosine", "linear", "constant"])
def test_without_warm_up_a_run_starts_at_the_peak(schedule):
    assert rates(schedule, warmup_steps=0)[0] == pytest.approx(0.3, rel=0.02)


def test_a_warm_up_longer_than_the_run_is_rejected():
    with pytest.raises(ValueError, match=r"warmup_steps .* at most total_steps \(53\), got 54"):
        rates("linear", warmup_steps=54)

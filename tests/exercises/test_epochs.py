import itertools

import numpy as np
import pytest
import torch

from glassformer.exercises.epochs import ASKING, LEARNING, epoch_with, name_slips, run_epoch
from glassformer.exercises.slips import Slip


@pytest.mark.parametrize("seed", [0, 5])
def test_no_two_slips_look_alike(seed):
    learned = [run_epoch(epoch_with(*slips), seed)[0] for slips in LEARNING]
    asked = [run_epoch(epoch_with(*slips), seed)[1] for slips in ASKING]
    for one, other in itertools.combinations(learned, 2):
        assert np.abs(one - other).max() > 1e-3
    for one, other in itertools.combinations(asked, 2):
        assert abs(one - other) > 1e-3


def test_slips_that_come_together_are_all_named():
    slips = ("adds", "dropout", "means")
    assert name_slips(*run_epoch(epoch_with(*slips), 3), 3) == slips
    assert name_slips(*run_epoch(lambda *_: 7.0, 3), 3) is None


def test_every_run_starts_from_the_same_weights_and_leaves_chance_as_it_was():
    torch.manual_seed(3)
    expected = torch.randn(5)
    torch.manual_seed(3)
    (once, loss), (again, same_loss) = run_epoch(epoch_with()), run_epoch(epoch_with())
    assert np.array_equal(once, again)
    assert loss == same_loss
    assert torch.equal(torch.randn(5), expected)


def test_another_seed_draws_another_model():
    assert not np.allclose(run_epoch(epoch_with(), 0)[0], run_epoch(epoch_with(), 1)[0])


def test_a_loss_that_is_no_number_is_a_slip():
    with pytest.raises(Slip, match="wanted one number, the held-out loss, got list"):
        run_epoch(lambda *_: [1.0, 2.0])

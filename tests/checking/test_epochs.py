import itertools

import numpy as np
import pytest
import torch

from glassformer.checking.epochs import EVALUATION, TRAINING, epoch_with, name_slips, run_epoch
from glassformer.checking.slips import Slip


@pytest.mark.parametrize("seed", [0, 5])
def test_all_combinations_of_slips_give_different_results(seed):
    weights = [run_epoch(epoch_with(*slips), seed)[0] for slips in TRAINING]
    losses = [run_epoch(epoch_with(*slips), seed)[1] for slips in EVALUATION]
    for one, other in itertools.combinations(weights, 2):
        assert np.abs(one - other).max() > 1e-3
    for one, other in itertools.combinations(losses, 2):
        assert abs(one - other) > 1e-3


def test_slips_that_occur_together_are_all_named():
    slips = ("adds", "dropout", "means")
    assert name_slips(*run_epoch(epoch_with(*slips), 3), 3) == slips


def test_an_unknown_mistake_has_no_name():
    assert name_slips(*run_epoch(lambda *_: 7.0, 3), 3) is None


def test_the_same_seed_gives_the_same_epoch():
    (weights, loss), (same_weights, same_loss) = run_epoch(epoch_with()), run_epoch(epoch_with())
    assert np.array_equal(weights, same_weights)
    assert loss == same_loss


def test_an_epoch_leaves_the_global_random_state_unchanged():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    run_epoch(epoch_with())
    assert torch.equal(torch.get_rng_state(), before)


def test_another_seed_draws_another_model():
    assert not np.allclose(run_epoch(epoch_with(), 0)[0], run_epoch(epoch_with(), 1)[0])


def test_a_loss_that_is_not_a_number_is_a_slip():
    with pytest.raises(Slip, match="expected the held-out loss, one number, yours is of type list"):
        run_epoch(lambda *_: [1.0, 2.0])

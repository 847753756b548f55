import numpy as np
import pytest
import torch

from glassformer.exercises.checking import Slip
from glassformer.exercises.epochs import COMBINATIONS, epoch_with, run_epoch


def test_no_two_slips_look_alike():
    seen = [np.append(weights, loss) for weights, loss in (run_epoch(epoch_with(*s)) for s in COMBINATIONS)]
    for place, one in enumerate(seen):
        for other in seen[:place]:
            assert np.abs(one - other).max() > 1e-3


def test_every_run_starts_from_the_same_weights_and_leaves_chance_as_it_was():
    torch.manual_seed(3)
    expected = torch.randn(5)
    torch.manual_seed(3)
    (once, loss), (again, same_loss) = run_epoch(epoch_with()), run_epoch(epoch_with())
    assert np.array_equal(once, again)
    assert loss == same_loss
    assert torch.equal(torch.randn(5), expected)


def test_a_loss_that_is_no_number_is_a_slip():
    with pytest.raises(Slip, match="wanted one number, the held-out loss, got list"):
        run_epoch(lambda *_: [1.0, 2.0])

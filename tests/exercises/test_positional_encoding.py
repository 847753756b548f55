import numpy as np
import pytest

from glassformer.reference.positions import sinusoidal_positions


@pytest.mark.parametrize("d_model", [64, 128, 512])
def test_the_first_rise_is_at_the_distance_that_the_check_expects(d_model):
    positions = sinusoidal_positions(60, d_model)
    rise = int(np.flatnonzero(np.diff(positions @ positions[0]) > 0)[0]) + 1
    assert rise == {64: 6, 128: 12, 512: 44}[d_model]

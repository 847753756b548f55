import numpy as np
import pytest

from glassformer.widgets.normals import repeatable_normal


def test_samples_are_normally_distributed():
    numbers = repeatable_normal(seed=1, count=200_000)
    moments = [(numbers**power).mean() for power in (1, 2, 3, 4)]
    assert moments == pytest.approx([0, 1, 0, 3], abs=0.05)
    assert np.corrcoef(numbers[:-1], numbers[1:])[0, 1] == pytest.approx(0, abs=0.01)


def test_a_shorter_sample_is_a_prefix_of_a_longer_one():
    np.testing.assert_array_equal(repeatable_normal(seed=1, count=7), repeatable_normal(seed=1, count=11)[:7])


def test_another_seed_gives_other_numbers():
    assert np.abs(repeatable_normal(seed=1, count=7) - repeatable_normal(seed=2, count=7)).min() > 0

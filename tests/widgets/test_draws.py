import numpy as np
import pytest

from glassformer.widgets.normals import repeatable_normal


def test_the_numbers_are_normal():
    numbers = repeatable_normal(seed=1, count=200_000)
    moments = [(numbers**power).mean() for power in (1, 2, 3, 4)]
    assert moments == pytest.approx([0, 1, 0, 3], abs=0.05)
    assert np.corrcoef(numbers[:-1], numbers[1:])[0, 1] == pytest.approx(0, abs=0.01)


def test_a_longer_draw_begins_with_the_shorter_one():
    np.testing.assert_array_equal(repeatable_normal(seed=1, count=7), repeatable_normal(seed=1, count=11)[:7])


def test_another_seed_draws_other_numbers():
    assert np.abs(repeatable_normal(seed=1, count=7) - repeatable_normal(seed=2, count=7)).min() > 0

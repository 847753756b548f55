import numpy as np
import pytest

from glassformer.widgets.figures.formula.word_vectors import word_vectors


def test_a_word_has_the_same_vector_at_every_position():
    first, other, again = word_vectors(["the", "animal", "the"], 7)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(("one", "same"), [("\u00e9", "e\u0301"), ("\u212b", "A\u030a")])
def test_equivalent_unicode_spellings_have_the_same_vector(one, same):
    assert one != same
    np.testing.assert_array_equal(*word_vectors([one, same], 4))


def test_values_are_uniformly_distributed_tenths():
    drawn = word_vectors([f"word{number}" for number in range(2000)], 4)
    tenths, counts = np.unique((10 * drawn).round(), return_counts=True)
    np.testing.assert_array_equal(tenths, np.arange(-15, 16))
    assert counts.min() > 0.75 * drawn.size / 31
    assert np.abs(np.corrcoef(drawn.T) - np.eye(4)).max() < 0.08

import numpy as np
import pytest

from glassformer.widgets.figures.formula.word_vectors import word_vectors


def test_a_word_has_one_vector_wherever_it_stands():
    first, other, again = word_vectors(["the", "animal", "the"], 7)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(("one", "same"), [("\u00e9", "e\u0301"), ("\u212b", "A\u030a")])
def test_letters_that_look_the_same_are_the_same(one, same):
    assert one != same
    np.testing.assert_array_equal(*word_vectors([one, same], 4))


def test_all_tenths_within_reach_are_drawn_about_equally_often():
    drawn = word_vectors([f"word{number}" for number in range(2000)], 4)
    tenths, counts = np.unique((10 * drawn).round(), return_counts=True)
    np.testing.assert_array_equal(tenths, np.arange(-15, 16))
    assert counts.min() > 0.75 * drawn.size / 31
    assert np.abs(np.corrcoef(drawn.T) - np.eye(4)).max() < 0.08

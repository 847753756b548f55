import numpy as np
import pytest

from glassformer.widgets import live_softmax


def test_the_table_shows_scores_exponentials_and_weights():
    html = live_softmax(["a", "b"], np.array([np.log(3.0), 0.0]))._repr_html_()
    assert "<td>1.1</td><td>3.000</td><td>0.750</td>" in html
    assert "<td>0.0</td><td>1.000</td><td>0.250</td>" in html


@pytest.mark.parametrize("score", [10.1, -11.0, float("nan")])
def test_scores_out_of_range_are_reported(score):
    with pytest.raises(ValueError, match="scores must lie between -10 and 10, got"):
        live_softmax(["a", "b"], np.array([0.0, score]))


def test_each_score_needs_a_label():
    with pytest.raises(ValueError, match="scores"):
        live_softmax(["a"], np.array([0.0, 1.0]))

import numpy as np
import pytest

from glassformer.widgets import live_lookup

KEY = np.array([[2.0, 0.0], [0.0, 2.0], [1.5, -1.5]])
WORDS = {"words": ["animal", "street", "person"], "asker": "it", "unit": "legs"}


def test_the_table_shows_scores_and_both_kinds_of_weights():
    query = np.array([np.log(2), 0.0])
    html = live_lookup(
        query, KEY[:2], np.array([4.0, 0.0]), words=["a", "b"], asker="c", unit="d"
    )._repr_html_()
    assert "<td>(2, 0)</td><td>1.39</td><td>0.800</td><td>1</td><td>4</td>" in html
    assert "<td>(0, 2)</td><td>0.00</td><td>0.200</td><td>0</td><td>0</td>" in html
    assert "<td>3.20 d</td><td>4 d</td>" in html


def test_coordinates_out_of_range_are_reported():
    query, value = np.array([1.0, 0.0]), np.array([4.0, 0.0, 2.0])
    with pytest.raises(ValueError, match=r"query must lie between -3 and 3, got \[3.5, 0.0\]"):
        live_lookup(np.array([3.5, 0.0]), KEY, value, **WORDS)
    with pytest.raises(ValueError, match="key must lie between -3 and 3, got"):
        live_lookup(query, 2 * KEY, value, **WORDS)


def test_each_key_needs_a_label():
    query, value = np.array([1.0, 0.0]), np.array([4.0, 0.0, 2.0])
    with pytest.raises(ValueError, match=r"key must have shape \(2, 2\), got \(3, 2\)"):
        live_lookup(query, KEY, value, words=["a", "b"], asker="it", unit="legs")

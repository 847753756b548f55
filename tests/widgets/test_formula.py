import numpy as np
import pytest

from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.reference.masks import causal_mask
from glassformer.widgets import live_formula
from glassformer.widgets.figures.formula.word_vectors import word_vectors

EYE = np.eye(4)


def test_the_table_shows_every_step_for_the_middle_word():
    words = ["il", "était", "fatigué"]
    html = live_formula("il était  fatigué ", EYE, 2 * EYE, EYE[::-1])._repr_html_()
    x = word_vectors(words, 4)
    attended, weights = scaled_dot_product_attention(x, 2 * x, x[:, ::-1], causal_mask(3))
    assert "Attention of “était”" in html
    rows = [[cell.split("</td>")[0] for cell in row.split("<td>")[1:]] for row in html.split("<tr>")[2:]]
    numbers = [[float(number.replace("−", "-")) for number in row[-2:][0].split()] for row in rows]
    np.testing.assert_allclose(np.ravel(numbers), [*weights[1], 1], atol=0.005)
    assert rows[2][2] == "−∞"
    handed_over = [float(number.replace("−", "-")) for number in rows[3][-1].split()]
    np.testing.assert_allclose(handed_over, attended[1], atol=0.005)


@pytest.mark.parametrize("words", [0, 13])
def test_an_invalid_sentence_is_reported(words):
    with pytest.raises(ValueError, match=f"sentence must have 1 to 12 words, got {words}"):
        live_formula("word " * words, EYE, EYE, EYE)


@pytest.mark.usefixtures("as_a_user")
def test_an_invalid_matrix_is_named():
    with pytest.raises(ValueError, match=r"key_weight must have shape \(4, 4\), got \(4, 3\)"):
        live_formula("word", EYE, EYE[:, :3], EYE)
    with pytest.raises(ValueError, match="value_weight must lie between -2 and 2, got"):
        live_formula("word", EYE, EYE, 2.1 * EYE)

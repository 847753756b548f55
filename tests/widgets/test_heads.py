import numpy as np
import pytest

from glassformer.reference.heads import multi_head_attention
from glassformer.widgets import live_heads

WORDS = ["animal", "it", "tired"]
ROLES = ("query_weight", "key_weight", "value_weight", "output_weight")


@pytest.fixture
def given():
    rng = np.random.default_rng(6)
    weights = dict(zip(ROLES, rng.standard_normal((4, 8, 8)), strict=True))
    return {"words": WORDS, "x": rng.standard_normal((3, 8)), "follow": "it", **weights}


def test_the_table_shows_the_selected_words_weights_in_two_heads(given):
    html = live_heads(**given)._repr_html_()
    x, weights = given["x"], {role: given[role] for role in ROLES}
    output, maps = multi_head_attention(x, x, x, num_heads=2, **weights)
    for key, word in enumerate(WORDS):
        first, second = maps[:, 1, key]
        assert f'<th scope="row">{word}</th><td>{first:.2f}</td><td>{second:.2f}</td>' in html
    assert " ".join(f"{each:.2f}" for each in output[1]).replace("-", "−") in html


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"words": ["it", "it", "tired"]}, "words must all be different, got it, it, tired"),
        ({"follow": "street"}, "follow must be one of 'animal', 'it', 'tired', got 'street'"),
        ({"x": np.ones((2, 8))}, r"x must have shape \(3, 8\), got \(2, 8\)"),
        ({"output_weight": np.ones((8, 4))}, r"output_weight must have shape \(8, 8\), got \(8, 4\)"),
        ({"key_weight": np.full((8, 8), np.nan)}, "key_weight must lie between -10 and 10, got"),
    ],
)
def test_invalid_arguments_are_reported(given, change, complaint):
    with pytest.raises(ValueError, match=complaint):
        live_heads(**given | change)

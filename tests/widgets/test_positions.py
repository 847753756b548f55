import json
import re

import numpy as np
import pytest

from glassformer.widgets import live_positions

PLACES, D_MODEL = 37, 6


def arrays(seed=0, places=PLACES, d_model=D_MODEL):
    rng = np.random.default_rng(seed)
    return {
        "word": rng.standard_normal(d_model),
        "learned": rng.standard_normal((places, d_model)),
        "query_weight": rng.standard_normal((d_model, d_model)),
        "key_weight": rng.standard_normal((d_model, d_model)),
    }


def rows_of(figure):
    rows = re.findall(r'<th scope="row">([^<]+)</th>((?:<td>[^<]+</td>)+)', figure._repr_html_())
    return {
        name: [[float(number) for number in cell.split(" to ")] for cell in re.findall("<td>([^<]+)", cells)]
        for name, cells in rows
    }


def test_only_rotary_and_alibi_depend_on_distance_alone_after_projections():
    rows = rows_of(live_positions(**arrays()))
    alike = {name for name, (*_, (least, most)) in rows.items() if least == most}
    assert alike == {"sinusoidal", "rotary", "rotary, projected", "ALiBi, head 1"}
    assert rows.keys() - alike == {
        "sinusoidal, projected",
        "learned, untrained",
        "learned, untrained, projected",
    }


def test_without_projections_the_score_is_symmetric_in_the_distance():
    rows = rows_of(live_positions(**arrays()))
    for name in ("sinusoidal", "rotary", "ALiBi, head 1"):
        before, _, after, _ = rows[name]
        assert before == after
    before, _, after, _ = rows["rotary, projected"]
    assert before != after


def test_the_dot_product_of_a_position_with_itself_is_half_its_width():
    rows = rows_of(live_positions(**arrays()))
    assert rows["sinusoidal"][1] == [D_MODEL / 2]
    assert rows["ALiBi, head 1"][:3] == [[-0.75], [0], [-0.75]]


def test_the_page_gets_three_digits():
    given = arrays()
    figure = live_positions(**given, num_heads=5)
    data = json.loads(figure.json)
    assert data["num_heads"] == 5
    for name, array in given.items():
        np.testing.assert_array_equal(data[name], array.round(3))


@pytest.mark.usefixtures("as_a_user")
def test_invalid_arrays_are_reported():
    with pytest.raises(ValueError, match="learned must have an even width of at least 4, got 5"):
        live_positions(**arrays(d_model=5))
    with pytest.raises(ValueError, match="learned must have more than 32 positions, got 31"):
        live_positions(**arrays(places=31))
    with pytest.raises(ValueError, match="word"):
        live_positions(**arrays() | {"word": np.ones(7)})
    with pytest.raises(ValueError, match="key_weight"):
        live_positions(**arrays() | {"key_weight": np.ones((6, 7))})
    with pytest.raises(ValueError, match="num_heads must be a positive integer, got 0"):
        live_positions(**arrays(), num_heads=0)

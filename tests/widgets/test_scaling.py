import re

import numpy as np
import pytest

from glassformer.widgets import live_scaling

WIDTHS = [4, 64, 256]


def table_of(figure):
    rows = re.findall(r'<th scope="row">([^<]+)</th>((?:<td>[^<]+</td>)+)', figure._repr_html_())
    return {name: [float(cell) for cell in re.findall(r"<td>([^<]+)</td>", cells)] for name, cells in rows}


def test_the_table_agrees_with_the_chapter_on_each_divisor():
    table = table_of(live_scaling(WIDTHS, start=256))
    deviation, entropy, largest, at_scores, at_query = zip(*table.values(), strict=True)
    assert list(table) == ["undivided", "√d_k", "√d_model", "d_k"]
    np.testing.assert_allclose(deviation, [16, 1, 1 / 2, 1 / 16], rtol=0.05)
    assert entropy[0] < 1 < 3 < entropy[1] < entropy[2] < entropy[3] < 4
    assert 1 > largest[0] > largest[1] > largest[2] > largest[3] > 1 / 16
    assert at_scores[0] < at_scores[1] / 10
    assert at_query[3] < at_query[1] / 10


def test_another_seed_gives_other_numbers():
    first, same, other = (table_of(live_scaling(WIDTHS, start=4, seed=seed)) for seed in (1, 1, 2))
    assert first == same != other


def test_widths_must_increase_and_include_the_start():
    with pytest.raises(ValueError, match=r"widths must increase from at least 1, got \[4, 2\]"):
        live_scaling([4, 2], start=4)
    with pytest.raises(ValueError, match=r"start must be one of \[4, 64, 256\], got 5"):
        live_scaling(WIDTHS, start=5)
    with pytest.raises(ValueError, match="num_keys must be a positive integer, got 0"):
        live_scaling(WIDTHS, start=4, num_keys=0)

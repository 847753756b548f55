import re

import numpy as np
import pytest

from glassformer.widgets import live_recurrence

WORDS = ["The", "animal", "slept"]


@pytest.fixture
def given():
    return {
        "words": WORDS,
        "source": "animal",
        "target": "slept",
        "lengths": [16, 32],
        "length": 32,
        "settings": [(1, 64), (8, 64), (8, 128)],
        "lstm": np.array([[0.25, 0.5], [1.0, 2.0], [3.0, 6.0]]),
        "attention": np.array([[0.125, 0.75], [0.5, 3.0], [1.5, 9.0]]),
        "measured": "Measured on an abacus.",
    }


def test_the_table_shows_steps_and_remaining_signals(given):
    html = live_recurrence(**given)._repr_html_()
    rows = re.findall(r'<th scope="row">(\w+)</th>((?:<td>[^<]+</td>)+)', html)
    cells = {word: re.findall(r"<td>([^<]+)</td>", row) for word, row in rows}
    assert cells == {
        "The": ["step 1", "nothing", "0.00", "step 1", "0.90"],
        "animal": ["step 2", "the state at The", "1.00", "step 1", "0.90"],
        "slept": ["step 3", "the state at animal", "0.90", "step 1", "0.90"],
    }


def test_the_caption_states_the_measured_times(given):
    html = live_recurrence(**given)._repr_html_()
    assert (
        "For 32 words, 1 sentence, d = 64, an LSTM layer takes 0.5 ms, an attention layer 0.75 ms. "
        "Measured on an abacus.</caption>"
    ) in html


def test_without_times_only_the_path_is_shown(given):
    words = {name: given[name] for name in ("words", "source", "target")}
    html = live_recurrence(**words)._repr_html_()
    assert "if every hop multiplies it by 0.9.</caption>" in html
    assert "settings" not in html.split("</script>", maxsplit=1)[0]


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"words": ["it", "it"]}, "words must all be different, got it, it"),
        ({"source": "dog"}, "source must be one of 'The', 'animal', 'slept', got 'dog'"),
        ({"target": "dog"}, "target must be one of 'The', 'animal', 'slept', got 'dog'"),
        ({"lengths": [32, 16]}, r"lengths must increase, got \[32, 16\]"),
        ({"length": 20}, r"length must be one of \[16, 32\], got 20"),
        ({"lstm": np.ones((2, 2))}, r"lstm must have shape \(3, 2\), got \(2, 2\)"),
        ({"attention": np.ones((3, 3))}, r"attention must have shape \(3, 2\), got \(3, 3\)"),
        ({"lstm": np.zeros((3, 2))}, "lstm must be positive and finite, got"),
        ({"attention": np.full((3, 2), np.inf)}, "attention must be positive and finite, got"),
        ({"lstm": None}, "lengths, length, settings, lstm and attention must be given together"),
    ],
)
def test_invalid_arguments_are_reported(given, change, complaint):
    with pytest.raises(ValueError, match=complaint):
        live_recurrence(**given | change)

import json
import re
from pathlib import Path

import numpy as np
import pytest

from glassformer.widgets import live_training

STORED = Path(__file__).parents[2] / "benchmarks/results/training_replay.json"


@pytest.fixture
def given():
    """An artificial run with three checkpoints."""
    return {
        "sentences": ["I sleep.", "It was tired."],
        "references": ["Je dors.", "Il était fatigué."],
        "learned": [True, False],
        "steps": [10, 20, 40],
        "bleu": [0.0, 12.5, 31.0],
        "translations": [
            ["Je Je.", "la " * 50],
            ["Je le.", "Il la était."],
            ["Je dors.", "Il était fatigué."],
        ],
        "training": {"step": [5, 15, 40], "loss": [6.0, 4.25, 2.0], "learning_rate": [1e-4, 3e-4, 2e-4]},
        "validation": {"step": [20, 40], "loss": [4.0, 2.5]},
        "source_tokens": ["▁It", "▁was", "▁tired", ".", "<end>"],
        "target_tokens": ["▁Il", "▁était", "▁fatigué", "<end>"],
        "maps": np.random.default_rng(2).dirichlet(np.ones(5), size=(3, 2, 3, 4)),
    }


def data_of(figure):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', figure._repr_html_())[1])


def test_each_checkpoint_gets_the_last_logged_values_up_to_its_step(given):
    checkpoints = data_of(live_training(**given))["checkpoints"]
    assert [(each["loss"], each["rate"]) for each in checkpoints] == [(6.0, 1e-4), (4.25, 3e-4), (2.0, 2e-4)]


def test_a_checkpoint_has_a_validation_loss_only_if_one_was_measured(given):
    checkpoints = data_of(live_training(**given))["checkpoints"]
    assert [each["validationLoss"] for each in checkpoints] == [None, 4.0, 2.5]


def test_words_that_changed_since_the_previous_checkpoint_are_marked(given):
    checkpoints = data_of(live_training(**given))["checkpoints"]
    assert [each["changed"] for each in checkpoints] == [[[], []], [[1], [0, 2]], [[1], [1, 2]]]


def test_a_very_long_translation_is_shortened(given):
    first = data_of(live_training(**given))["checkpoints"][0]["translations"]
    assert first == ["Je Je.", f"{'la ' * 26}l…"]


def test_weights_are_stored_as_integers_per_thousand(given):
    checkpoints = data_of(live_training(**given))["checkpoints"]
    written = np.array([each["maps"].split() for each in checkpoints], dtype=int)
    np.testing.assert_allclose(written.reshape(given["maps"].shape) / 1000, given["maps"], atol=5.01e-4)


def test_the_table_lists_the_checkpoints(given):
    html = live_training(**given)._repr_html_()
    row = "<td>4.25</td><td>0.00030</td><td>12.5</td><td>Il la était.</td>"
    assert f'<th scope="row">20</th>{row}' in html


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            {"references": ["Je dors."]},
            r"sentences, references and learned must have the same length, got \[2, 1, 2\]",
        ),
        ({"bleu": [1.0]}, r"steps, bleu and translations must have the same length, got \[3, 1, 3\]"),
        ({"translations": [["a"]] * 3}, "sentences and translations must have the same length"),
        ({"validation": {"step": [20], "loss": []}}, r"validation\['step'\] and validation\['loss'\] must"),
        ({"steps": [10, 40, 20]}, r"steps must increase.*, got \[10, 40, 20\]"),
        ({"steps": [4, 20, 40]}, r"steps must .* not start before those of training, got \[4, 20, 40\]"),
        ({"target_tokens": ["<end>"]}, r"maps must have shape \(3, 2, 3, 1, 5\), got \(3, 2, 3, 4, 5\)"),
        ({"maps": np.full((3, 2, 3, 4, 5), 1.5)}, "maps must lie between 0 and 1, got 1.5 to 1.5"),
    ],
)
def test_invalid_arguments_are_reported(given, change, complaint):
    with pytest.raises(ValueError, match=complaint):
        live_training(**given | change)


def test_the_stored_run_can_be_replayed_and_fits_the_question():
    measured = json.loads(STORED.read_text(encoding="utf-8"))["measured"]
    maps = measured.pop("maps")
    weights = np.array(" ".join(maps["per mille"]).split(), dtype=float).reshape(maps["shape"]) / 1000
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=0.01)
    figure = live_training(**measured, maps=weights)
    assert len(figure.json) < 250_000
    assert len(set(measured["translations"][0])) == 1
    assert "The animal didn't cross the street because it was too tired." in measured["sentences"]

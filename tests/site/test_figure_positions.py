"""All four position schemes give the same scores as in the package, and positions move by keyboard."""

import json

import numpy as np
import pytest

from glassformer.reference.positions import alibi, apply_rotary_embedding, sinusoidal_positions
from glassformer.widgets import live_positions

PLACES, D_MODEL, HEADS = 40, 6, 5
STATES = [
    {"position": 0, "shift": 0, "pair": 0, "head": 1},
    {"position": 11, "shift": 7, "pair": 1, "head": 3},
    {"position": 39, "shift": -13, "pair": 2, "head": 5},
]
SCHEMES = ["sinusoidal", "learned, untrained", "rotary", "ALiBi"]


@pytest.fixture(scope="module")
def live():
    rng = np.random.default_rng(1)
    return live_positions(
        rng.standard_normal(D_MODEL),
        rng.standard_normal((PLACES, D_MODEL)),
        *rng.standard_normal((2, D_MODEL, D_MODEL)),
        num_heads=HEADS,
    )


@pytest.fixture
def figure(page, monkeypatch, live):
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    page.set_content(live._repr_html_())
    return page.locator("glass-figure")


def by_package(live, kind, projected):
    """Return query and key vectors of all positions, and their scores."""
    data = json.loads(live.json)
    word, learned, *weights = (
        np.array(data[name]) for name in ("word", "learned", "query_weight", "key_weight")
    )
    if kind == "ALiBi":
        return None, alibi(PLACES, PLACES, HEADS)
    entering = {
        "sinusoidal": sinusoidal_positions(PLACES, D_MODEL),
        "learned, untrained": learned,
        "rotary": np.tile(word, (PLACES, 1)),
    }[kind]
    behind = [entering @ weight if projected else entering for weight in weights]
    if kind == "rotary":
        behind = [apply_rotary_embedding(each) for each in behind]
    shown = behind if kind == "rotary" else [entering, entering]
    return shown, behind[0] @ behind[1].T


@pytest.mark.parametrize("kind", SCHEMES)
def test_pairs_and_scores_are_those_of_the_package(page, figure_script, live, kind):
    figure_script("positions")
    data = json.loads(live.json)
    for projected in (False, True):
        shown, scores = by_package(live, kind, projected)
        for state in STATES:
            asked = data | state | {"kind": kind, "projected": projected}
            found = page.evaluate("state => glassformer.computePositions(state)", asked)
            each = scores[state["head"] - 1] if kind == "ALiBi" else scores
            np.testing.assert_allclose(found["scores"], each[state["position"]], atol=1e-9)
            alike = [np.diagonal(each, distance) for distance in range(-data["reach"], data["reach"] + 1)]
            np.testing.assert_allclose(found["least"], [same.min() for same in alike], atol=1e-9)
            np.testing.assert_allclose(found["most"], [same.max() for same in alike], atol=1e-9)
            pair = slice(2 * state["pair"], 2 * state["pair"] + 2)
            for name, vectors in zip(("query", "key"), shown or (), strict=False):
                np.testing.assert_allclose(found[name], vectors[:, pair], atol=1e-9)


def test_a_shift_rotates_the_pair_by_the_stated_angle(page, figure_script, live):
    figure_script("positions")
    asked = json.loads(live.json) | STATES[1] | {"kind": "sinusoidal", "projected": False}
    found = page.evaluate("state => glassformer.computePositions(state)", asked)
    (sine, cosine), angle = found["query"][11], found["angle"]
    turned = [np.cos(angle) * sine + np.sin(angle) * cosine, np.cos(angle) * cosine - np.sin(angle) * sine]
    np.testing.assert_allclose(turned, found["key"][18], atol=1e-9)


def test_arrow_keys_move_positions_and_the_summary_says_if_the_score_changes(page, figure, live):
    figure.get_by_label("scheme").select_option("rotary")
    figure.get_by_label("after random projections").check()
    figure.get_by_label("position").focus()
    page.keyboard.press("ArrowRight")
    figure.get_by_label("shift").focus()
    page.keyboard.press("ArrowLeft")
    score = f"{by_package(live, 'rotary', True)[1][25, 27]:.2f}".replace("-", "−")
    sentence = f"from position 25 to 27 the score is {score}, the same as from any position with shift +2."
    figure.get_by_role("status").filter(has_text=sentence).wait_for()
    figure.get_by_label("scheme").select_option("sinusoidal")
    assert "from other positions with the same shift" in figure.locator(".summary").inner_text()


def test_positions_stay_within_the_sequence(page, figure):
    place, shift = (figure.get_by_label(name) for name in ("position", "shift"))
    place.focus()
    page.keyboard.press("End")
    assert (place.input_value(), shift.input_value()) == ("39", "0")
    shift.focus()
    page.keyboard.press("ArrowRight")
    assert (place.input_value(), shift.get_attribute("aria-valuetext")) == ("38", "+1")

"""Remaining signals agree with the package's network, and only measured times are shown."""

import itertools

import numpy as np
import pytest

from glassformer.reference.recurrence import elman_rnn
from glassformer.widgets import live_recurrence

WORDS = ["The", "animal", "slept", "because", "it", "was", "tired"]
LENGTHS = [16, 64, 256, 1024]
LSTM = np.array([[0.13, 0.2, 0.5, 1.9], [0.23, 0.52, 1.8, 7.1]])
ATTENTION = np.array([[0.12, 0.15, 0.45, 4.5], [0.18, 0.43, 2.7, 30.0]])
RADII = [0.5, 0.9, 1.0, 1.1]
TINY = 1e-5  # tanh is a straight line here


@pytest.fixture
def figure(page, monkeypatch):
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    words = {"words": WORDS, "source": "animal", "target": "it"}
    clock = {"lengths": LENGTHS, "length": 64, "lstm": LSTM, "attention": ATTENTION}
    settings = [(1, 64), (8, 64)]
    made = live_recurrence(**words, **clock, settings=settings, measured="Measured on an abacus.")
    page.set_content(made._repr_html_())
    return page.locator("glass-figure")


def left_at_each_word(radius, source):
    """Send a signal through an Elman network with a scaled rotation matrix; return its norm in all states."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    x = np.zeros((len(WORDS), 4))
    x[source, 0] = TINY
    states = elman_rnn(x, input_weight=np.eye(4), hidden_weight=radius * turn, bias=np.zeros(4))
    return np.linalg.norm(states, axis=-1) / TINY


def test_the_remaining_signal_is_that_of_the_packages_network(page, figure_script):
    figure_script("recurrence")
    for radius, (source, target) in itertools.product(RADII, [(0, 6), (1, 4), (3, 3), (5, 2)]):
        state = {"count": len(WORDS), "source": source, "target": target, "radius": radius, "step": 3}
        found = page.evaluate("state => glassformer.computeSignals(state)", state)
        left = left_at_each_word(radius, source)
        np.testing.assert_allclose([word["left"] for word in found["recurrence"]], left, atol=1e-6)
        path = found["paths"]["recurrence"]
        assert path["left"] == pytest.approx(left[target], abs=1e-6)
        assert path["hops"] == (target - source if target >= source else None)
        assert found["paths"]["attention"] == {"hops": 1, "left": radius}


def test_recurrence_processes_one_word_per_step_and_attention_all_at_once(page, figure_script):
    figure_script("recurrence")
    for step in range(1, 8):
        state = {"count": 7, "source": 1, "target": 4, "radius": 0.9, "step": step}
        found = page.evaluate("state => glassformer.computeSignals(state)", state)
        works = {layer: [word["work"] for word in found[layer]] for layer in ("recurrence", "attention")}
        assert works["recurrence"] == ["done"] * (step - 1) + ["now"] + ["waits"] * (7 - step)
        assert works["attention"] == ["now" if step == 1 else "done"] * 7


def test_times_are_the_measured_ones_with_the_crossing_between_lengths(page, figure_script):
    figure_script("recurrence")
    crossings = {(0, 2): None, (0, 3): [256, 1024], (1, 1): None, (1, 2): [64, 256], (1, 3): [64, 256]}
    for (setting, place), crossing in crossings.items():
        times = {"lstm": LSTM[setting].tolist(), "attention": ATTENTION[setting].tolist()}
        state = {"lengths": LENGTHS, **times, "place": place}
        found = page.evaluate("state => glassformer.compareTimes(state)", state)
        assert [found["lstm"], found["attention"]] == [LSTM[setting, place], ATTENTION[setting, place]]
        assert found["crossing"] == crossing
        assert found["faster"] == ("attention" if crossing is None else "the LSTM")


def test_arrow_keys_change_the_step_and_the_summary_lists_waiting_words(page, figure):
    step = figure.get_by_label("step", exact=True)
    step.focus()
    page.keyboard.press("ArrowRight")
    assert step.get_attribute("aria-valuetext") == "5 of 7"
    sentence = "recurrence processes “it”; 2 words wait, “was” for the state at “it”; attention finished"
    figure.get_by_role("status").filter(has_text=sentence).wait_for()
    assert figure.locator(".box.recurrence.waits").count() == 2
    assert figure.locator(".box.recurrence.now").text_content() == "0.73"
    page.keyboard.press("Home")
    assert "attention processes all 7 words at once" in figure.locator(".summary").first.inner_text()
    assert figure.locator(".box.attention.now").count() == 7
    button = figure.get_by_role("button", name="next")
    button.click(click_count=3)
    assert step.input_value() == "4"
    step.press("End")
    figure.get_by_role("button", name="again").click()
    assert step.input_value() == "1"


def test_words_and_spectral_radius_can_be_changed(page, figure):
    rows = figure.locator(".paths tbody").get_by_role("row")
    assert [row.split() for row in rows.all_inner_texts()] == [
        ["recurrence", "3", "0.903", "=", f"{0.9**3:.3f}"],
        ["attention", "1", "0.901", "=", "0.900"],
    ]
    figure.get_by_label("to", exact=True).select_option("tired")
    figure.get_by_label("spectral radius ρ").focus()
    page.keyboard.press("Home")
    sentence = f"5 hops leave {0.5**5:.3f} in recurrence, 1 leaves 0.500 in attention"
    figure.get_by_role("status").filter(has_text=sentence).wait_for()
    figure.get_by_label("to", exact=True).select_option("The")
    assert rows.first.inner_text().split() == ["recurrence", "no", "path", "0"]


def test_only_measured_lengths_can_be_selected(page, figure):
    longer = figure.get_by_label("words", exact=True)
    longer.focus()
    page.keyboard.press("Home")
    for length, lstm, attention in zip(LENGTHS, LSTM[0], ATTENTION[0], strict=True):
        assert longer.get_attribute("aria-valuetext") == str(length)
        times = figure.locator(".times").get_by_role("row").all_inner_texts()
        assert [row.split()[1] for row in times] == [f"{lstm:g}", f"{attention:g}"]
        page.keyboard.press("ArrowRight")
    sentence = "attention 4.5 ms; the LSTM becomes faster between 256 and 1024 words."
    figure.get_by_role("status").filter(has_text=sentence).wait_for()
    figure.get_by_label("timed with").select_option("8 sentences, d = 64")
    assert "becomes faster between 64 and 256" in figure.locator(".summary").last.inner_text()
    figure.get_by_role("button", name="Attention").click()
    assert figure.locator(".verdict").inner_text().startswith("No: An LSTM.")

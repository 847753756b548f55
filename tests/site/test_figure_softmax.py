"""The softmax figure computes the same numbers as the package."""

import itertools

import numpy as np
import pytest

from glassformer.reference.softmax import softmax
from glassformer.widgets import live_softmax

SCORES = [[2.0, 1.0, -1.0], [0.0, 0.0, 0.0], [-10.0, 10.0, 3.3, 9.9]]
TEMPERATURES = [0.1, 1.0, 3.7]
WORDS = ["animal", "street", "tired"]
LARGEST = {name: float(np.finfo(name).max) for name in ("float16", "float32", "float64")}


@pytest.fixture
def numbers(page, figure_script):
    figure_script("softmax")
    return lambda **state: page.evaluate("state => glassformer.computeSoftmax(state)", state)


def test_weights_jacobian_and_entropy_are_those_of_the_package(numbers):
    for scores, temperature, shifted in itertools.product(SCORES, TEMPERATURES, [True, False]):
        found = numbers(scores=scores, temperature=temperature, level=4, format="float64", shifted=shifted)
        weights = softmax(np.array(scores) / temperature)
        jacobian = (np.diag(weights) - np.outer(weights, weights)) / temperature
        np.testing.assert_allclose(found["weights"], weights, rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(found["jacobian"], jacobian, rtol=1e-9, atol=1e-12)
        entropy = -sum(weight * np.log(weight) for weight in weights)
        assert found["entropy"] == pytest.approx(entropy, rel=1e-9)


@pytest.mark.parametrize("format", LARGEST)
def test_without_the_shift_exponentials_overflow_at_the_limit_of_the_format(numbers, format):
    highest = np.log(LARGEST[format])
    for level, breaks in ((highest - 0.01, False), (highest + 0.01, True)):
        state = {"scores": [0.0, -1000.0], "temperature": 1, "level": level, "format": format}
        assert np.isnan(numbers(**state, shifted=False)["weights"][0]) == breaks
        assert numbers(**state, shifted=True)["weights"][0] == 1


@pytest.mark.parametrize("format", LARGEST)
def test_without_the_shift_small_exponentials_underflow(numbers, format):
    lowest = np.log(float(np.finfo(format).smallest_subnormal)) - np.log(2)
    for level, breaks in ((lowest + 0.01, False), (lowest - 0.01, True)):
        state = {"scores": [0.0, -1000.0], "temperature": 1, "level": level, "format": format}
        assert np.isnan(numbers(**state, shifted=False)["weights"][0]) == breaks
        assert numbers(**state, shifted=True)["weights"][0] == 1


@pytest.fixture
def figure(page, monkeypatch):
    """The figure as in a notebook, with its scripts."""
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    page.set_content(live_softmax(WORDS, np.array([2.0, 1.0, -1.0]))._repr_html_())
    return page.locator("glass-figure")


def said(figure):
    return figure.locator(".summary").inner_text()


def test_arrow_keys_change_a_score_and_update_the_summary(page, figure):
    figure.get_by_label("tired").focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    weights = softmax(np.array([2.0, 1.0, 1.0]))
    sentence = f"animal {weights[0]:.3f}, street {weights[1]:.3f}, tired {weights[2]:.3f}."
    assert sentence in said(figure)
    figure.get_by_role("status").filter(has_text=sentence).wait_for()


def test_the_summary_mentions_equal_weights(figure):
    assert "Largest weight: “animal”;" in said(figure)
    figure.get_by_label("street").fill("2")
    assert "Largest weight: “animal” and “street”, equally;" in said(figure)


def test_overflow_and_underflow_are_explained(figure):
    figure.get_by_label("format").select_option("float16")
    figure.get_by_label("add to all scores").fill("10")
    assert "animal 0.705" in said(figure)
    figure.get_by_label("subtract the largest score first").uncheck()
    assert "An exponential is too large for float16" in said(figure)
    figure.get_by_label("add to all scores").fill("0")
    figure.get_by_label("temperature").fill("0.1")
    for word in WORDS:
        figure.get_by_label(word).fill("-10")
    assert "Every exponential is too small for float16" in said(figure)


def test_a_sum_that_overflows_alone_makes_every_weight_zero(figure):
    figure.get_by_label("format").select_option("float16")
    figure.get_by_label("subtract the largest score first").uncheck()
    for word in WORDS:
        figure.get_by_label(word).fill("10")
    assert "Each exponential fits into float16, but their sum does not: every weight is 0." in said(figure)
    weights = figure.locator(".numbers tbody tr > :nth-child(5)").all_inner_texts()
    assert weights == ["0.000"] * len(WORDS)

"""Samples and measures are the same in the browser as in Python."""

import numpy as np
import pytest

from glassformer.reference.softmax import softmax, softmax_backward
from glassformer.widgets import live_scaling
from glassformer.widgets.normals import repeatable_normal

SEED, QUERIES, KEYS, HEADS = 3, 64, 16, 4
DIVISORS = {
    "undivided": lambda d_k: 1,
    "√d_k": np.sqrt,
    "√d_model": lambda d_k: np.sqrt(HEADS * d_k),
    "d_k": lambda d_k: d_k,
}


@pytest.fixture
def numbers(page, figure_script):
    figure_script("scaling")
    page.evaluate("globalThis.drawn = []")
    state = {"seed": SEED, "num_queries": QUERIES, "num_keys": KEYS, "num_heads": HEADS}
    plain = """state => {
        const numbers = glassformer.computeScaling(state, drawn);
        for (const each of Object.values(numbers)) each.scores = [...each.scores];
        return numbers;
    }"""
    return lambda d_k: page.evaluate(plain, state | {"d_k": d_k})


def by_package(d_k, divisor):
    blocks = repeatable_normal(SEED, (1 + d_k) * QUERIES * (1 + KEYS)).reshape(1 + d_k, -1)
    grad_weights, *key = blocks[:, QUERIES:].reshape(1 + d_k, QUERIES, KEYS)
    query, key = blocks[1:, :QUERIES].T, np.stack(key, axis=-1)
    scores = np.einsum("qd,qkd->qk", query, key) / divisor
    weights = softmax(scores)
    grad_scores = softmax_backward(grad_weights, weights)
    grad_query = np.einsum("qk,qkd->qd", grad_scores, key) / divisor
    return {
        "scores": scores.ravel(),
        "ranked": np.sort(weights)[:, ::-1].mean(axis=0),
        "deviation": scores.std(),
        "entropy": -(weights * np.log2(weights)).sum(axis=-1).mean(),
        "largest": weights.max(axis=-1).mean(),
        "atScores": np.median(np.linalg.norm(grad_scores, axis=-1)),
        "atQuery": np.median(np.linalg.norm(grad_query, axis=-1)),
    }


def test_scores_weights_and_gradients_are_those_of_the_package(numbers):
    for d_k in (4, 256, 64):  # the last uses again what was drawn for the wider one
        found = numbers(d_k)
        assert list(found) == list(DIVISORS)
        for name, divisor in DIVISORS.items():
            expected = by_package(d_k, divisor(d_k))
            assert set(found[name]) == set(expected)
            for measure, number in expected.items():
                np.testing.assert_allclose(found[name][measure], number, rtol=1e-9, atol=1e-9)


def test_width_and_divisor_can_be_changed_by_keyboard(page, monkeypatch):
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    page.set_content(live_scaling([64, 128, 256], start=64)._repr_html_())
    figure = page.locator("glass-figure")
    figure.get_by_label("width d_k").focus()
    page.keyboard.press("ArrowRight")
    figure.get_by_role("radio", name="undivided").focus()
    page.keyboard.press("ArrowDown")
    expected = by_package(128, 128**0.5)
    sentence = (
        f"d_k 128, divided by √d_k: largest weight {expected['largest']:.2f}, "
        f"entropy {expected['entropy']:.2f} bits, median gradient at the scores "
        f"{expected['atScores']:.3f}."
    )
    figure.get_by_role("status").filter(has_text=sentence).wait_for()
    assert figure.locator("tr.chosen").get_by_text(f"{expected['entropy']:.3f}").is_visible()

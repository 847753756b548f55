"""The formula figure computes the same numbers as the package, and its mask can be edited."""

import numpy as np
import pytest

from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.reference.masks import causal_mask
from glassformer.widgets import live_formula
from glassformer.widgets.figures.formula.word_vectors import word_vectors

PROJECTIONS = np.random.default_rng(24).integers(-2, 3, (3, 4, 4)) / 2
SENTENCES = [
    ["il", "était", "trop", "fatigué"],
    ["the", "animal", "didn’t", "cross", "the", "street", "because", "it", "was", "too", "tired", "."],
    ["<b>", "\U0001f98a", "e\u0301", "الحيوان", "\u202edrow"],
    ["alone"],
]


@pytest.fixture
def numbers(page, figure_script):
    figure_script("formula")
    projections = dict(zip(("query", "key", "value"), PROJECTIONS.tolist(), strict=True))
    return lambda words, mask: page.evaluate(
        "state => glassformer.computeSteps(state)",
        {"words": words, "mask": mask.tolist(), "projections": projections},
    )


@pytest.mark.parametrize("words", SENTENCES)
def test_every_step_agrees_with_the_package(numbers, words):
    size = len(words)
    x = word_vectors(words, 4)
    query, key, value = (x @ projection for projection in PROJECTIONS)
    painted = np.random.default_rng(size).random((size, size)) < 0.6
    painted[0] = False
    for mask in (np.ones((size, size), dtype=bool), causal_mask(size), painted):
        found = numbers(words, mask)
        attended, weights = scaled_dot_product_attention(query, key, value, mask)
        np.testing.assert_array_equal(found["x"], x)
        np.testing.assert_allclose(found["scores"], query @ key.T, atol=1e-9)
        np.testing.assert_allclose(found["scaled"], query @ key.T / 2, atol=1e-9)
        np.testing.assert_allclose(found["weights"], weights, atol=1e-9)
        np.testing.assert_allclose(found["attended"], attended, atol=1e-9)


@pytest.fixture
def figure(page, monkeypatch):
    """The figure as in a notebook, with its scripts."""
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    page.set_content(live_formula(" ".join(SENTENCES[0]), *PROJECTIONS)._repr_html_())
    return page.locator("glass-figure")


def weights_under(mask):
    x = word_vectors(SENTENCES[0], 4)
    return scaled_dot_product_attention(*(x @ projection for projection in PROJECTIONS), mask)[1]


def cell(figure, query, key):
    return figure.get_by_role("button", name=f"{query} may attend to {key}:")


def test_steps_and_mask_can_be_changed_by_keyboard(page, figure):
    figure.get_by_label("QKᵀ").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert "“trop”: its largest weight is" in figure.locator(".summary").inner_text()

    cell(figure, "trop", "il").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    mask = causal_mask(4)
    mask[2, 1] = False
    assert figure.get_by_label("mask", exact=True).input_value() == "custom"
    assert cell(figure, "trop", "était").get_attribute("aria-pressed") == "false"
    best = weights_under(mask)[2].max()
    sentence = f"“trop”: its largest weight is {best:.2f}, on “trop”; its weights sum to 1."
    figure.get_by_role("status").filter(has_text=sentence).wait_for()


def test_a_fully_masked_word_gets_zeros(figure):
    figure.get_by_label("· V").check(force=True)
    cell(figure, "il", "il").click()
    sentence = "“il”: its output is 0.00, 0.00, 0.00, 0.00, because all its keys are masked."
    assert figure.locator(".summary").inner_text() == sentence


def test_any_sentence_is_treated_as_text(figure):
    field = figure.get_by_label("Your sentence")
    field.fill("<b>bold</b> \U0001f98a </script> " + "word " * 10)
    assert "Only the first 12 words are used." in figure.locator(".summary").inner_text()
    assert figure.locator(".mask tbody tr").count() == 12
    assert figure.locator(".mask b").count() == 0
    field.fill("  ")
    assert figure.locator(".summary").inner_text() == "Type a word to start."
    field.fill("one")
    assert figure.locator(".mask td button").count() == 1


def test_words_added_to_an_edited_mask_follow_its_original_kind(figure):
    cell(figure, "il", "fatigué").click()
    figure.get_by_label("Your sentence").fill("il était trop fatigué pour traverser")
    mask = causal_mask(6)
    mask[0, 3] = True
    pressed = [
        each.get_attribute("aria-pressed") == "true" for each in figure.locator(".mask td button").all()
    ]
    assert pressed == mask.ravel().tolist()

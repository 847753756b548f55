"""The front page shows a recording, and the loaded translator computes the same numbers."""

import itertools

import numpy as np
import pytest

from glassformer.widgets import live_hero
from glassformer.widgets.figures.hero import RECORDED

ENGLISH, FRENCH = ("English tokens", "French tokens")
WEIGHTS = np.array(RECORDED["weights"])


def bare(pieces):
    return [piece.removeprefix("▁") for piece in pieces]


@pytest.fixture
def hero(page, monkeypatch):
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    page.set_content(live_hero()._repr_html_())
    return page.locator("glass-figure")


def weights_of(figure):
    return figure.get_by_role("group", name=ENGLISH).locator(".weight").all_text_contents()


def test_arrow_keys_pick_a_french_token_and_describe_its_attention(page, hero):
    french = hero.get_by_role("group", name=FRENCH)
    assert [*french.locator(".token").all_text_contents()] == bare(RECORDED["target"])
    elle = RECORDED["target"].index("▁elle")
    places = [elle, 0, 1, len(WEIGHTS) - 1]
    french.locator("[aria-pressed=true]").focus()
    for place, key in zip(places, [None, "Home", "ArrowRight", "End"], strict=True):
        if key:
            page.keyboard.press(key)
        row = WEIGHTS[place]
        words = [bare(RECORDED["target"])[place], bare(RECORDED["source"])[row.argmax()]]
        sentence = (
            f"Writing “{words[0]}”, it attends most to “{words[1]}”: {row.max():.2f}, "
            "averaged over all 18 cross-attention heads."
        )
        assert hero.locator(".summary").inner_text() == sentence
        assert french.locator(":focus").inner_text() == words[0]
        assert weights_of(hero) == [f"{weight:.2f}" if weight >= 0.015 else "" for weight in row]
    hero.get_by_role("status").filter(has_text=sentence).wait_for()


def test_hovering_over_a_token_shows_its_threads_without_picking_it(hero):
    before = hero.locator(".summary").inner_text()
    rue = RECORDED["target"].index("▁rue")
    hero.get_by_role("button", name="rue").hover()
    assert weights_of(hero)[WEIGHTS[rue].argmax()] == f"{WEIGHTS[rue].max():.2f}"
    assert hero.locator("path.lit").count() == (WEIGHTS[rue] >= 0.005).sum()
    assert hero.locator(".summary").inner_text() == before
    hero.get_by_role("button", name="rue").click()
    assert "Writing “rue”" in hero.locator(".summary").inner_text()


def test_the_mean_is_taken_over_all_cross_attention_heads(page, figure_script):
    figure_script("hero")
    rng = np.random.default_rng(0)
    names = [
        "decoder.layers.0.cross_attention",
        "encoder.layers.0.self_attention",
        "decoder.layers.1.cross_attention",
    ]
    maps = {name: rng.random((3, 2, 5)) for name in names}
    found = page.evaluate(
        "maps => glassformer.meanCrossAttention(maps)", {name: map.tolist() for name, map in maps.items()}
    )
    np.testing.assert_allclose(found, (maps[names[0]].mean(0) + maps[names[2]].mean(0)) / 2, rtol=1e-9)


def test_outside_the_website_the_recording_stays_with_a_message(hero):
    hero.get_by_role("button", name="Load and translate").click()
    hero.locator(".message").filter(has_text="only available on the book's website").wait_for()
    assert hero.get_by_role("button", name="elle").is_visible()


def test_the_front_page_computes_the_recorded_translation(page, served):
    page.goto(f"{served}/intro.html")
    figure = page.locator("glass-figure")
    field = figure.get_by_label("An English sentence")
    message = figure.locator(".message")
    field.fill("No.")
    figure.get_by_role("button", name="Load and translate").click()
    message.filter(has_text="Translated in this page").wait_for()
    french = figure.get_by_role("group", name=FRENCH).locator(".token")
    assert french.all_text_contents() == ["N", "on", ".", "<end>"]
    for sentence, words in {
        " ": "Please type a sentence first",
        "dog " * 50: "too long for this picture: it has 51",
    }.items():
        field.fill(sentence)
        field.press("Enter")
        message.filter(has_text=words).wait_for()
    field.fill("No, " * 13)
    field.press("Enter")
    message.filter(has_text="Truncated: this picture shows at most 40 French tokens").wait_for()
    assert french.count() == 40
    boxes = [token.bounding_box() for token in french.all()]
    assert all(after["y"] >= before["y"] + before["height"] for before, after in itertools.pairwise(boxes))
    field.fill(RECORDED["english"])
    field.press("Enter")
    message.filter(has_text="Translated in this page").wait_for()
    assert french.all_text_contents() == bare(RECORDED["target"])
    assert figure.locator(".stacked").count() == 0
    strengths = """token => [...document.querySelectorAll("[lang=en] > .token")].map(
      (token) => Number(token.style.getPropertyValue("--strength")))"""
    for place in (0, 10):
        french.nth(place).click()
        np.testing.assert_allclose(page.evaluate(strengths), WEIGHTS[place], atol=2e-4)
    figure.get_by_role("link").click()
    assert page.locator("h1").first.inner_text().startswith("Try it")


@pytest.mark.parametrize("width", [320, 390, 600])
def test_the_two_sentences_stand_apart_on_a_phone(page, served_without_mathjax, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{served_without_mathjax}/intro.html")
    english, french = (
        [token.bounding_box() for token in page.get_by_role("group", name=name).locator(".token").all()]
        for name in (ENGLISH, FRENCH)
    )
    end_of_english = max(box["x"] + box["width"] for box in english)
    assert min(box["x"] for box in french) - end_of_english >= 60

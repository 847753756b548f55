"""The replay shows the numbers of its maps, and moves by keyboard and by playback."""

from itertools import pairwise

import numpy as np
import pytest

from glassformer.widgets import live_training

MAPS = np.random.default_rng(2).dirichlet(np.ones(5) / 3, size=(3, 2, 3, 4))  # 3 checkpoints, 2 x 3 heads
SIZES = {"numLayers": 2, "numHeads": 3, "sourceTokens": list("abcde"), "targetTokens": list("vwxy")}


@pytest.fixture
def show(page, monkeypatch):
    """Show an artificial run with three checkpoints."""
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)

    def show_run(**change):
        given = {
            "sentences": ["I sleep.", "It was tired."],
            "references": ["Je dors.", "Il était fatigué."],
            "learned": [True, False],
            "steps": [10, 20, 1000],
            "bleu": [0.0, 12.5, 31.0],
            "translations": [["Je Je.", "Je Je."], ["Je Je.", "Il Je."], ["Je dors.", "Il était fatigué."]],
            "training": {
                "step": [5, 15, 1000],
                "loss": [6.0, 4.25, 2.0],
                "learning_rate": [1e-4, 3e-4, 2e-4],
            },
            "validation": {"step": [20, 1000], "loss": [4.0, 2.5]},
            "source_tokens": ["▁It", "▁was", "▁tired", ".", "<end>"],
            "target_tokens": ["▁Il", "▁était", "▁fatigué", "<end>"],
            "maps": MAPS,
        }
        page.set_content(live_training(**given | change)._repr_html_())
        return page.locator("glass-figure")

    return show_run


def largest(checkpoint, layer, head):
    return (MAPS[checkpoint, layer, head] * 1000).round().max(axis=-1).mean() / 1000


def test_maps_and_largest_weights_are_those_of_the_package(page, figure_script):
    figure_script("training")
    for checkpoint in range(3):
        per_mille = (1000 * MAPS[checkpoint]).round()
        state = SIZES | {"maps": " ".join(map(str, per_mille.astype(int).flat))}
        found = page.evaluate("state => glassformer.unpackMaps(state)", state)
        for name, wanted in (
            ("map", per_mille / 1000),
            ("most", per_mille.max(axis=-1) / 1000),
            ("mean", per_mille.max(axis=-1).mean(axis=-1) / 1000),
        ):
            np.testing.assert_allclose([[head[name] for head in heads] for heads in found], wanted, atol=1e-9)


def test_arrow_keys_move_through_the_run_and_update_the_summary(page, show):
    figure = show()
    figure.get_by_label("step", exact=True).focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    sentence = (
        "Step 20 of 1,000: training loss 4.25, BLEU 12.5; since step 10, 1 of 2 translations changed. "
        f"Layer 2, head 0: largest weights {largest(1, 1, 0):.2f} on average."
    )
    figure.get_by_role("status").filter(has_text=sentence).wait_for()
    assert figure.locator(".french > [lang]").all_inner_texts() == ["Je Je.", "Il Je."]
    assert figure.locator("[lang] > mark").all_inner_texts() == ["Il"]
    assert figure.locator(".plot output").all_inner_texts() == ["4.25", "4.00", "0.00030", "12.5"]
    page.keyboard.press("ArrowLeft")  # where nothing was validated
    assert figure.locator(".plot output").all_inner_texts() == ["6.00", "–", "0.00010", "0.0"]


def test_arrow_keys_pick_a_head_and_show_its_numbers(page, show):
    figure = show()
    figure.get_by_role("button", name="layer 2, head 0").focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowUp"):  # the last leads nowhere
        page.keyboard.press(key)
    assert figure.locator(".head:focus[aria-pressed=true]").inner_text() == f"{largest(2, 0, 1):.2f}"
    assert figure.locator(".map .number").all_inner_texts() == [
        f"{number:.2f}" for number in (*MAPS[2, 0, 1].round(3).max(axis=-1), largest(2, 0, 1))
    ]
    assert "Layer 1, head 1: largest weights" in figure.locator(".summary").inner_text()


def test_playback_stops_at_the_last_checkpoint(page, show):
    page.clock.install()
    figure = show()
    play = figure.locator(".play")
    play.click()
    assert play.inner_text() == "Stop"
    page.clock.run_for(10_000)
    assert play.inner_text() == "Play"
    assert figure.get_by_label("step", exact=True).get_attribute("aria-valuetext") == "1,000"
    assert (
        figure.locator(".summary")
        .inner_text()
        .startswith("Step 1,000 of 1,000: training loss 2.00, BLEU 31.0")
    )


def test_with_reduced_motion_each_press_advances_one_checkpoint(page, show):
    page.emulate_media(reduced_motion="reduce")
    page.clock.install()
    figure = show()
    step = figure.get_by_label("step", exact=True)
    for reached in ("10", "20"):  # from the end, where it opens, on to the beginning
        figure.get_by_role("button", name="Next").click()
        page.clock.run_for(10_000)
        assert step.get_attribute("aria-valuetext") == reached


def test_it_opens_at_the_last_checkpoint_without_revealing_the_answer(show):
    figure = show()
    assert figure.locator(".french > [lang]").all_inner_texts() == ["Je dors.", "Il était fatigué."]
    assert figure.get_by_label("step", exact=True).get_attribute("aria-valuetext") == "1,000"


def test_axis_labels_do_not_overlap_and_the_upper_limit_is_round(page, show):
    page.set_viewport_size({"width": 320, "height": 800})
    figure = show(steps=[10, 20, 1400], bleu=[0.0, 12.5, 31.2])
    labels = """ticks => [...ticks.children].filter((tick) => getComputedStyle(tick).visibility === "visible")
        .map((tick) => tick.getBoundingClientRect()).map(({ left, right }) => [left, right])"""
    for ticks in figure.locator(".ticks").all():
        places = ticks.evaluate(labels)
        assert len(places) >= 2
        assert all(right + 5 < left for (_, right), (left, _) in pairwise(places))
    assert figure.locator(".plot.bleu .top").inner_text() == "40"


def test_the_prediction_is_shown_only_for_a_run_that_fits_it(show):
    figure = show()
    figure.get_by_role("button", name="All the same").click()
    assert figure.locator(".verdict").inner_text().startswith("Right. “Je Je.” every time")
    other = [["Je dors.", "Il était fatigué."]] * 3
    assert show(translations=other).locator(".prediction").count() == 0

"""The look-up computes the same numbers as the package, and its query moves by pointer and keyboard."""

import numpy as np
import pytest

from glassformer.reference.softmax import softmax
from glassformer.widgets import live_lookup

KEY = np.array([[2.0, 0.0], [0.0, 2.0], [1.5, -1.5]])
VALUE = np.array([4.0, 0.0, 2.0])
QUERIES = [[0.0, 0.0], [1.0, 0.0], [-2.9, 1.3], [0.4, 3.0]]


@pytest.fixture
def lookup(page, monkeypatch):
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    words = {"words": ["animal", "street", "person"], "asker": "it", "unit": "legs"}
    page.set_content(live_lookup(np.array([1.0, 0.0]), KEY, VALUE, **words)._repr_html_())
    return page.locator("glass-figure")


@pytest.mark.parametrize("query", QUERIES)
def test_scores_weights_and_output_are_those_of_the_package(page, figure_script, query):
    figure_script("lookup")
    state = {"query": query, "key": KEY.tolist(), "value": VALUE.tolist()}
    scores = KEY @ np.array(query)
    for hard, weights in ((False, softmax(scores)), (True, np.eye(3)[scores.argmax()])):
        found = page.evaluate("state => glassformer.computeLookup(state)", state | {"hard": hard})
        np.testing.assert_allclose(found["scores"], scores, atol=1e-12)
        np.testing.assert_allclose(found["weights"], weights, rtol=1e-9)
        assert found["attended"] == pytest.approx(weights @ VALUE)


def test_arrow_keys_move_the_query_and_update_the_summary(page, lookup):
    handle = lookup.get_by_role("slider")
    handle.focus()
    for key in ("ArrowUp", "ArrowUp", "Shift+ArrowRight"):
        page.keyboard.press(key)
    assert handle.get_attribute("aria-valuetext") == "1.5 across, 0.2 up"
    handed = softmax(KEY @ np.array([1.5, 0.2])) @ VALUE
    sentence = f"the output is {handed:.2f} legs"
    assert sentence in lookup.locator(".summary").inner_text()
    lookup.get_by_role("status").filter(has_text=sentence).wait_for()


def test_the_query_can_be_dragged_within_the_plane(page, lookup):
    handle = lookup.get_by_role("slider")
    handle.scroll_into_view_if_needed()
    box = lookup.locator("svg").first.bounding_box()
    grip = lookup.locator(".grip").bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 30, steps=3)
    page.mouse.up()
    assert handle.get_attribute("aria-valuetext") == "0.0 across, 3.0 up"


def test_a_finger_drags_the_query_and_does_not_scroll(page, lookup):
    lookup.locator("svg").first.scroll_into_view_if_needed()
    page.evaluate("document.body.style.minHeight = '3000px'")
    x, y, width, height = lookup.locator(".grip").bounding_box().values()
    before = lookup.get_by_role("slider").get_attribute("aria-valuetext")
    touch = page.context.new_cdp_session(page)
    for step in range(4):
        point = {"x": x + width / 2 + 10 * step, "y": y + height / 2 - 20 * step}
        kind = "touchMove" if step else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    across, up = (float(part.split()[0]) for part in before.split(", "))
    moved = lookup.get_by_role("slider").get_attribute("aria-valuetext")
    moved_across, moved_up = (float(part.split()[0]) for part in moved.split(", "))
    assert moved_across > across
    assert moved_up > up + 0.5
    assert page.evaluate("scrollY") == 0


def test_a_hard_look_up_returns_one_value_and_breaks_ties(page, lookup):
    lookup.get_by_label("hard").check()
    assert (
        "matches “animal” best; the output is its value, 4.00 legs" in lookup.locator(".summary").inner_text()
    )
    lookup.get_by_role("slider").focus()
    for _ in range(10):
        page.keyboard.press("ArrowUp")
    assert "“animal” and “street” equally well" in lookup.locator(".summary").inner_text()

"""Rules for every live figure: it starts, fits its page and a phone, prints, and works without scripts."""

import re
from pathlib import Path

import pytest
from accessibility import violations

SITE = Path(__file__).parents[2] / "_build/html"
FIGURE = re.compile(r'<glass-figure name="(\w+)"[^>]*--wide: ([\d.]+)rem; --narrow: ([\d.]+)rem')
PAGES = sorted(
    path.relative_to(SITE).with_suffix("").as_posix()
    for path in SITE.glob("**/*.html")
    if FIGURE.search(path.read_text(encoding="utf-8"))
)
WIDE, PHONE, SMALL_PHONE = (
    {"width": 1280, "height": 900},
    {"width": 390, "height": 844},
    {"width": 360, "height": 740},
)
every_page = pytest.mark.parametrize("name", PAGES)


def test_there_are_figures():
    assert len(PAGES) >= 1


def text_of(name):
    return (SITE / f"{name}.html").read_text(encoding="utf-8")


@every_page
def test_figures_work_on_their_page(page, served_without_mathjax, name):
    """All checks share one page load, which is slow."""
    page.set_viewport_size(WIDE)
    page.emulate_media(reduced_motion="reduce")
    complaints = listen(page)
    page.goto(f"{served_without_mathjax}/{name}.html")
    assert_all_are_alive(page)
    assert_room_is_kept(page, name, which=0)
    page.emulate_media(media="print")
    assert_only_tables_are_seen(page)
    page.emulate_media(media="screen")
    page.set_viewport_size(PHONE)
    assert_room_is_kept(page, name, which=1)
    page.set_viewport_size(SMALL_PHONE)
    assert sticking_out(page) == []
    page.set_viewport_size(WIDE)
    touch_everything(page)
    assert complaints == []
    leave_out_what_takes_long(page)
    assert violations(page, "glass-figure") == []
    page.emulate_media(color_scheme="dark")
    page.locator("html[data-theme=dark]").wait_for()
    assert violations(page, "glass-figure", runOnly=["color-contrast"]) == []


def test_without_scripts_tables_replace_the_figures(new_context, served):
    """All figures share the same rules, so the page with the most figures is checked."""
    name = max(PAGES, key=lambda name: len(FIGURE.findall(text_of(name))))
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{served}/{name}.html")
    assert page.locator("glass-figure").count() >= 2
    assert_only_tables_are_seen(page)


def listen(page):
    complaints = []
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return complaints


def assert_all_are_alive(page):
    for figure in page.locator("glass-figure").all():
        assert figure.get_attribute("data-live") is not None


def assert_room_is_kept(page, name, which):
    """Check that the reserved height is that of the figure, up to one line that breaks in other fonts."""
    rooms = [heights for _, *heights in FIGURE.findall(text_of(name))]
    for figure, heights in zip(page.locator("glass-figure").all(), rooms, strict=True):
        assert figure.bounding_box()["height"] == pytest.approx(16 * float(heights[which]), abs=24)


def assert_only_tables_are_seen(page):
    for figure in page.locator("glass-figure").all():
        assert figure.locator("> table").is_visible()
        assert not figure.locator("> .stage").is_visible()


def sticking_out(page):
    # One call: a figure that redraws between finding and measuring would leave detached elements.
    return page.evaluate(
        """() => [...document.querySelectorAll("glass-figure > .stage *")].filter((inner) => {
            const box = inner.getBoundingClientRect();
            const stage = inner.closest(".stage").getBoundingClientRect();
            return box.width > 1 && (box.right > stage.right + 1 || box.left < stage.left - 1);
        }).map((inner) => inner.outerHTML.slice(0, 80))"""
    )


def touch_everything(page):
    """Answer the predictions, move the sliders to their ends and toggle the switches."""
    for figure in page.locator("glass-figure").all():
        for answer in figure.locator(".answers button").all()[:1]:
            answer.click()
        for slider in figure.locator("input[type=range]").all():
            if slider.is_enabled():
                slider.focus()
                page.keyboard.press("End")
        for switch in figure.locator("input[type=checkbox]:visible").all():
            switch.click()


def leave_out_what_takes_long(page):
    """Remove the rest of the page, which axe would check as well."""
    page.eval_on_selector_all(
        "body *:not(glass-figure, glass-figure *)",
        "all => all.forEach((one) => one.querySelector('glass-figure') ?? one.remove())",
    )

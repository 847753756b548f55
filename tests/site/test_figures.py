"""What every live figure keeps to: alive at once, at home on a telephone, on paper, and without a script."""

import base64
import hashlib
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

SITE = Path(__file__).parents[2] / "_build/html"
FIGURE = re.compile(r'<glass-figure name="(\w+)"[^>]*--wide: ([\d.]+)rem; --narrow: ([\d.]+)rem')
PAGES = sorted(
    path.relative_to(SITE).with_suffix("").as_posix()
    for path in SITE.glob("**/*.html")
    if FIGURE.search(path.read_text(encoding="utf-8"))
)
every_page = pytest.mark.parametrize("name", PAGES)


def test_there_are_figures():
    assert len(PAGES) >= 1


def inline_scripts(text):
    return re.findall(r"<script(?![^>]*(?:src=|application/json))[^>]*>(.*?)</script>", text, re.S)


@every_page
def test_a_figure_starts_under_a_strict_policy(page, served, name):
    """Scripts of the site's own files and the theme's inline ones by their hashes; no eval, no handlers."""
    text = (SITE / f"{name}.html").read_text(encoding="utf-8")
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inline_scripts(text)
    ]
    policy = "script-src 'self' " + " ".join(f"'sha256-{digest}'" for digest in digests)

    def with_policy(route):
        response = route.fetch()
        route.fulfill(response=response, headers=response.headers | {"content-security-policy": policy})

    complaints = []
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.route("**/*.html", with_policy)
    page.goto(f"{served}/{name}.html")
    for figure in page.locator("glass-figure").all():
        assert figure.get_attribute("data-live") is not None
    assert complaints == []


@every_page
def test_a_wide_page_keeps_its_room_and_paper_gets_a_table(new_context, served, name):
    page = new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(f"{served}/{name}.html")
    assert_room_is_kept(page, name, which=0)
    page.emulate_media(media="print")
    for figure in page.locator("glass-figure").all():
        assert figure.locator("> table").is_visible()
        assert not figure.locator("> .stage").is_visible()


@every_page
def test_a_telephone_keeps_its_room_and_nothing_sticks_out(new_context, served, name):
    page = new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(f"{served}/{name}.html")
    assert_room_is_kept(page, name, which=1)
    page.set_viewport_size({"width": 360, "height": 740})
    out = page.evaluate("""() => [...document.querySelectorAll("glass-figure > .stage *")].filter((inner) => {
        const box = inner.getBoundingClientRect();
        const stage = inner.closest(".stage").getBoundingClientRect();
        return box.width > 1 && (box.right > stage.right + 1 || box.left < stage.left - 1);
    }).map((inner) => inner.outerHTML.slice(0, 80))""")
    assert out == []


def assert_room_is_kept(page, name, which):
    """What the page keeps free for a figure is what it takes, up to a line that breaks in other fonts."""
    rooms = [heights for _, *heights in FIGURE.findall((SITE / f"{name}.html").read_text(encoding="utf-8"))]
    for figure, heights in zip(page.locator("glass-figure").all(), rooms, strict=True):
        assert figure.bounding_box()["height"] == pytest.approx(16 * float(heights[which]), abs=24)


@every_page
def test_without_scripts_a_table_stands_for_the_figure(new_context, served, name):
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{served}/{name}.html")
    for figure in page.locator("glass-figure").all():
        assert figure.locator("> table").is_visible()


@every_page
@pytest.mark.parametrize(("scheme", "rules"), [("light", {}), ("dark", {"runOnly": ["color-contrast"]})])
def test_a_figure_is_open_to_all_in_other_states_too(new_context, served, name, scheme, rules):
    page = new_context(color_scheme=scheme, reduced_motion="reduce").new_page()
    page.goto(f"{served}/{name}.html")
    for figure in page.locator("glass-figure").all():
        for answer in figure.locator(".answers button").all()[:1]:
            answer.click()
        for slider in figure.locator("input[type=range]").all():
            if slider.is_enabled():
                slider.focus()
                page.keyboard.press("End")
        for switch in figure.locator("input[type=checkbox]").all():
            switch.click()
    violations = (
        Axe()
        .run(page, context="glass-figure", options={"resultTypes": ["violations"]} | rules)
        .response["violations"]
    )
    assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in violations] == []

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
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_keeps_the_room_that_a_figure_takes(new_context, served, name, width):
    page = new_context(viewport={"width": width, "height": 900}).new_page()
    page.goto(f"{served}/{name}.html")
    rooms = FIGURE.findall((SITE / f"{name}.html").read_text(encoding="utf-8"))
    for figure, (_, wide, narrow) in zip(page.locator("glass-figure").all(), rooms, strict=True):
        kept = 16 * float(wide if width > 600 else narrow)
        assert figure.bounding_box()["height"] == pytest.approx(kept, abs=8)


@every_page
def test_nothing_sticks_out_on_a_small_telephone(new_context, served, name):
    page = new_context(viewport={"width": 360, "height": 740}).new_page()
    page.goto(f"{served}/{name}.html")
    out = page.evaluate("""() => [...document.querySelectorAll("glass-figure > .stage *")].filter((inner) => {
        const box = inner.getBoundingClientRect();
        const stage = inner.closest(".stage").getBoundingClientRect();
        return box.width > 1 && (box.right > stage.right + 1 || box.left < stage.left - 1);
    }).map((inner) => inner.outerHTML.slice(0, 80))""")
    assert out == []


@every_page
def test_on_paper_a_table_stands_for_the_figure(page, served, name):
    page.goto(f"{served}/{name}.html")
    page.emulate_media(media="print")
    for figure in page.locator("glass-figure").all():
        assert figure.locator("> table").is_visible()
        assert not figure.locator("> .stage").is_visible()


@every_page
def test_without_scripts_a_table_stands_for_the_figure(new_context, served, name):
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{served}/{name}.html")
    for figure in page.locator("glass-figure").all():
        assert figure.locator("> table").is_visible()


@every_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_figure_is_open_to_all_in_other_states_too(new_context, served, name, scheme):
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
        .run(page, context="glass-figure", options={"resultTypes": ["violations"]})
        .response["violations"]
    )
    assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in violations] == []

"""Every page, as a reader meets it: light, dark and on a phone, from a server and from the file system."""

from pathlib import Path

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe

ROOT = Path(__file__).parents[2]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [
    TOC["root"],
    *(entry["file"] for part in TOC["parts"] for entry in part["chapters"]),
    "search",
    "genindex",
]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# The same page is judged three times; where it looks otherwise, only by what its look can break.
LOOKS = {
    "phone": ("light", PHONE, {"runOnly": ["scrollable-region-focusable", "target-size", "meta-viewport"]}),
    "light": ("light", WIDE, {}),
    "dark": ("dark", WIDE, {"runOnly": ["color-contrast"]}),
}
CHAPTER = next(name for name in PAGES if name.startswith("chapters/"))
JUDGED_WHOLE = "chapters/05_masks"  # with the whole formula


class Visit:
    """A page that was opened, with everything it asked for and complained about."""

    def __init__(self, page, address):
        self.page, self.complaints, self.requests = page, [], []
        page.on(
            "console", lambda message: message.type in ("error", "warning") and self._complain(message.text)
        )
        page.on("pageerror", lambda error: self._complain(str(error)))
        page.on("requestfailed", lambda request: self._complain(f"failed: {request.url}"))
        page.on("response", lambda response: response.status >= 400 and self._complain(response.url))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(address, wait_until="load")
        page.wait_for_function(
            "!window.MathJax?.startup?.promise || window.MathJax.startup.promise.then(() => true)"
        )

    def _complain(self, text):
        self.complaints.append(text)

    def foreign(self, own):
        return [url for url in self.requests if not url.startswith((own, "data:", "blob:"))]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_well_in_every_look(new_context, served, name):
    page = new_context(viewport=WIDE, reduced_motion="reduce").new_page()
    visit = Visit(page, f"{served}/{name}.html")
    assert visit.complaints == []
    assert visit.foreign(served) == []
    for look, (scheme, viewport, rules) in LOOKS.items():
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(viewport)
        page.locator(f"html[data-theme={scheme}]").wait_for()
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        violations = Axe().run(page, options={"resultTypes": ["violations"]} | rules).response["violations"]
        found = [(look, rule["id"], [node["target"] for node in rule["nodes"]]) for rule in violations]
        assert found == []
        if look == "phone" and name != JUDGED_WHOLE:
            _leave_out_what_is_alike(page)


def _leave_out_what_is_alike(page):
    """The colours of code and formulas are those of all pages, and take most of the time."""
    page.eval_on_selector_all(
        ".highlight pre", "blocks => blocks.forEach((block) => block.replaceChildren(block.textContent))"
    )
    page.eval_on_selector_all(".math", "formulas => formulas.forEach((formula) => formula.remove())")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_from_the_file_system_without_a_network(page, name):
    page.context.set_offline(True)
    visit = Visit(page, (ROOT / "_build/html" / f"{name}.html").as_uri())
    assert visit.complaints == []
    assert visit.foreign("file://") == []
    _assert_it_says_what_it_is(page)
    if name.startswith("chapters/"):
        _assert_formulas_are_typeset(page)


def _assert_it_says_what_it_is(page):
    assert page.locator("main h1:visible").count() == 1
    assert len(page.locator("meta[name=description]").first.get_attribute("content")) > 30
    alts = page.eval_on_selector_all("article img", "images => images.map(image => [image.src, image.alt])")
    assert [source for source, alt in alts if len(alt) <= 10] == []


def _assert_formulas_are_typeset(page):
    assert page.locator(".math").count() > 0
    assert page.locator(".math:not(:has(mjx-container))").count() == 0
    assert page.locator("mjx-merror").count() == 0
    page.evaluate("document.fonts.ready")
    fonts = page.evaluate("[...document.fonts].map(font => [font.family, font.status])")
    assert [status for family, status in fonts if "MJX" in family].count("loaded") > 0
    assert [family for family, status in fonts if status == "error"] == []


def test_the_search_finds_a_word_of_a_chapter(page, served):
    Visit(page, f"{served}/search.html?q=softmax")
    page.locator("#search-results li a").first.wait_for()
    assert page.locator("#search-results li a[href*='chapters/']").count() > 0


def test_every_mark_of_a_claim_leads_to_its_row(page, served):
    Visit(page, f"{served}/{CHAPTER}.html")
    mark = page.locator("article a:has(.claim-mark)").first
    target = mark.get_attribute("href").split("#")[1]
    mark.click()
    assert page.locator(f"#{target}").count() == 1
    assert page.url.endswith(f"#{target}")


def test_a_complaint_is_heard(page, served, tmp_path):
    """The listeners above would hear an error, a foreign request and a missing file."""
    broken = tmp_path / "broken.html"
    broken.write_text("<script>console.error('no')</script><img alt='' src='http://127.0.0.1:9/x.png'>")
    visit = Visit(page, broken.as_uri())
    assert len(visit.complaints) >= 2
    assert visit.foreign("file://") == ["http://127.0.0.1:9/x.png"]


@pytest.mark.parametrize("call", ["print", "toggleFullScreen"])
def test_a_button_of_the_theme_does_what_it_says(page, served, call):
    Visit(page, f"{served}/{CHAPTER}.html")
    page.evaluate("call => { window[call] = () => { window.called = call; }; }", call)
    page.locator(f"[data-call={call}]").first.evaluate("button => button.click()")
    assert page.evaluate("window.called") == call

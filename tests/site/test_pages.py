"""Every page in light and dark mode and on a phone, from a server and from the file system."""

import gzip
import re
from pathlib import Path

import pytest
import yaml
from accessibility import keep_a_few_of_each_kind, violations

from glassformer.widgets.live import SCRIPTS

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build/html"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [
    TOC["root"],
    *(entry["file"] for part in TOC["parts"] for entry in part["chapters"]),
    "search",
    "genindex",
]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# Each page is checked three times; the second and third time only by rules that depend on its look.
LOOKS = {
    "phone": ("light", PHONE, {"runOnly": ["scrollable-region-focusable", "target-size", "meta-viewport"]}),
    "light": ("light", WIDE, {}),
    "dark": ("dark", WIDE, {"runOnly": ["color-contrast"]}),
}
CHAPTER = next(name for name in PAGES if name.startswith("chapters/"))


class Visit:
    """An opened page with its requests and errors."""

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


def moved(page):
    """Return the cumulative layout shift of the page."""
    return page.evaluate("""() => new Promise((resolve) => {
        const sum = (entries) => entries.reduce((total, { value }) => total + value, 0);
        const observer = new PerformanceObserver((list) => resolve(sum(list.getEntries())));
        observer.observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(0), 100);
    })""")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_readable_in_light_dark_and_on_a_phone(new_context, served, name):
    page = new_context(viewport=PHONE, reduced_motion="reduce").new_page()
    visit = Visit(page, f"{served}/{name}.html")
    assert moved(page) < 0.02
    assert visit.complaints == []
    assert visit.foreign(served) == []
    assert _fits(page)
    _assert_it_says_what_it_is(page)
    if name.startswith("chapters/"):
        _assert_formulas_are_typeset(page)
    page.set_viewport_size(WIDE)
    assert _fits(page)
    # Figures have their own tests.
    page.eval_on_selector_all("glass-figure", "figures => figures.forEach((figure) => figure.remove())")
    keep_a_few_of_each_kind(page)
    for look, (scheme, viewport, rules) in LOOKS.items():
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(viewport)
        page.locator(f"html[data-theme={scheme}]").wait_for()
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert violations(page, **rules) == [], look


def _fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_complete_from_the_file_system_without_a_network(page, name):
    page.context.set_offline(True)
    if name != CHAPTER:  # typesetting takes longest, and one page stands for all
        page.route("**/mathjax/*", lambda route: route.fulfill(content_type="text/javascript", body=""))
    visit = Visit(page, (SITE / f"{name}.html").as_uri())
    assert visit.complaints == []
    assert visit.foreign("file://") == []
    if name == CHAPTER:
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
    # Indices are enlarged if the text was small when MathJax measured it.
    assert page.locator("mjx-script :not(mjx-mstyle)[style*=font-size]").count() == 0
    page.evaluate("document.fonts.ready")
    fonts = page.evaluate("[...document.fonts].map(font => [font.family, font.status])")
    assert [status for family, status in fonts if "MJX" in family].count("loaded") > 0
    assert [family for family, status in fonts if status == "error"] == []


@pytest.mark.parametrize("where", ["served", "file system"])
def test_the_search_finds_a_word_of_a_chapter(page, served, where):
    page.context.set_offline(where == "file system")
    visit = Visit(page, f"{served if where == 'served' else SITE.as_uri()}/search.html?q=softmax")
    assert visit.complaints == []
    page.locator("#search-results li a").first.wait_for()
    assert page.locator("#search-results li a[href*='chapters/']").count() > 0


OWN = {file.name for folder in (ROOT / "_static", SCRIPTS) for file in folder.rglob("*.*s")}


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("chapters/")])
def test_own_scripts_and_styles_are_small(name):
    text = (SITE / f"{name}.html").read_text(encoding="utf-8")
    asked_for = re.findall(r'<(?:script|link)\b[^>]*(?:src|href)="\.\./_static/([\w./-]+\.(?:js|css))', text)
    own = {file for file in asked_for if Path(file).name in OWN}
    assert {"book.css", "icons.css", "buttons.js", "scrollable.js"} <= own
    assert sum(len(gzip.compress((SITE / "_static" / file).read_bytes())) for file in own) <= 60_000


def test_every_claim_mark_links_to_its_row(page, served):
    Visit(page, f"{served}/{CHAPTER}.html")
    mark = page.locator("article a:has(.claim-mark)").first
    target = mark.get_attribute("href").split("#")[1]
    mark.click()
    assert page.locator(f"#{target}").count() == 1
    assert page.url.endswith(f"#{target}")


def test_foreign_scripts_are_blocked(page, served):
    visit = Visit(page, f"{served}/{CHAPTER}.html")
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.foreign = true";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", "<button onclick='window.foreign = true'>no</button>");
        document.body.lastElementChild.click();
    }""")
    assert page.evaluate("window.foreign") is None
    assert len([text for text in visit.complaints if "Content Security Policy" in text]) == 2


def test_errors_are_detected(page, served, tmp_path):
    """The listeners above detect an error, a foreign request and a missing file."""
    broken = tmp_path / "broken.html"
    broken.write_text("<script>console.error('no')</script><img alt='' src='http://127.0.0.1:9/x.png'>")
    visit = Visit(page, broken.as_uri())
    assert len(visit.complaints) >= 2
    assert visit.foreign("file://") == ["http://127.0.0.1:9/x.png"]


@pytest.mark.parametrize("call", ["print", "toggleFullScreen"])
def test_a_button_of_the_theme_works(page, served, call):
    Visit(page, f"{served}/{CHAPTER}.html")
    page.evaluate("call => { window[call] = () => { window.called = call; }; }", call)
    page.locator(f"[data-call={call}]").first.evaluate("button => button.click()")
    assert page.evaluate("window.called") == call

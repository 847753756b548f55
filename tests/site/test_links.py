"""Links of the built website lead to existing pages, targets, files and lines, or to known hosts.

Nothing is fetched.

Each rule maps a site to its violations, and is also tested on an artificial site that breaks it.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
REPOSITORY = CONFIG["repository"]["url"]
BRANCH = CONFIG["repository"]["branch"]
HOSTS = {
    "aclanthology.org",
    "arxiv.org",
    "colab.research.google.com",
    "creativecommons.org",
    "doi.org",
    "github.com",
    "jmlr.org",
    "mybinder.org",
    "nbgrader.readthedocs.io",
    "proceedings.mlr.press",
    "research.google",
    "tatoeba.org",
    "transformer-circuits.pub",
    "www.evanmiller.org",
    "www.lesswrong.com",
    "www.manythings.org",
    urlsplit(CONFIG["html"]["baseurl"]).hostname,
}


class Page(HTMLParser):
    """The links and the link targets of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids += filter(None, [values.get("id")])
        target = values.get("href") if tag in ("a", "link") else values.get("src")
        if target and values.get("rel") not in ("preconnect", "dns-prefetch"):
            self.links.append(target)


class Site(NamedTuple):
    """Read all pages of a website by path."""

    folder: Path
    pages: dict[Path, Page]

    def links(self, *, external):
        for path, page in self.pages.items():
            for link in page.links:
                if bool(urlsplit(link).scheme) == external and not link.startswith(("data:", "mailto:")):
                    yield path, link


def read_site(folder):
    paths = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    return Site(folder, {path: Page(path.read_text(encoding="utf-8")) for path in sorted(paths)})


def faults_inside(site):
    """A link inside the site leads to an existing file and a unique target in it."""
    for path, link in site.links(external=False):
        parts = urlsplit(link)
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file():
            yield f"{path.name}: no file {link}"
        elif parts.fragment and target in site.pages:
            places = site.pages[target].ids.count(parts.fragment)
            if places != 1:
                yield f"{path.name}: {places} places {link}"


def faults_of_sources(site):
    """No link leads to a source file instead of its page."""
    for path, link in site.links(external=False):
        if urlsplit(link).path.endswith((".ipynb", ".md")) and "_sources/" not in link:
            yield f"{path.name}: not a page: {link}"


def faults_outside(site):
    """An external link is well-formed, uses https, and leads to a known host."""
    for path, link in site.links(external=True):
        parts = urlsplit(link)
        if parts.scheme != "https" or re.search(r"\s|[<>{}`]", link) or parts.netloc not in HOSTS:
            yield f"{path.name}: {link}"


def faults_of_repository(site):
    """A link into this repository leads to an existing file and line."""
    pattern = rf"{re.escape(REPOSITORY)}/(?:blob|tree|edit|raw)/([^/]+)/([^#?]+)(?:#L(\d+))?"
    for path, link in site.links(external=True):
        if found := re.fullmatch(pattern, link):
            branch, name, line = found.groups()
            file = ROOT / unquote(name)
            if branch != BRANCH or not file.exists():
                yield f"{path.name}: not in the repository: {link}"
            elif line and int(line) > len(file.read_text(encoding="utf-8").splitlines()):
                yield f"{path.name}: no such line: {link}"


def faults_of_launch_buttons(site):
    """A launch button opens an existing notebook."""
    for path, link in site.links(external=True):
        found = re.search(rf"colab\S*/blob/{BRANCH}/(\S+)|mybinder\S*/tree/([^&\s]+)", unquote(link))
        if found and not (ROOT / (found[1] or found[2])).is_file():
            yield f"{path.name}: no notebook: {link}"


RULES = {
    faults_inside: ["gone.html", "#gone", "other.html#gone", "%20gone.html", "other.html#twice"],
    faults_of_sources: ["chapters/01.ipynb", "glossary.md"],
    faults_outside: ["http://arxiv.org/abs/1", "https://arxiv.org/a b", "https://arxiv.example/abs/1"],
    faults_of_repository: [
        f"{REPOSITORY}/blob/{BRANCH}/gone.py",
        f"{REPOSITORY}/blob/gone/README.md",
        f"{REPOSITORY}/blob/{BRANCH}/README.md#L99999",
    ],
    faults_of_launch_buttons: [
        f"https://colab.research.google.com/github/a/b/blob/{BRANCH}/chapters/gone.ipynb",
        f"https://mybinder.org/v2/gh/a/b/{BRANCH}?urlpath=lab/tree/chapters/gone.ipynb",
    ],
}


@pytest.fixture(scope="module", params=["html", "student/html", "teacher/html"])
def site(request):
    folder = ROOT / "_build" / request.param
    if not (folder / "index.html").exists():
        pytest.fail(f"{folder} is not built: make book student teacher")
    return read_site(folder)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_website_follows_the_rule(site, rule):
    assert sorted(set(rule(site))) == []


@pytest.mark.parametrize(("rule", "link"), [(rule, link) for rule, links in RULES.items() for link in links])
def test_the_rule_finds_a_violation(tmp_path, rule, link):
    (tmp_path / "index.html").write_text(f'<a href="{link}">', encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there"><p id="twice"><p id="twice">', encoding="utf-8")
    assert list(rule(read_site(tmp_path))) != []


def test_valid_links_are_accepted(tmp_path):
    links = ["other.html#there", "other.html?q=1", f"{REPOSITORY}/blob/{BRANCH}/README.md#L1", "#top"]
    text = "".join(f'<a href="{link}">' for link in links)
    (tmp_path / "index.html").write_text(f'<p id="top">{text}', encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there">', encoding="utf-8")
    site = read_site(tmp_path)
    assert [fault for rule in RULES for fault in rule(site)] == []

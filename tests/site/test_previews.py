"""Every page of the book has its own preview image with the page's title."""

import html
import re
from pathlib import Path

import pytest
import yaml
from PIL import Image

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build/html"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
ADDRESS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"]["baseurl"]
PAGES = [TOC["root"], *(entry["file"] for part in TOC["parts"] for entry in part["chapters"])]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_a_preview_with_its_title(name):
    text = (SITE / f"{name}.html").read_text(encoding="utf-8")
    found = re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)"', text)
    told = {key: html.unescape(value) for key, value in found}
    assert told["twitter:card"] == "summary_large_image"
    assert told["og:description"] == told["description"]
    assert len(told["description"]) > 30
    assert told["og:image"] == f"{ADDRESS}_static/previews/{name}.png"
    file = SITE / "_static/previews" / f"{name}.png"
    assert file.stat().st_size < 60_000
    with Image.open(file) as picture:
        assert picture.size == (int(told["og:image:width"]), int(told["og:image:height"])) == (1200, 630)
        assert picture.text["Title"] == told["og:title"], "the preview is old: make previews"


def test_no_preview_is_unused():
    folder = ROOT / "_static/previews"
    assert {file.relative_to(folder).with_suffix("").as_posix() for file in folder.rglob("*.png")} == set(
        PAGES
    )

"""Live figures load their scripts and the pretrained models; an unknown name is an error."""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from glassformer.translator import locate_translator

EXTENSIONS = Path(__file__).parents[2] / "_ext"
PRETRAINED = locate_translator("en-fr")


PAGES = {
    "index": "```{live-figure} hero\n```",
    "plain": "Nothing is alive here.",
    "wrong": "```{live-figure} heroes\n```",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build a book; return its folder and the warnings."""
    folder = tmp_path_factory.mktemp("book")
    settings = f"import sys\nsys.path.insert(0, {str(EXTENSIONS)!r})\n"
    settings += "extensions = ['myst_parser', 'live_figures']\nhtml_theme = 'basic'\n"
    (folder / "conf.py").write_text(settings, encoding="utf-8")
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(f"---\norphan: true\n---\n# Page\n\n{text}\n", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", folder, folder / "html"]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    return folder / "html", finished.stderr.splitlines()


@pytest.fixture
def site(built):
    return built[0]


def test_a_page_loads_the_scripts_of_its_figures_and_other_pages_load_none(site):
    alive, plain = (site.joinpath(f"{name}.html").read_text(encoding="utf-8") for name in ("index", "plain"))
    assert '<glass-figure name="hero"' in alive
    scripts = re.findall(r'<script defer="defer" src="_static/([\w/]+\.js)', alive)
    assert scripts[0] == "figures.js"
    assert scripts[-1] == "figures/hero/figure.js"
    assert "engine/translator.js" in scripts
    assert [script for script in scripts if not (site / "_static" / script).is_file()] == []
    assert "_static/figures/hero/figure.css" in alive
    assert "figures." not in plain


def test_the_pretrained_models_are_served_as_files_and_as_scripts(site):
    served = site / "_static/engine"
    script = (served / "en-fr.js").read_text(encoding="ascii")
    unpacked = json.loads(re.search(r'\["en-fr"\] = (.*);', script)[1])
    for path in PRETRAINED.iterdir():
        assert (served / "en-fr" / path.name).read_bytes() == path.read_bytes()
        assert base64.b64decode(unpacked.pop(path.name)) == path.read_bytes()
    assert unpacked == {}


def test_an_unknown_figure_is_the_only_error(built):
    (complaint,) = built[1]
    assert "wrong.md:6: ERROR: there is no figure 'heroes' in glassformer.widgets" in complaint

import json
import re

from glassformer.translator import Translator
from glassformer.widgets import live_translate
from glassformer.widgets.figures.translate import EXAMPLES
from glassformer.widgets.live import SCRIPTS, files_of


def test_the_table_matches_the_pretrained_translator():
    found = Translator.load("en-fr").translate(list(EXAMPLES))
    assert dict(zip(EXAMPLES, found, strict=True)) == EXAMPLES


def test_the_figure_starts_with_the_same_sentences(monkeypatch):
    monkeypatch.setenv("GLASSFORMER_SCRIPTS", "page")
    html = live_translate()._repr_html_()
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])
    assert data["examples"] == list(EXAMPLES)
    assert all(french.replace("'", "&#x27;") in html for french in EXAMPLES.values())


def test_the_engine_is_loaded_before_the_figure():
    files = files_of("translate")
    assert [file for file in files if not (SCRIPTS / file).is_file()] == []
    assert files[-1] == "figures/translate/figure.js"
    assert {"engine/translator.js", "engine/decoding.js"} < set(files)

"""The engine in a page of its own, with the pretrained translator."""

from pathlib import Path

import pytest
from engine import ENGINE, MARKS, PRETRAINED, SCRIPTS, Engine, sentences, serve, stack

from glassformer.data.vocabulary import END_ID, PAD_ID
from glassformer.decoding.generate import greedy_decode
from glassformer.translator import Translator

HELPERS = Path(__file__).parents[2] / "helpers/engine.js"


@pytest.fixture(scope="session")
def engine(browser):
    scripts = "".join(f"<script src={name}.js></script>" for name in [*SCRIPTS, "helpers"])
    files = {
        "": f"<!doctype html><title>Engine</title>{scripts}".encode(),
        "favicon.ico": b"",
        "helpers.js": HELPERS.read_bytes(),
        **{f"{name}.js": (ENGINE / f"{name}.js").read_bytes() for name in SCRIPTS},
        **{f"pretrained/{path.name}": path.read_bytes() for path in PRETRAINED.iterdir()},
    }
    with serve(files) as address:
        context = browser.new_context()
        engine = Engine(context.new_page(), files, address)
        yield engine
        context.close()
    assert engine.complaints == []


@pytest.fixture(scope="session")
def translator():
    return Translator.load("en-fr")


@pytest.fixture(scope="session")
def pairs(translator):
    """The ids of sentences and of their greedy translations in Python."""
    sources = [[*ids, END_ID] for ids in translator.tokenizer.encode(sentences(200))]
    written = greedy_decode(translator.model, stack(sources), **MARKS)
    return [
        (source, [id for id in row if id != PAD_ID])
        for source, row in zip(sources, written.tolist(), strict=True)
    ]

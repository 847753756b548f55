"""The front page's recording matches the pretrained translator.

Run as a program, this file makes a new recording.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from glassformer.data.vocabulary import END_ID, START_ID
from glassformer.inspection import record_attention
from glassformer.translator import Translator
from glassformer.widgets import live_hero
from glassformer.widgets.figures import hero
from glassformer.widgets.live import SCRIPTS, files_of

ENGLISH = "The animal didn't cross the street because it was too tired."


def record(translator, english):
    """Record a translation with its tokens, its mean cross-attention and two probabilities.

    The probabilities are those of *elle* and *il* where *elle* was generated; all numbers have four digits.
    """
    (french,) = translator.translate([english])
    source, target = translator.tokenizer.encode([english, french])
    source_ids, target_ids = [*source, END_ID], [START_ID, *target, END_ID]
    with record_attention(translator.model) as weights_of, torch.no_grad():
        logits = translator.model(torch.tensor([source_ids]), torch.tensor([target_ids[:-1]]))
    heads = torch.cat([weights[0] for name, weights in weights_of.items() if "cross" in name])
    pieces = [translator.tokenizer.piece(id) for id in target_ids[1:]]
    at_elle = logits[0, pieces.index("▁elle")].softmax(-1)
    pronouns = translator.tokenizer.encode(["elle", "il"])
    return {
        "english": english,
        "french": french,
        "source": [translator.tokenizer.piece(id) for id in source_ids],
        "target": pieces,
        "probabilities": [round(float(at_elle[id]), 4) for (id,) in pronouns],
        "heads": len(heads),
        "weights": [[round(weight, 4) for weight in row] for row in heads.mean(0).tolist()],
    }


@pytest.fixture(scope="module")
def today():
    return record(Translator.load("en-fr"), ENGLISH)


def test_the_recording_matches_the_pretrained_translator(today):
    stored = dict(hero.RECORDED)
    given = dict(today)
    for name in ("weights", "probabilities"):
        np.testing.assert_allclose(stored.pop(name), given.pop(name), atol=2e-4)
    assert stored == given


def test_the_front_page_states_the_probabilities_of_elle_and_il(today):
    elle, il = today["probabilities"]
    front = " ".join((Path(__file__).parents[2] / "intro.md").read_text(encoding="utf-8").split())
    assert f"writes *elle*, with a probability of {elle:.2f} against {il:.2f} for *il*." in front


def test_elle_hardly_attends_to_either_english_noun():
    elle = hero.RECORDED["weights"][hero.RECORDED["target"].index("▁elle")]
    assert all(elle[hero.RECORDED["source"].index(noun)] < 0.01 for noun in ("▁animal", "▁street"))


def test_the_weights_of_each_token_sum_to_one():
    assert np.sum(hero.RECORDED["weights"], axis=1) == pytest.approx(1, abs=1e-3)


def test_the_table_shows_each_tokens_largest_weight():
    rows = dict(zip(hero.RECORDED["target"], live_hero().table.rows, strict=True))
    elle = dict(
        zip(hero.RECORDED["source"], hero.RECORDED["weights"][list(rows).index("▁elle")], strict=True)
    )
    assert max(elle, key=elle.get) == "▁it"
    assert rows["▁elle"] == ("elle", "it", f"{elle['▁it']:.2f}")


def test_the_figure_starts_with_the_recording(monkeypatch):
    monkeypatch.setenv("GLASSFORMER_SCRIPTS", "page")
    html = live_hero()._repr_html_()
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])
    assert data["sentence"] == ENGLISH
    recorded = ("source", "target", "weights", "heads")
    assert data["recorded"] == {name: hero.RECORDED[name] for name in recorded}
    assert data["recorded"]["target"][data["picked"]] == "▁elle"


def test_the_engine_is_loaded_before_the_figure():
    files = files_of("hero")
    assert [file for file in files if not (SCRIPTS / file).is_file()] == []
    assert files[-1] == "figures/hero/figure.js"
    assert {"engine/fetching.js", "figures/hero/attention_threads.js"} < set(files)


if __name__ == "__main__":
    recorded = record(Translator.load("en-fr"), ENGLISH)
    Path(hero.__file__).with_name("recording.json").write_text(
        json.dumps(recorded, ensure_ascii=False) + "\n", encoding="utf-8"
    )

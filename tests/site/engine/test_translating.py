"""The translator in JavaScript translates text of any kind and records its attention."""

import pytest
from engine import NEAR, SCRIPTS, refusal


def test_a_translation_comes_with_tokens_hypotheses_and_maps(engine, translator):
    text = "The animal didn't cross the street because it was too tired."
    best = translator.translate_n_best([text], n_best=2)[0]
    found = engine.run("text => translator.translate(text, { nBest: 2, maps: true })", text)
    assert found["text"] == best[0].text
    assert [one["text"] for one in found["hypotheses"]] == [one.text for one in best]
    assert found["score"] == pytest.approx(best[0].score, abs=NEAR)
    assert found["source"]["pieces"] == [*translator.tokenizer.pieces(text), "<end>"]
    assert found["target"]["pieces"][-1] == "<end>"
    assert translator.tokenizer.decode([found["target"]["ids"]]) == [found["text"]]
    for name, heads in found["maps"].items():
        source, target = len(found["source"]["ids"]), len(found["target"]["ids"])
        sizes = {"encoder": (source, source), "decoder": (target, source if "cross" in name else target)}
        assert len(heads) == translator.model.config.num_heads
        assert {len(queries) for queries in heads} == {sizes[name.split(".")[0]][0]}
        assert {len(keys) for queries in heads for keys in queries} == {sizes[name.split(".")[0]][1]}


@pytest.mark.parametrize("text", ["", " \t\u00a0\n"])
def test_a_blank_sentence_has_an_empty_translation(engine, text):
    function = "text => [translator.translate(text, { maps: true }), translator.sample(text)]"
    for found in engine.run(function, text):
        assert (found["text"], found["logProbability"], found["target"]["ids"]) == ("", 0, [])


@pytest.mark.parametrize(
    "text", ["\x00\x07\x1b[31m", "🙂" * 3, "x" * 31, "\u202eabc\u200f", "😀\u0301’'’' ' '"]
)
def test_unusual_characters_are_translated_like_in_python(engine, translator, text):
    assert engine.run("text => translator.translate(text).text", text) == translator.translate([text])[0]


def test_a_sentence_that_is_far_too_long_is_reported(engine, translator):
    words = refusal(engine, "() => translator.translate('the dog '.repeat(50000))")
    assert "too long: its 100000 words are 100001 tokens" in words
    assert "at most 1024" in words
    assert "must be text" in refusal(engine, "() => translator.translate(7)")


def test_it_runs_in_a_worker(engine):
    files = ", ".join(f"'{name}.js'" for name in [*SCRIPTS, "helpers"])
    answer = "(files) => postMessage(glassformer.loadTranslator(files).translate('No.').text)"
    engine.give("worker.js", f"importScripts({files}); filesIn('pretrained').then({answer});".encode())
    here, there = engine.run("""async () => [
      translator.translate("No.").text,
      await new Promise((resolve) => { new Worker("worker.js").onmessage = ({ data }) => resolve(data); }),
    ]""")
    assert here == there

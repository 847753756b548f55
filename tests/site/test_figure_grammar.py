"""The grammar figure translates like the package, and its choices form sentences of the grammar."""

import json
from dataclasses import asdict, replace
from itertools import cycle, zip_longest
from pathlib import Path

import numpy as np
import pytest
import torch

from glassformer.data.vocabulary import END_ID, START_ID, Vocabulary
from glassformer.decoding.generate import greedy_decode
from glassformer.inspection import record_attention
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.tasks.grammar import BOOK_EXAMPLE, Example, join_words
from glassformer.tasks.lexicon import ADJECTIVES, ANIMALS, PLACES, VERBS, adjective, noun, verb
from glassformer.widgets import live_grammar

SENTENCES = [
    BOOK_EXAMPLE,
    replace(BOOK_EXAMPLE, adjective=adjective("wide")),
    Example(noun("mouse"), verb("leave"), noun("garden"), adjective("shy"), negated=False),
]
ROOT = Path(__file__).parents[2]
MARKS = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": (START_ID,)}


def words_of(side):
    choices = [
        Example(animal, verb, place, adjective, negated)
        for animal, place, verb in zip(ANIMALS, PLACES, cycle(VERBS), strict=False)
        for adjective in ADJECTIVES
        for negated in (False, True)
    ]
    return Vocabulary.from_sentences(getattr(choice, side) for choice in choices)


ENGLISH, FRENCH = words_of("source"), words_of("target")


@pytest.fixture(scope="module")
def model():
    """An untrained model of the chapter's size with weights rounded to float16.

    Its output leans towards il and elle: it writes one in the first two sentences, and none in the third.
    """
    config = TransformerConfig(
        source_vocabulary_size=len(ENGLISH),
        target_vocabulary_size=len(FRENCH),
        d_model=64,
        num_heads=4,
        num_encoder_layers=2,
        num_decoder_layers=2,
        d_ff=128,
        norm="pre",
        dropout=0.0,
    )
    model = Transformer(config, generator=torch.Generator().manual_seed(9)).eval()
    with torch.no_grad():
        model.output_proj.weight[FRENCH.encode(["il", "elle"])] *= 1.5
        for parameter in model.parameters():
            parameter.copy_(parameter.half())
    return model


@pytest.fixture
def figure(page, monkeypatch, model):
    """The figure as in a notebook, with the book's sentence."""
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    shown = live_grammar(
        {name: each.detach().numpy() for name, each in model.named_parameters()},
        asdict(model.config),
        english=ENGLISH.words,
        french=FRENCH.words,
        animals=list(map(asdict, ANIMALS)),
        places=list(map(asdict, PLACES)),
        verbs=list(map(asdict, VERBS)),
        adjectives=list(map(asdict, ADJECTIVES)),
        start=asdict(BOOK_EXAMPLE),
        translations={},
    )
    page.set_content(shown._repr_html_())
    return page.locator("glass-figure")


def pronoun_place(words):
    return next((place for place, word in enumerate(words) if word in ("il", "elle")), -1)


def translated(model, example):
    """Compute ids, maps by attention, and probabilities of il and elle at each position with the package."""
    source = torch.tensor([ENGLISH.encode(example.source)])
    written = greedy_decode(model, source, **MARKS, max_length=20)
    given = torch.cat([torch.tensor([[START_ID]]), written[:, :-1]], dim=1)
    with torch.no_grad(), record_attention(model) as maps:
        probabilities = model(source, given)[0].softmax(-1)[:, FRENCH.encode(["il", "elle"])]
    return written[0].tolist(), {name: each[0].numpy() for name, each in maps.items()}, probabilities.numpy()


def test_translations_maps_and_probabilities_are_those_of_the_package(page, figure, model):
    computed = page.evaluate(
        """(sentences) => {
          const data = JSON.parse(document.querySelector("glass-figure script").textContent);
          const model = glassformer.unpackModel(data.config, data.weights);
          return sentences.map((words) => {
            const found = glassformer.translateAndInspect(model, data.english, data.french, words);
            for (const heads of Object.values(found.maps))
              heads.forEach((map, head) => (heads[head] = map.map((row) => [...row])));
            return found;
          });
        }""",
        [example.source for example in SENTENCES],
    )
    for example, found in zip(SENTENCES, computed, strict=True):
        ids, maps, probabilities = translated(model, example)
        assert found["ids"] == ids
        words = [*FRENCH.decode(ids), "<end>"][: len(ids)]
        assert found["target"] == words
        assert found["given"] == ["<start>", *words[:-1]]
        assert found["maps"].keys() == maps.keys()
        for name, heads in maps.items():
            np.testing.assert_allclose(found["maps"][name], heads, atol=1e-5)
        place = pronoun_place(words)
        assert found["places"] == {"source": example.source_pronoun_position, "target": place}
        wanted = [0, 0] if example is SENTENCES[2] else probabilities[place]
        np.testing.assert_allclose(found["probabilities"], wanted, atol=1e-5)


def test_the_choices_form_the_sentences_of_the_grammar(page, figure):
    for example in (BOOK_EXAMPLE, SENTENCES[2]):
        words = page.evaluate("choice => glassformer.composeSentence(choice)", asdict(example))
        assert tuple(words) == example.source
    for label, words in {"animal": ANIMALS, "place": PLACES, "adjective": ADJECTIVES}.items():
        options = figure.get_by_label(label, exact=True).locator("option").all_inner_texts()
        gendered = {word.english: f" ({word.gender[0]}.)" for word in words if label != "adjective"}
        assert sorted(options) == sorted(word.english + gendered.get(word.english, "") for word in words)


def test_changing_a_word_by_keyboard_shows_old_and_new_numbers(page, figure, model):
    french = figure.locator(".french")
    first = french.inner_text()
    figure.get_by_label("place", exact=True).focus()
    page.keyboard.press("ArrowDown")
    example = replace(BOOK_EXAMPLE, object=noun("road"))
    earlier, later = (translated(model, each) for each in (BOOK_EXAMPLE, example))
    words = FRENCH.decode(later[0])
    assert french.inner_text().strip() == join_words(words)
    assert figure.locator(".former").inner_text() == f"before: {first}".strip()
    shown = np.array(figure.locator(".chances tbody .number").all_inner_texts(), dtype=float)
    for column, (ids, _, probabilities) in enumerate((later, earlier)):
        place = pronoun_place(FRENCH.decode(ids))
        np.testing.assert_allclose(shown[column::2], probabilities[place], atol=6e-5)
    weights = later[1]["encoder.layers.1.self_attention"][0, example.source_pronoun_position]
    numbers = figure.locator(".map tfoot tr").first.locator("td").all_inner_texts()
    assert numbers == [f"{100 * weight:.0f}" for weight in weights]
    most = told_apart(example.source)[weights.argmax()]
    looks = f"head 1: “it” attends most to “{most}”, {100 * weights.max():.0f}%"
    heard = figure.get_by_role("status").filter(has_text=f"“It” becomes “{words[pronoun_place(words)]}”")
    heard.filter(has_text=f"{looks}, to “animal” {100 * weights[1]:.0f}%.").wait_for()


def test_arrow_keys_select_maps_and_rows(page, figure, model):
    ids, maps, _ = translated(model, BOOK_EXAMPLE)
    figure.get_by_label("encoder 2, head 1").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert figure.locator(".map caption").inner_text().startswith("cross 1, head 1")
    row = figure.get_by_label("row", exact=True)
    place = pronoun_place(FRENCH.decode(ids))
    assert row.evaluate("row => row.selectedIndex") == place
    row.focus()
    page.keyboard.press("ArrowDown")
    weights = maps["decoder.layers.0.cross_attention"][0, place + 1]
    numbers = figure.locator(".map tfoot tr").first.locator("td").all_inner_texts()
    assert numbers == [f"{100 * weight:.0f}" for weight in weights]
    asking = told_apart([*FRENCH.decode(ids), "<end>"])[place + 1]
    assert f": “{asking}” attends most" in figure.locator(".summary").inner_text()
    assert row.evaluate("row => row === document.activeElement")


def told_apart(words):
    return [
        f"{word} ({after})" if word in ("the", "le", "la", "l'") and after else word
        for word, after in zip_longest(words, words[1:], fillvalue="")
    ]


def test_repeated_articles_are_distinguished_and_genders_shown(figure):
    rows = figure.get_by_label("row", exact=True).locator("option").all_inner_texts()
    assert rows == told_apart(BOOK_EXAMPLE.source)
    assert rows[:5:4] == ["the (animal)", "the (street)"]
    assert "referent of “it”, animal (masculine); grey: rue (feminine)" in figure.locator(".one").inner_text()
    choose(figure, adjective="wide")
    assert "referent of “it”, rue (feminine); grey: animal (masculine)" in figure.locator(".one").inner_text()


def test_small_maps_mark_both_nouns_and_use_square_root_colours(page, figure, model):
    left = "([box, map]) => box.getBoundingClientRect().left - map.getBoundingClientRect().left"
    head = figure.locator(".thumb").nth(4)  # encoder 2, head 1
    for kind, place in {"meant": 1, "other": 5}.items():
        parts = [head.locator(part).element_handle() for part in (f".column.{kind}", "canvas")]
        width = parts[1].bounding_box()["width"]
        assert page.evaluate(left, parts) == pytest.approx(width * place / 11, abs=0.5)
    weights = translated(model, BOOK_EXAMPLE)[1]["encoder.layers.1.self_attention"][0]
    painted = head.locator("canvas").evaluate(
        "map => [...map.getContext('2d').getImageData(0, 0, map.width, map.height).data]"
    )
    opacities = np.array(painted[3::4]).reshape(weights.shape) / 255
    np.testing.assert_allclose(opacities, 0.07 + 0.93 * np.sqrt(weights), atol=0.01)
    strengths = figure.locator(".map tbody td").evaluate_all(
        "cells => cells.map((cell) => Number(cell.style.getPropertyValue('--strength')))"
    )
    np.testing.assert_allclose(np.reshape(strengths, weights.shape), np.sqrt(weights), atol=1e-4)


def test_the_prediction_agrees_with_the_benchmark(figure):
    results = json.loads((ROOT / "benchmarks/results/pronoun_heads.json").read_text())["measured"]
    translators = [row["looks_at_antecedent"] for row in results if row["genders"] == "any"]
    shares = [
        np.mean(halves)
        for heads in translators
        for name, halves in heads.items()
        if name.startswith("encoder.layers.1.")
    ]
    assert (len(translators), len(shares)) == (16, 64)
    heads = f"sixteen such translators were trained. How many of the {len(shares)} heads in their second"
    assert heads in figure.inner_text()
    assert max(shares) < 0.55
    figure.get_by_role("button", name="None").click()
    best = f"The best of the 64 heads does so in {100 * max(shares):.0f} of 100 sentences"
    figure.get_by_text(f"Right. {best}").wait_for()


def choose(figure, **words):
    for label, word in words.items():
        figure.get_by_label(label, exact=True).select_option(word)


def test_a_translation_without_a_pronoun_is_described_as_such(figure):
    choose(figure, animal="mouse", verb="left", place="garden", adjective="shy")
    assert figure.locator(".summary").inner_text().startswith("“It” becomes no pronoun; encoder 2, head 1")
    assert figure.locator(".pronoun").count() == 0
    assert "very" in figure.locator(".sentence").inner_text()


def test_previous_weights_are_shown_for_sentences_of_equal_length(figure, model):
    choose(figure, animal="mouse", verb="left", place="garden", adjective="shy")
    choose(figure, adjective="clumsy")
    sentences = replace(SENTENCES[2], adjective=adjective("clumsy")), SENTENCES[2]
    for row, example in zip(figure.locator(".map tfoot tr").all(), sentences, strict=True):
        weights = translated(model, example)[1]["encoder.layers.1.self_attention"][0, 6]
        assert row.locator("td").all_inner_texts() == [f"{100 * weight:.0f}" for weight in weights]
    choose(figure, place="tunnel")
    assert set(figure.locator(".map tfoot tr").last.locator("td").all_inner_texts()) == {"–"}

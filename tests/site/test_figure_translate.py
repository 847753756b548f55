"""The translator's page translates like the package, with any heads ablated, and reports invalid input."""

from pathlib import Path

import pytest
from accessibility import violations

from glassformer.inspection import ablate_heads, find_attention_layers
from glassformer.translator import Translator, locate_translator

SITE = Path(__file__).parents[2] / "_build/html"
ANIMAL = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def translator():
    return Translator.load("en-fr")


@pytest.fixture(scope="module")
def first_loaded(browser, served):
    """Open the page once for all tests of this file: loading takes most of their time."""
    with browser.new_context(reduced_motion="reduce").new_page() as page:
        page.goto(f"{served}/translator.html")
        page.get_by_role("button", name="Translate", exact=True).click()
        assert page.locator(".message").inner_text() == "Load the translator first."
        page.get_by_role("button", name="Load the translator").click()
        answer(page)
        yield page


@pytest.fixture
def loaded(first_loaded):
    """The loaded page in its initial state."""
    ask(first_loaded, "No.")
    first_loaded.get_by_label("decode by").select_option("beam search")
    first_loaded.get_by_label("attention", exact=True).select_option("cross-attention")
    first_loaded.get_by_role("button", name="All heads on").click()
    answer(first_loaded)
    return first_loaded


def answer(page):
    """Wait until the translation is complete and return it."""
    page.wait_for_function("""() => {
      const message = document.querySelector(".message").textContent;
      return message === "" && document.querySelector(".french");
    }""")
    return page.locator(".french").inner_text()


def ask(page, sentence):
    page.get_by_label("An English sentence").fill(sentence)
    page.get_by_label("An English sentence").press("Enter")


def test_it_translates_like_python(loaded, translator):
    ask(loaded, "I am tired.")
    found = translator.translate_n_best(["I am tired."], n_best=4)[0]
    assert answer(loaded) == found[0].text
    assert loaded.locator(".others li button").all_text_contents() == [one.text for one in found]
    loaded.get_by_label("decode by").select_option("greedy decoding")
    ask(loaded, ANIMAL)
    assert answer(loaded) == translator.translate([ANIMAL], beam_size=1)[0]


def test_ablating_heads_has_the_same_effect_as_in_python(loaded, translator):
    figure = loaded.locator("glass-figure")
    figure.get_by_role("button", name=ANIMAL).click()
    whole = answer(loaded)
    off = {"decoder.layers.1.cross_attention": [2], "decoder.layers.2.cross_attention": [5]}
    for label in ("layer 2, head 2 on", "layer 3, head 5 on"):
        figure.get_by_label(label).focus()
        loaded.keyboard.press("Space")
    with ablate_heads(translator.model, off):
        assert answer(loaded) == translator.translate([ANIMAL])[0]
    changed = figure.locator("mark").all_text_contents()
    assert changed == [word for word in answer(loaded).split() if word not in whole.split()] != []
    assert f"{len(changed)} of 11 words changed. With all heads: {whole}" in figure.inner_text()

    figure.get_by_label("all cross-attention off").check()
    assert figure.locator(".head input:checked").count() == 0
    heads = range(translator.model.config.num_heads)
    cross = {name: heads for name in find_attention_layers(translator.model) if "cross" in name}
    with ablate_heads(translator.model, cross):
        assert answer(loaded) == translator.translate([ANIMAL])[0]
    assert "but it is off" in figure.locator(".summary").inner_text()
    figure.get_by_role("button", name="All heads on").click()
    assert answer(loaded) == whole


def test_arrow_keys_pick_a_token_and_show_its_weights(loaded):
    figure = loaded.locator("glass-figure")
    figure.get_by_role("button", name="I would like").click()
    answer(loaded)
    french = figure.get_by_role("group", name="French tokens")
    french.locator("[aria-pressed=true]").focus()
    for key in ("End", "Home", "ArrowRight", "ArrowRight", "ArrowLeft"):
        loaded.keyboard.press(key)
    assert french.locator("[aria-pressed=true]").inner_text() == "▁voudrais"
    assert french.locator(":focus").count() == 1
    map_ = loaded.evaluate("""async () => {
      const made = glassformer.loadTranslator(await glassformer.fetchModel("en-fr"));
      const found = made.translate("I would like a cup of tea, please.", { maps: true });
      return Array.from(found.maps["decoder.layers.2.cross_attention"][0][1]);
    }""")
    weights = figure.get_by_role("group", name="English tokens").locator(".weight").all_text_contents()
    assert weights == [f"{weight:.2f}" for weight in map_]
    figure.get_by_role("status").filter(has_text="Writing “voudrais”, head 0 of layer 3").wait_for()
    assert figure.locator(".next tbody tr").count() == 5
    assert figure.locator(".next .written th").inner_text() == "▁voudrais"
    for kind in ("encoder", "decoder"):
        figure.get_by_label("attention", exact=True).select_option(kind)
        figure.get_by_role("button", name="layer 2, head 3", exact=True).click()
        assert "head 3 of layer 2 attends most to" in figure.locator(".summary").inner_text()


def test_each_of_the_n_best_hypotheses_can_be_inspected(loaded, translator):
    ask(loaded, ANIMAL)
    best = answer(loaded)
    second = translator.translate_n_best([ANIMAL], n_best=2)[0][1]
    loaded.locator(".others summary").click()
    loaded.locator(".others li button").nth(1).click()
    answer(loaded)
    pieces = [*translator.tokenizer.pieces(second.text), "<end>"]
    french = loaded.get_by_role("group", name="French tokens")
    assert french.locator(".token").all_text_contents() == pieces
    assert answer(loaded) == best != second.text
    assert loaded.locator(".others [aria-pressed=true]").inner_text() == second.text


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("", "Please type a sentence first"),
        (" \u00a0\t ", "Please type a sentence first"),
        ("dog " * 300, "it has 301 tokens; the maximum is 128"),
        ("dog " * 2500, "too long: its 2500 words"),
    ],
    ids=["empty", "blank", "long", "10,000 characters"],
)
def test_invalid_sentences_are_reported(loaded, sentence, words):
    ask(loaded, sentence)
    loaded.locator(".message").filter(has_text=words).wait_for()
    assert not loaded.locator(".panel").is_visible()
    ask(loaded, "No.")
    assert answer(loaded) == "Non."
    assert loaded.locator(".panel").is_visible()


def test_markup_and_control_characters_are_text(loaded, translator):
    errors = []
    loaded.on("pageerror", lambda error: errors.append(str(error)))
    for sentence in (
        "<img src=x onerror='document.title=1'><b>I am tired.</b>",
        "\x00\x07\x1b[31mNo. 🙂\u202e",
    ):
        ask(loaded, sentence)
        assert answer(loaded) == " ".join(translator.translate([sentence])[0].split())
    assert loaded.locator(".stage").locator("img, b").count() == 0
    assert errors == []


def test_sampling_at_temperature_zero_is_greedy_decoding(loaded, translator):
    ask(loaded, "Where is the train station?")
    loaded.get_by_label("decode by").select_option("sampling")
    loaded.get_by_label("temperature").press("Home")
    assert answer(loaded) == translator.translate(["Where is the train station?"], beam_size=1)[0]


def test_it_loads_from_the_file_system_and_opens_the_readers_own_files(page):
    page.goto((SITE / "translator.html").as_uri())
    page.get_by_role("button", name="Load the translator").click()
    assert answer(page) == "Je voudrais une tasse de thé, s'il vous plaît."
    assert not page.locator("progress").is_visible()
    assert page.get_by_role("button", name="Load the pretrained translator again").is_visible()
    picker = page.locator("glass-figure input[type=file]")
    files = sorted(locate_translator("en-fr").iterdir())
    picker.set_input_files(files[:2])
    page.locator(".message").filter(has_text="Missing: tokenizer.json.").wait_for()
    picker.set_input_files(files)
    assert answer(page) == "Je voudrais une tasse de thé, s'il vous plaît."


DROP = """async (damage) => {
  const files = await glassformer.fetchModel("en-fr");
  const dropped = new DataTransfer();
  for (const [part, name] of Object.entries(glassformer.MODEL_FILES)) {
    const content = part === damage ? files[part].slice(0, -1) : files[part];
    if (damage !== name) dropped.items.add(new File([content], name));
  }
  const zone = document.querySelector(".drop");
  return ["dragover", "drop"].map((kind) =>
    zone.dispatchEvent(new DragEvent(kind, { dataTransfer: dropped, bubbles: true, cancelable: true })));
}"""


def test_files_can_be_dropped_and_damaged_ones_leave_the_translator_unchanged(loaded):
    message = loaded.locator(".message")
    for damage, words in {
        "tokenizer.json": "Open three files together: model.json, model.safetensors, tokenizer.json. Missing",
        "weights": "The translator could not be loaded. The weights file must be a valid safetensors file",
    }.items():
        assert loaded.evaluate(DROP, damage) == [
            False,
            False,
        ]  # the browser does not open them
        message.filter(has_text=words).wait_for()
        ask(loaded, "No.")
        assert answer(loaded) == "Non."
    ask(loaded, "")
    assert loaded.evaluate(DROP, "") == [False, False]
    message.filter(has_text="Please type a sentence first: the field is empty.").wait_for()
    ask(loaded, "I am tired.")
    assert answer(loaded) == "Je suis fatigué."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_loaded_figure_is_accessible(loaded, scheme):
    loaded.emulate_media(color_scheme=scheme)
    loaded.locator(f"html[data-theme={scheme}]").wait_for(timeout=5000)
    loaded.get_by_label("layer 1, head 1 on").uncheck()
    answer(loaded)
    assert violations(loaded, "glass-figure") == []


def test_nothing_overflows_the_loaded_figure_on_a_small_phone(loaded):
    loaded.set_viewport_size({"width": 360, "height": 740})
    ask(loaded, f"{ANIMAL} {'Donaudampfschiff' * 3}")
    answer(loaded)
    out = loaded.evaluate("""() => [...document.querySelectorAll(".stage *")].filter((inner) => {
      const box = inner.getBoundingClientRect();
      const stage = inner.closest(".stage").getBoundingClientRect();
      return box.width > 1 && (box.right > stage.right + 1 || box.left < stage.left - 1);
    }).map((inner) => inner.outerHTML.slice(0, 80))""")
    assert out == []

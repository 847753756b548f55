"""The beam figure finds the same hypotheses as the package, recorded or computed in the page."""

import base64
import math

import pytest
import torch

from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import END_ID, START_ID
from glassformer.decoding.beam import beam_search
from glassformer.decoding.generate import greedy_decode
from glassformer.modules.storage import save_model
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.widgets import live_beam
from glassformer.widgets.figures.beam import LENGTH_PENALTIES

MARKS = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": (START_ID,)}
SEARCHES = [(1, "none"), (2, "average"), (3, "none"), (4, "gnmt"), (4, "average")]
SENTENCES = ["It's cold.", "Is it?"]
TREE = {  # probabilities: greedy decoding takes "Il" and writes 0.24, but "Oui" is 0.27
    (): {"▁Il": 0.5, "▁Oui": 0.3, "▁Non": 0.2},
    ("▁Il",): {"▁fait": 0.6, "▁a": 0.4},
    ("▁Il", "▁fait"): {"▁froid": 0.8, "▁frais": 0.2},
    ("▁Il", "▁fait", "▁froid"): {"<end>": 1.0},
    ("▁Oui",): {"<end>": 0.9, "▁oui": 0.1},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small random model that often ends early, its tokenizer, and the texts of both."""
    folder = tmp_path_factory.mktemp("small")
    tokenizer = Tokenizer.train(SENTENCES * 9, vocabulary_size=270)
    config = TransformerConfig(
        source_vocabulary_size=tokenizer.vocabulary_size,
        target_vocabulary_size=tokenizer.vocabulary_size,
        d_model=16,
        num_heads=2,
        num_encoder_layers=1,
        num_decoder_layers=2,
        d_ff=32,
        norm="pre",
        dropout=0.0,
    )
    model = Transformer(config, generator=torch.Generator().manual_seed(3)).eval()
    with torch.no_grad():
        end = model.output_proj.weight.mul_(4)[END_ID]
        model.decoder.final_norm.bias.add_(4 * end / (end @ end))
    save_model(model, folder)
    tokenizer.save(folder / "tokenizer.json")
    texts = {name: (folder / f"{name}.json").read_text("utf-8") for name in ("model", "tokenizer")}
    weights = base64.b64encode((folder / "model.safetensors").read_bytes()).decode()
    return model, tokenizer, texts | {"weights": weights}


@pytest.fixture
def figure(page, monkeypatch):
    """The figure as in a notebook."""
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    tree = {words: {word: math.log(p) for word, p in after.items()} for words, after in TREE.items()}
    page.set_content(live_beam({SENTENCES[0]: tree})._repr_html_())
    return page.locator("glass-figure")


@pytest.fixture
def with_translator(page, figure, files):
    """The figure in a page that can fetch the small model."""
    page.evaluate(
        """files => {
          const weights = Uint8Array.from(atob(files.weights), (byte) => byte.charCodeAt(0)).buffer;
          glassformer.fetchModel = async () => ({ ...files, weights });
        }""",
        files[-1],
    )
    return figure


def test_the_search_in_the_page_finds_the_same_hypotheses_as_the_package(page, with_translator, files):
    model, tokenizer, _ = files
    seen = set()
    for sentence in SENTENCES:
        ids = [*tokenizer.encode([sentence])[0], END_ID]
        found = page.evaluate(
            """async ([ids, searches]) => {
              const { model } = glassformer.loadTranslator(await glassformer.fetchModel());
              const hasEnded = (tokens) => tokens.at(-1) === glassformer.END_ID;
              const continuations = await glassformer.searchModel(model, ids, { maxLength: 6 });
              return searches.map(([beamSize, penalty]) => {
                const { hypotheses } = glassformer.traceSearch({ continuations, beamSize });
                return glassformer.rankHypotheses(hypotheses, penalty, hasEnded);
              });
            }""",
            [ids, SEARCHES],
        )
        source_ids = torch.tensor([ids])
        for ours, (size, penalty) in zip(found, SEARCHES, strict=True):
            options = {
                "max_length": 6,
                "beam_size": size,
                "n_best": size,
                "length_penalty": penalty,
            }
            (theirs,) = beam_search(model, source_ids, **MARKS, **options)
            assert [one["tokens"] for one in ours] == [list(one.ids) for one in theirs]
            for mine, one in zip(ours, theirs, strict=True):
                assert mine["logProbability"] == pytest.approx(one.log_probability, abs=1e-5)
                assert mine["score"] == pytest.approx(one.score, abs=1e-5)
                seen.add(one.ended)
        assert found[0][0]["tokens"] == greedy_decode(model, source_ids, **MARKS, max_length=6)[0].tolist()
    assert seen == {True, False}


def test_the_length_penalty_changes_the_best_hypothesis(figure):
    first = figure.locator(".ranking .first")
    assert first.inner_text().split() == ["1", "Oui", "−1.31", "2", "1.00", "−1.309"]
    assert "the greedy translation has rank 2" in figure.locator(".summary").inner_text()
    figure.get_by_label("length penalty").select_option("gnmt")
    score = math.log(0.24) / LENGTH_PENALTIES["gnmt"](4)
    divisor = LENGTH_PENALTIES["gnmt"](4)
    assert first.inner_text().split() == [
        *("1", "Il", "fait", "froid"),
        *("−1.43", "4", f"{divisor:.2f}", f"{score:.3f}".replace("-", "−")),
    ]
    assert (
        "With length penalty “gnmt”, the best of 4 beams is “Il fait froid”"
        in figure.locator(".summary").inner_text()
    )


def test_the_search_grows_and_shrinks_by_keyboard(page, figure):
    steps, beams = figure.get_by_label("step", exact=True), figure.get_by_label("beams")
    steps.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert figure.get_by_role("button", name="step 2, ").count() == 1 + 4  # greedy decoding, continuations
    assert figure.get_by_role("button", name="step 3, ").count() == 0
    figure.get_by_role("status").filter(
        has_text="Step 2: 1 of 4 beams kept, 3 complete; “Il fait” leads"
    ).wait_for()
    beams.focus()
    page.keyboard.press("Home")
    sentence = "Step 2: 1 of 1 beam kept; “Il fait” leads with −1.20; the greedy path has rank 1."
    assert sentence in figure.locator(".summary").inner_text()
    statuses = [node.get_attribute("aria-label") for node in figure.locator(".node:visible").all()]
    assert sum(status.endswith("pruned") for status in statuses) == 2 + 1


def test_arrow_keys_move_between_nodes_and_show_the_next_tokens(page, figure):
    figure.get_by_role("button", name="Il −0.69, step 1, rank 1, kept").click()
    next_tokens = [row.split() for row in figure.locator(".next tbody tr").all_inner_texts()]
    assert next_tokens == [["▁fait", "0.600", "−1.20"], ["▁a", "0.400", "−1.61"]]
    assert figure.locator(".node[aria-pressed=true] [lang]").inner_text() == "▁Il"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    pressed = figure.locator(".node[aria-pressed=true]")
    assert pressed.get_attribute("aria-label") == "■ end −1.31, step 2, rank 2, complete"
    assert pressed.evaluate("node => node === document.activeElement")
    assert pressed.inner_text().split("\n") == ["■ end", "−1.31"]
    assert figure.locator(".path").inner_text().split("\n")[-1] == "−1.204 − 0.105 = −1.309"
    assert figure.locator(".next").inner_text() == "Complete: ranked in the table below."


def test_the_prediction_counts_the_sentences_that_beams_improve(figure):
    figure.get_by_role("button", name="None").click()
    verdict = figure.locator(".verdict").inner_text()
    assert verdict == "No: One. The log-probability rises for “It's cold.” from −1.43 to −1.31."


def test_the_reader_can_search_a_sentence_of_their_own(page, with_translator, files):
    model, tokenizer, _ = files
    figure = with_translator
    field, message = figure.get_by_label("or your own"), figure.locator(".message")
    field.fill(SENTENCES[1])
    figure.get_by_role("button", name="Load the translator (7.5 MB)").click()
    # The first sentence's summary reads alike, so wait for the option: it is added when the search is drawn.
    figure.locator(f"option[value={SENTENCES[1]!r}]").wait_for(state="attached")
    assert figure.get_by_label("sentence").input_value() == SENTENCES[1]
    assert figure.get_by_role("button", name="Search").is_visible()
    assert "the best of 4 beams" in figure.locator(".summary").inner_text()
    source_ids = torch.tensor([[*tokenizer.encode([SENTENCES[1]])[0], END_ID]])
    (theirs,) = beam_search(model, source_ids, **MARKS, beam_size=4, n_best=4, length_penalty="none")
    shown = figure.locator(".ranking .total").all_inner_texts()
    assert [float(cell.replace("−", "-")) for cell in shown] == [
        pytest.approx(one.log_probability, abs=0.006) for one in theirs
    ]
    for text, answer in ((" ", "the field is empty"), ("a " * 60, "the maximum is 48")):
        field.fill(text)
        page.keyboard.press("Enter")
        message.filter(has_text=answer).wait_for()


def test_a_truncated_hypothesis_is_not_ranked(page, with_translator, files):
    model, tokenizer, _ = files
    figure, limit = with_translator, 4
    page.evaluate(
        """maxLength => {
          const search = glassformer.searchModel;
          glassformer.searchModel = (model, ids, options) => search(model, ids, { ...options, maxLength });
        }""",
        limit,
    )
    source_ids = torch.tensor([[*tokenizer.encode([SENTENCES[1]])[0], END_ID]])
    options = {"max_length": limit, "beam_size": 4, "n_best": 4, "length_penalty": "none"}
    (theirs,) = beam_search(model, source_ids, **MARKS, **options)
    num_ended = sum(one.ended for one in theirs)
    assert 0 < num_ended < 4
    figure.get_by_label("or your own").fill(SENTENCES[1])
    figure.get_by_role("button", name="Load the translator (7.5 MB)").click()
    limited = f"{4 - num_ended} of them were truncated at {limit} tokens, the maximum length"
    figure.locator(".summary", has_text=limited).wait_for()
    assert figure.locator(".ranking .rank").all_inner_texts() == [
        *map(str, range(1, num_ended + 1)),
        *[""] * (4 - num_ended),
    ]
    assert figure.locator(".ranking .truncated .why").all_inner_texts() == [
        f"truncated at {limit} tokens"
    ] * (4 - num_ended)
    assert figure.locator(".node.truncated").count() == 4 - num_ended


def test_the_list_keeps_three_sentences_of_the_readers(figure, with_translator):
    field, chosen = figure.get_by_label("or your own"), figure.get_by_label("sentence")
    for text in ("I.", "t.", "s.", "d."):
        field.fill(text)
        figure.locator(".ask button").click()
        figure.locator(f"option[value={text!r}]").wait_for(state="attached")
    assert chosen.locator("option").all_inner_texts() == [SENTENCES[0], "t.", "s.", "d."]


def test_a_notebook_reports_that_the_translator_is_unavailable(figure):
    figure.get_by_role("button", name="Load the translator").click()
    figure.locator(".message", has_text="only available on the book's website").wait_for()

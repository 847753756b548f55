"""All counts of the model diagram agree with PyTorch, and its boxes can be selected by keyboard."""

import math
from dataclasses import asdict
from itertools import pairwise

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from glassformer.inspection import record_attention
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.tasks.grammar import split_words
from glassformer.widgets import live_transformer

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 20, "num_encoder_layers": 2, "num_decoder_layers": 4}
SUBLAYERS = {  # the part of a layer, and its last map
    "self-attention": ("self_attention", "output_proj"),
    "masked attention": ("self_attention", "output_proj"),
    "cross-attention": ("cross_attention", "output_proj"),
    "feed-forward": ("feed_forward", "outer"),
}


@pytest.fixture
def numbers(page, figure_script):
    figure_script("transformer")
    return lambda config, source, target: page.evaluate(
        "state => glassformer.countTransformer(state)",
        {"model": asdict(config), "source": source, "target": target},
    )


class Watched:
    """A model with the outputs, parameters and cost of its parts in one forward pass."""

    def __init__(self, config, source, target):
        self.model = Transformer(config).eval()
        self.gave = {}
        for name, module in self.model.named_modules():
            module.register_forward_hook(lambda _, __, out, name=name: self.gave.setdefault(name, out))
        ids = (torch.ones(1, time, dtype=torch.long) for time in (source, target))
        with (
            FlopCounterMode(display=False) as counter,
            torch.no_grad(),
            record_attention(self.model) as weights_of,
        ):
            self.model(*ids)
        self.weights = {name: list(weights.shape[1:]) for name, weights in weights_of.items()}
        self.flops = counter.get_flop_counts()

    def shape(self, name):
        return list(self.gave[name].shape[1:])

    def held(self, name):
        return sum(each.numel() for each in self.model.get_submodule(name).parameters())

    def multiplied(self, name):
        parts = [f"Transformer.{name}.{part}" for part, _ in self.model.get_submodule(name).named_children()]
        return self.multiplied_in(*parts)

    def multiplied_in(self, *names):
        flops = sum(sum(self.flops[name].values()) for name in names if name in self.flops)
        return flops // 2  # each multiplication with an addition


def product_sum(products):
    return sum(math.prod(factors) for factors in products)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_shapes_parameters_and_cost_of_sublayers_are_those_of_pytorch(numbers, norm):
    config = TransformerConfig(**SIZES, source_vocabulary_size=17, target_vocabulary_size=19, norm=norm)
    source, target = 7, 5
    watched = Watched(config, source, target)
    found = numbers(config, source, target)
    seen = 0
    for box in found["boxes"]:
        if box["kind"] not in SUBLAYERS:
            continue
        part, last = SUBLAYERS[box["kind"]]
        name = f"{box['stack']}.layers.0.{part}"
        assert box["layers"] == len(watched.model.get_submodule(f"{box['stack']}.layers"))
        assert box["gives"][1] == watched.shape(f"{name}.{last}")
        assert product_sum(box["parameters"]) == watched.held(name)
        assert product_sum(box["multiplications"]) == watched.multiplied(name)
        inside = {part: shape for part, _, shape in box["inside"]}
        if "weights" in inside:
            assert inside["weights"] == watched.weights[name]
            heads = watched.gave[f"{name}.heads"][0].shape[1:]
            assert inside["Q"] == list(heads)
            assert inside["K"] == inside["V"] == [heads[0], inside["weights"][2], heads[2]]
        else:
            assert inside["inside"] == watched.shape(f"{name}.inner")
        seen += 1
    assert seen == 5
    assert found["boxes"][-1]["gives"][1] == watched.shape("")
    assert found["multiplications"] == watched.multiplied_in("Transformer")
    assert found["parameters"] == watched.held("")


@pytest.mark.parametrize(("norm", "tie"), [("pre", "none"), ("pre", "target"), ("post", "all")])
def test_shared_matrices_and_norms_are_counted_once(numbers, norm, tie):
    sizes = {"source_vocabulary_size": 37_000, "target_vocabulary_size": 37_000}
    config = TransformerConfig(**sizes, norm=norm, tie_embeddings=tie)
    with torch.device("meta"):
        model = Transformer(config)
    assert numbers(config, 4, 6)["parameters"] == sum(each.numel() for each in model.parameters())
    if (norm, tie) == ("post", "all"):  # the paper's base model
        assert numbers(config, 4, 6)["parameters"] == 63_082_496


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_each_box_takes_the_output_of_the_box_below(numbers, norm):
    config = TransformerConfig(**SIZES, source_vocabulary_size=17, target_vocabulary_size=19, norm=norm)
    for lower, upper in pairwise(numbers(config, 7, 5)["boxes"]):
        if lower["stack"] != upper["stack"]:
            continue
        came = upper["takes"][upper["kind"].startswith("add")]  # what goes past the box is named first
        sublayer = lower["kind"] in SUBLAYERS
        assert came == [lower["kind"] if sublayer else lower["gives"][0], lower["gives"][1]]
        inside = {part: name for part, name, _ in upper["inside"]}
        assert inside.get("Q", came[0]) == came[0]
        asked = "memory" if upper["kind"] == "cross-attention" else came[0]
        assert inside.get("K", asked) == inside.get("V", asked) == asked


def test_boxes_do_not_overlap_and_paths_end_at_their_box(page, numbers):
    for norm in ("pre", "post"):
        config = TransformerConfig(**SIZES, source_vocabulary_size=17, target_vocabulary_size=19, norm=norm)
        boxes = numbers(config, 4, 6)["boxes"]
        layout = page.evaluate("boxes => glassformer.layOutTransformer(boxes)", boxes)
        places = layout["places"]
        for lower, upper in pairwise(places):
            if abs(lower["x"] - upper["x"]) < 20:  # of one stack
                assert upper["y"] + upper["height"] < lower["y"]
        for path in layout["paths"]:
            if "to" in path and "isOpen" not in path:
                place, (x, y) = places[path["to"]], path["points"][-1]
                assert place["x"] <= x <= place["x"] + place["width"]
                assert place["y"] <= y <= place["y"] + place["height"]
        assert all(0 <= place["y"] <= layout["height"] - place["height"] for place in places)


@pytest.fixture
def figure(page, monkeypatch):
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    small = TransformerConfig(**SIZES, source_vocabulary_size=17, target_vocabulary_size=19, norm="pre")
    models = {"small": asdict(small), "base": asdict(TransformerConfig.base(37_000))}
    source, target = ["the", "animal", "slept"], ["l'", "animal"]
    page.set_content(live_transformer(source, target, models)._repr_html_())
    return page.locator("glass-figure")


def lit(figure):
    return figure.locator("[aria-pressed=true]").get_attribute("aria-label")


def test_words_are_split_like_in_the_package(page, figure_script):
    figure_script("transformer")
    for sentence in ("l'animal n'a pas", "parce qu'il  didn't", " ", "<b>l'</b>", "été l'été"):
        found = page.evaluate("sentence => glassformer.splitWords(sentence)", sentence)
        assert tuple(found) == split_words(sentence)


def test_boxes_and_steps_can_be_selected_by_keyboard(page, figure):
    assert lit(figure) == "17: cross-attention, decoder"
    roles = figure.locator(".path.lit").evaluate_all("paths => paths.map((path) => path.classList[1])")
    assert sorted(roles) == ["key", "query", "value"]
    figure.locator("[aria-pressed=true]").focus()
    page.keyboard.press("ArrowUp")
    assert lit(figure) == "18: add, decoder"
    assert figure.locator(".path.lit").count() == 2
    figure.get_by_label("Source sentence").fill("short")
    assert lit(figure) == "18: add, decoder"
    figure.locator("[aria-pressed=true]").focus()
    page.keyboard.press("End")
    assert figure.locator(".title").inner_text().startswith("24. softmax")
    figure.get_by_role("radio", name="24: softmax").focus()
    page.keyboard.press("ArrowLeft")
    sentence = "Step 23 of 24, linear, decoder: (3, 12) in, (3, 19) out; "
    figure.get_by_role("status").filter(has_text=sentence).wait_for()
    figure.get_by_role("button", name="3: norm, encoder", exact=True).click()
    assert lit(figure) == "3: norm, encoder"


def test_shapes_follow_the_readers_sentence(figure):
    figure.get_by_label("Source sentence").fill("an elephant slept too long")
    figure.get_by_label("Target, after").fill("")
    assert figure.locator(".summary").inner_text() == (
        "Step 17 of 24, cross-attention, in each of 4 decoder layers: (1, 12) and (5, 12) in, (1, 12) out; "
        f"{100 * 4 * 4 * 12 * 13 / parameters():.0f}% of all parameters."
    )
    rows = [text.split("\t") for text in figure.locator(".facts tr").all_inner_texts()]
    assert ["Q", "normalized", "(3, 1, 4)"] in rows
    assert ["K", "memory", "(3, 5, 4)"] in rows
    assert ["weights", "from token to word", "(3, 1, 5)"] in rows


def parameters():
    config = TransformerConfig(**SIZES, source_vocabulary_size=17, target_vocabulary_size=19, norm="pre")
    return sum(each.numel() for each in Transformer(config).parameters())


def test_empty_and_too_long_sentences_are_explained(figure):
    source, given = figure.get_by_label("Source sentence"), figure.get_by_label("Target, after")
    summary, notes = figure.locator(".summary"), figure.locator(".note")
    assert notes.all_inner_texts() == ["3 words", "2 words"]
    source.fill("word")
    source.fill("   ")
    given.fill("")
    shown = "Empty: the default sentence is shown."
    assert notes.all_inner_texts() == [shown, "Empty: only <start> is used."]
    assert summary.inner_text().startswith("The source field is empty; the default sentence is shown. ")
    given.fill("un deux trois quatre")
    assert "(3, 5, 3)" in figure.locator(".facts").first.inner_text()
    figure.get_by_role("button", name="1: source ids, encoder", exact=True).click()
    assert figure.locator(".how").inner_text().endswith("Default: the · animal · slept")
    figure.get_by_role("button", name="17: cross-attention, decoder").click()
    source.fill("word " * 61)
    assert notes.first.inner_text() == "Only the first 60 words are used."
    assert summary.inner_text().startswith("Only the first 60 words are used. Step 17")
    assert "(3, 5, 60)" in figure.locator(".facts").first.inner_text()


def test_another_model_keeps_the_selected_box_and_agrees_with_the_chapter(figure):
    figure.get_by_label("model").select_option("base")
    assert lit(figure) == "12: cross-attention, decoder"
    assert figure.locator(".totals").inner_text().startswith("63,082,496 parameters")
    figure.get_by_role("button", name="17: softmax").click()
    assert "(3, 37,000)" in figure.locator(".facts").first.inner_text()
    figure.get_by_role("button", name="13: add & norm, decoder").click()
    figure.get_by_label("model").select_option("small")
    assert lit(figure) == "16: norm, decoder"

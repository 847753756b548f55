"""The heads figure computes the same numbers as the package, with any heads switched off."""

import itertools

import numpy as np
import pytest
import torch

from glassformer.inspection import ablate_heads
from glassformer.modules.attention import MultiHeadAttention
from glassformer.reference.heads import multi_head_attention
from glassformer.widgets import live_heads

ROLES = ("query", "key", "value", "output")


@pytest.fixture
def numbers(page, figure_script):
    figure_script("heads")
    return lambda **state: page.evaluate("state => glassformer.computeHeads(state)", state)


@pytest.fixture
def given():
    rng = np.random.default_rng(8)
    return rng.standard_normal((5, 8)), dict(zip(ROLES, rng.standard_normal((4, 8, 8)), strict=True))


def ablated(x, weights, num_heads, off):
    """Compute weights and output with the package, with heads ablated by `ablate_heads`."""
    attention = MultiHeadAttention(8, num_heads, bias=False).double()
    projections = (getattr(attention, f"{role}_proj") for role in ROLES)
    with torch.no_grad():
        for projection, role in zip(projections, ROLES, strict=True):
            projection.weight.copy_(torch.from_numpy(weights[role].T))
        x = torch.from_numpy(x)
        with ablate_heads(attention, {"attention": off}):
            return attention(x, x, x)[0].numpy()


@pytest.mark.parametrize("num_heads", [1, 2, 4])
def test_weights_and_output_are_those_of_the_package_with_any_heads_off(numbers, given, num_heads):
    x, weights = given
    state = {"x": x.tolist(), "weights": {role: each.tolist() for role, each in weights.items()}}
    named = {f"{role}_weight": each for role, each in weights.items()}
    whole, maps = multi_head_attention(x, x, x, num_heads=num_heads, **named)
    for on in itertools.product([True, False], repeat=num_heads):
        found = numbers(**state, numHeads=num_heads, on=on)
        off = [head for head in range(num_heads) if not on[head]]
        np.testing.assert_allclose([head["weights"] for head in found["heads"]], maps, atol=1e-9)
        np.testing.assert_allclose(found["output"], ablated(x, weights, num_heads, off), atol=1e-9)
        parts = np.sum([head["contribution"] for head in found["heads"]], axis=0)
        np.testing.assert_allclose(parts, found["output"], atol=1e-9)
        if all(on):
            np.testing.assert_allclose(found["output"], whole, atol=1e-9)


@pytest.fixture
def figure(page, monkeypatch, given):
    """The figure as in a notebook: the halves of the query of "it" match "animal" and "tired"."""
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    words = ["animal", "street", "it", "too", "tired"]
    named = {f"{role}_weight": weight for role, weight in given[1].items()}
    named["key_weight"][[0, 1, 3, 4]] = np.tile(np.eye(4), 2)
    named["key_weight"][2] = 0
    named["query_weight"][[1, 2]] = [0, 6, 0, 0, 0, 6, 0, 0], [6, 0, 0, 0, 0, 0, 0, 6]
    page.set_content(live_heads(words, np.eye(5, 8), **named, follow="it")._repr_html_())
    return page.locator("glass-figure")


def test_two_heads_attend_to_two_words_and_one_head_to_both(page, figure):
    heads = figure.get_by_label("heads", exact=True)
    sharp = np.exp(6 / np.sqrt(4))
    look = f"{sharp / (sharp + 4):.2f}"
    assert figure.locator(".summary").inner_text() == (
        f"“it”: head 0 attends most to “animal”, {look}, head 1 attends most to “tired”, {look}."
    )
    heads.focus()
    page.keyboard.press("ArrowUp")
    sharp = np.exp(6 / np.sqrt(8))
    sentence = f"“it”: head 0 attends most to “animal” and “tired”, {sharp / (2 * sharp + 3):.2f} each."
    figure.get_by_role("status").filter(has_text=sentence).wait_for()
    heads.select_option("4")
    assert figure.get_by_role("checkbox").count() == 4


def test_switching_a_head_off_by_keyboard_removes_its_contribution(page, figure):
    parts = figure.locator(".blocks").nth(1).get_by_role("row")
    first, output = parts.filter(has_text="head 0"), parts.filter(has_text="output")
    figure.get_by_label("head 1", exact=True).focus()
    page.keyboard.press("Space")
    assert output.get_by_role("cell").all_inner_texts() == first.get_by_role("cell").all_inner_texts()
    figure.get_by_role("status").filter(has_text="Without head 1 its output changes by").wait_for()


def test_another_word_can_be_selected(figure):
    figure.get_by_label("follow").select_option("street")
    assert figure.locator(".map tr.picked").all_inner_texts()[0].startswith("street")
    assert figure.locator(".summary").inner_text().startswith("“street”: head 0 attends most to “street”")

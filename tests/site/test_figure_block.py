"""Stacks and their measures are the same in the browser as in Python, with any parts."""

import itertools
import re

import numpy as np
import pytest

from glassformer.reference.heads import multi_head_attention
from glassformer.reference.layers import feed_forward, layer_norm
from glassformer.widgets import live_block
from glassformer.widgets.figures.block.stack import Parts, Stack

WORDS = ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired"]
SMALL = {"d_model": 16, "num_heads": 2, "d_ff": 24, "seed": 5}
LARGE = {"d_model": 64, "num_heads": 4, "d_ff": 256, "seed": 12}
PARTS = [Parts(*each) for each in itertools.product((False, True), ("none", "post", "pre"), (False, True))]


@pytest.fixture
def run(page, figure_script):
    """Run stacks with all combinations of parts in the browser, on the same weights."""
    figure_script("block")
    script = """({ sizes, kinds, depths }) => {
        const stack = glassformer.makeStack(sizes);
        const plain = (level) => ({ ...level, words: level.words.map((word) => [...word]) });
        return kinds.map((parts) => depths.map((depth) => stack.run(parts, depth).map(plain)));
    }"""

    def run_all(sizes, num_words, depths):
        kinds = [
            {"residual": parts.residual, "norm": parts.norm, "feedForward": parts.feed_forward}
            for parts in PARTS
        ]
        state = {"sizes": sizes | {"num_words": num_words}, "kinds": kinds, "depths": depths}
        return dict(zip(PARTS, page.evaluate(script, state), strict=True))

    return run_all


def words_by_package(stack, parts, depth):
    """Send words through the package's attention, layer norm and feed-forward network."""

    def look(x, layer):
        weights = {f"{role}_weight": layer[role] for role in ("query", "key", "value", "output")}
        return multi_head_attention(x, x, x, num_heads=stack.num_heads, **weights)[0]

    def work(x, layer):
        biases = {"inner_bias": np.zeros(SMALL["d_ff"]), "outer_bias": np.zeros(SMALL["d_model"])}
        return feed_forward(x, inner_weight=layer["inner"], outer_weight=layer["outer"], **biases)

    def norm(x):
        return layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))

    x = stack.x
    for layer in stack.layers[:depth]:
        for sublayer in (look, work)[: 1 + parts.feed_forward]:
            made = sublayer(norm(x) if parts.norm == "pre" else x, layer)
            x = x + made if parts.residual else made
            x = norm(x) if parts.norm == "post" else x
    return x


def test_activations_are_those_of_the_package_for_all_parts(run):
    stack = Stack(5, num_layers=4, **SMALL)
    for parts, found in run(SMALL, num_words=5, depths=[3, 4, 2]).items():
        for levels, depth in zip(found, (3, 4, 2), strict=True):
            np.testing.assert_allclose(levels[0]["words"], stack.x, rtol=1e-9, atol=1e-12)
            expected = words_by_package(stack, parts, depth)
            np.testing.assert_allclose(levels[-1]["words"], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("sizes", "num_words", "depth"), [(SMALL, 5, 4), (LARGE, 11, 2)])
def test_measures_are_those_of_python(run, sizes, num_words, depth):
    stack = Stack(num_words, num_layers=depth, **sizes)
    for parts, (levels,) in run(sizes, num_words=num_words, depths=[depth]).items():
        for found, expected in zip(levels, stack.run(parts, depth), strict=True):
            assert found["spread"] == pytest.approx(expected.spread, rel=1e-6, abs=1e-15)
            assert found["length"] == pytest.approx(expected.length, rel=1e-6)
            assert found["gradient"] == pytest.approx(expected.gradient, rel=1e-6)


@pytest.fixture(scope="module")
def html():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GLASSFORMER_SCRIPTS", raising=False)
        return live_block(WORDS)._repr_html_()


@pytest.fixture
def figure(page, html):
    page.set_content(html)
    return page.locator("glass-figure")


def colours(figure, side):
    """Count the different rows of colours before (0) or after (1) the stack."""
    rows = figure.locator(".words > div").evaluate_all(
        "rows => rows.map((row) => [...row.children].map((cell) => cell.outerHTML).join())"
    )
    return len(set(rows[side::2]))


def test_parts_and_layers_can_be_changed_by_keyboard(page, figure):
    assert [colours(figure, side) for side in (0, 1)] == [11, 1]
    for label in ("residual", "feed-forward"):
        figure.get_by_label(label).focus()
        page.keyboard.press("Space")
    figure.get_by_label("norm").focus()
    page.keyboard.press("ArrowDown")
    figure.get_by_label("layers").focus()
    page.keyboard.press("ArrowRight")
    assert colours(figure, 1) == 11
    parts = Parts(residual=True, norm="post", feed_forward=True)
    bottom, *_, top = Stack(11, num_layers=7, **LARGE).run(parts, 7)
    sentence = (
        "7 layers of attention, feed-forward, residual, post-norm: "
        f"spread {bottom.spread:#.3g} to {top.spread:#.3g}, mean norm of the vectors "
        f"{bottom.length:#.3g} to {top.length:#.3g}; the gradient at the bottom is "
        f"{bottom.gradient:#.3g} times the one at the top."
    )
    figure.get_by_role("status").filter(has_text=sentence).wait_for()
    assert figure.locator("details tbody tr").count() == 8
    assert figure.locator(".curve.spread strong").inner_text() == f"{top.spread:#.3g}"


def test_the_diagram_shows_the_active_parts(figure):
    drawing = figure.locator(".drawing")

    def drawn():
        return [drawing.locator(f"rect.{kind}").count() for kind in ("norm", "plus", "off")]

    assert drawn() == [0, 0, 1]
    figure.get_by_label("residual").check()
    figure.get_by_label("norm").select_option("post")
    assert drawn() == [1, 1, 1]
    figure.get_by_label("feed-forward").check()
    assert drawn() == [2, 2, 0]
    figure.get_by_label("norm").select_option("pre")
    assert drawn() == [3, 2, 0]
    figure.get_by_label("residual").uncheck()
    assert drawn() == [3, 0, 0]


def test_the_answer_is_computed_in_the_page(figure):
    figure.get_by_role("button", name="Slows its decay").click()
    seen = [
        [each.spread for each in Stack(11, num_layers=24, **LARGE).run(Parts(residual, "none", True), 24)]
        for residual in (True, False)
    ]
    (first, few, many), lost = (seen[0][depth] for depth in (0, 6, 24)), seen[1][6]
    assert lost == 1e-15
    assert figure.locator(".verdict").inner_text() == (
        f"Right. It falls from {first:#.3g} to {few:#.3g} after 6 layers and to {many:#.3g} after 24; "
        "without the connection it is below 1e−15 after 6."
    )


def test_curves_are_clipped_at_the_frame_with_a_triangle(figure):
    """The spread starts below the frame; with all parts, the gradient leaves it."""

    def ends():
        return [
            figure.locator(f".{name} .plane i:visible").get_attribute("class")
            if figure.locator(f".{name} .plane i:visible").count()
            else figure.locator(f".{name} .dot").get_attribute("d")[:1]
            for name in ("spread", "length", "gradient")
        ]

    assert ends() == ["below", "M", "M"]
    figure.get_by_label("residual").check()
    figure.get_by_label("feed-forward").check()
    figure.get_by_label("layers").fill("24")
    assert ends() == ["M", "above", "above"]
    for line in figure.locator(".line").all():
        numbers = [float(each) for each in re.findall(r"[\d.-]+", line.get_attribute("d"))]
        assert min(numbers[1::2]) >= 0
        assert max(numbers[1::2]) <= 100
        assert max(numbers[0::2]) <= 24


def test_only_pre_norm_explains_where_its_gradient_starts(figure):
    note = figure.get_by_text("With pre-norm it starts above")
    for norm, said in (("post", False), ("pre", True), ("none", False)):
        figure.get_by_label("norm").select_option(norm)
        assert note.is_visible() == said

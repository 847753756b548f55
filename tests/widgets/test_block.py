from inspect import signature

import pytest

from glassformer.widgets import live_block
from glassformer.widgets.figures.block.stack import ROUNDING, Parts, Stack

WORDS = ["the", "animal", "was", "tired"]
SIZES = {"d_model": 16, "num_heads": 4, "d_ff": 24, "num_layers": 7}


def test_the_table_compares_five_blocks_at_two_depths():
    html = live_block(WORDS, **SIZES, seed=3)._repr_html_()
    assert "4 words after 6 and 7 layers" in html
    stack = Stack(len(WORDS), **SIZES, seed=3)
    for name, parts in {
        "attention, feed-forward, residual": Parts(residual=True, norm="none", feed_forward=True),
        "attention, feed-forward, residual, pre-norm": Parts(residual=True, norm="pre", feed_forward=True),
    }.items():
        shown = []
        for depth in (6, 7):
            levels = stack.run(parts, depth)
            shown += [levels[-1].spread, levels[-1].length, levels[0].gradient]
        cells = "".join(f"<td>{each:#.3g}</td>" for each in shown)
        assert f'<th scope="row">{name}</th>{cells}' in html


def test_very_small_numbers_use_scientific_notation():
    sizes = SIZES | {"num_layers": 16, "seed": 3}
    cells = live_block(WORDS, **sizes)._repr_html_().split('<th scope="row">attention, feed-forward</th>')[1]
    assert cells.startswith("<td>&lt; 1e−15</td>")
    parts = Parts(residual=False, norm="none", feed_forward=True)
    digits, power = f"{Stack(len(WORDS), **sizes).run(parts, 16)[0].gradient:.1e}".split("e-")
    assert int(power) < 10
    assert f"<td>{digits}e−{int(power)}</td></tr>" in cells


@pytest.fixture(scope="module")
def shown():
    """The stack with the figure's default seed."""
    seed = signature(live_block).parameters["seed"].default
    return Stack(11, d_model=64, num_heads=4, d_ff=256, num_layers=24, seed=seed)


def test_the_residual_connection_slows_the_decay_of_the_spread(shown):
    """This is the answer to the figure's prediction."""
    added, replaced = (
        [seen.spread for seen in shown.run(Parts(residual=residual, norm="none", feed_forward=True), 24)]
        for residual in (True, False)
    )
    assert 0.3 < added[6] < 0.6
    assert 1e-4 < added[24] < 0.05
    assert replaced[6] == ROUNDING


def test_the_default_seed_is_close_to_the_chapters_means(shown):
    """The chapter prints means over several seeds below the figure."""
    for norm, six, many in (("none", 0.5, 0.007), ("post", 0.3, 0.0008), ("pre", 0.6, 0.3)):
        levels = shown.run(Parts(residual=True, norm=norm, feed_forward=True), 24)
        assert levels[6].spread == pytest.approx(six, rel=0.2)
        assert many / 4 < levels[24].spread < many * 4


@pytest.mark.parametrize("depth", [6, 24])
def test_without_residual_the_gradient_vanishes_in_one_stack_only(shown, depth):
    """The chapter says so next to the figure."""
    below = {
        (norm, feed_forward): shown.run(Parts(False, norm, feed_forward), depth)[0].gradient
        for norm in ("none", "post", "pre")
        for feed_forward in (False, True)
    }
    assert below.pop(("none", True)) < 0.6**depth
    assert min(below.values()) > 0.1


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"words": ["alone"]}, "the number of words must be at least 2, got 1"),
        ({"d_model": 8}, "d_model must be at least 16, got 8"),
        ({"num_layers": 5}, "num_layers must be at least 6, got 5"),
        ({"num_heads": 3}, r"d_model \(16\) must be a multiple of num_heads \(3\)"),
        ({"d_ff": 0}, "d_ff must be"),
    ],
)
def test_invalid_arguments_are_reported(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        live_block(**{"words": WORDS} | SIZES | change)

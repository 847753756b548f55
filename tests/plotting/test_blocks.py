import pytest
from matplotlib.patches import FancyBboxPatch

from glassformer.plotting.blocks import BLOCKS, plot_blocks
from glassformer.plotting.style import COLORS


def written(ax):
    return [text.get_text() for text in ax.texts]


def place_of(ax, words):
    return [text.get_position() for text in ax.texts if text.get_text() == words]


@pytest.mark.parametrize(
    ("name", "sublayers"),
    [
        ("post-norm", ["self-attention", "feed-forward"]),
        ("pre-norm", ["self-attention", "feed-forward"]),
        ("decoder", ["masked self-attention", "cross-attention", "feed-forward"]),
    ],
)
def test_a_block_shows_its_sublayers_each_with_an_addition_and_a_norm(name, sublayers):
    ax = plot_blocks(name)
    heights = [place_of(ax, sublayer)[0][1] for sublayer in sublayers]
    assert heights == sorted(heights)
    assert written(ax).count("+") == written(ax).count("norm") == len(sublayers)
    assert written(ax).count("memory") == (name == "decoder")


def test_post_norm_is_in_the_stream_after_the_addition_and_pre_norm_is_before_the_sublayer():
    for name in ("post-norm", "decoder", "pre-norm"):
        ax = plot_blocks(name)
        stream, plus_height = place_of(ax, "+")[0]
        norm, norm_height = place_of(ax, "norm")[0]
        _, sublayer_height = place_of(ax, "self-attention" if name != "decoder" else "masked self-attention")[
            0
        ]
        if name == "pre-norm":
            assert norm > stream + 2
            assert norm_height < sublayer_height < plus_height
        else:
            assert norm == pytest.approx(stream)
            assert sublayer_height < plus_height < norm_height


def test_blocks_are_side_by_side_in_the_given_order():
    ax = plot_blocks(*BLOCKS)
    assert [place_of(ax, name)[0][0] for name in BLOCKS] == sorted(
        place_of(ax, name)[0][0] for name in BLOCKS
    )


def test_only_norms_and_sums_are_filled():
    ax = plot_blocks("post-norm")
    filled = [
        patch for patch in ax.patches if isinstance(patch, FancyBboxPatch) and patch.get_facecolor()[3] == 1
    ]
    assert len(filled) == written(ax).count("norm") + written(ax).count("+")


def test_all_words_have_the_colours_of_the_book():
    allowed = {COLORS["text"], COLORS["violet"], "white"}
    assert {text.get_color() for text in plot_blocks(*BLOCKS).texts} <= allowed


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("names", "message"),
    [((), "names must hold at least 1, got 0"), (("encoder",), "names must be one of .*'encoder'")],
)
def test_an_invalid_argument_is_named(names, message):
    with pytest.raises(ValueError, match=message):
        plot_blocks(*names)

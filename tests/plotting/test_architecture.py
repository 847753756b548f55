import numpy as np
import pytest
from matplotlib.colors import to_rgba

from glassformer.plotting import COLORS, plot_architecture
from glassformer.plotting.architecture import PARTS
from glassformer.plotting.style import WIDTH

LIT_WORDS = {
    "before_you_begin": {"embedding"},
    "scaling": {"scale"},
    "softmax": {"softmax"},
    "masks": {"mask", "masked attention"},
    "queries_keys_values": {"Q", "K", "V"},
    "multi_head_attention": {"self-attention", "masked attention", "cross-attention"},
    "encoder_decoder": {"cross-attention"},
    "training": {"linear, softmax"},
    "decoding": {"linear, softmax"},
    "cost": {"scores", "mix", "Q", "V"},  # with their formulas, QKᵀ and × V
    "looking_inside": {"self-attention", "masked attention", "cross-attention"},
}


def pixels(part):
    canvas = plot_architecture(highlight=part).figure.canvas
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def words_of(ax):
    return {text.get_text() for text in ax.texts}


@pytest.mark.parametrize("part", PARTS)
def test_every_drawing_names_its_part_and_shows_the_whole_model(part):
    words = words_of(plot_architecture(highlight=part))
    assert part.replace("_", " ").capitalize().split()[0].rstrip("s,") in " ".join(words)
    assert {"embedding", "self-attention", "cross-attention", "softmax", "attended", "Q", "K", "V"} <= words


def test_no_two_parts_are_highlighted_alike():
    drawings = {part: pixels(part)[80:].tobytes() for part in PARTS}  # below the title, which differs anyway
    assert len(set(drawings.values())) == len(PARTS)


@pytest.mark.parametrize("part", LIT_WORDS)
def test_only_the_chosen_part_is_highlighted(part):
    texts = plot_architecture(highlight=part).texts
    assert {text.get_text() for text in texts if text.get_color() == "white"} >= LIT_WORDS[part]
    boxes = {
        "embedding",
        "self-attention",
        "cross-attention",
        "masked attention",
        "feed-forward",
        "linear, softmax",
    }
    boxes |= {"scores", "scale", "mask", "softmax", "mix", "Q", "K", "V"}
    assert {text.get_text() for text in texts if text.get_color() == "white"} & boxes == LIT_WORDS[part]


def test_queries_keys_and_values_have_their_colours_even_unlit():
    colors = {text.get_text(): text.get_color() for text in plot_architecture(highlight="decoding").texts}
    assert [colors[letter] for letter in "QV"] == [COLORS["query"], COLORS["value"]]
    assert colors["K"] == COLORS["key"]


def test_only_recurrence_connects_the_tokens():
    color = to_rgba(COLORS["violet"])
    lit = {
        part: sum(patch.get_edgecolor() == color for patch in plot_architecture(highlight=part).patches)
        for part in PARTS
    }
    assert lit["recurrence"] == 10 + 9  # ten tokens and the nine steps between them
    assert max(lit, key=lit.__getitem__) == "recurrence"


def test_the_drawing_is_wide_and_flat():
    figure = plot_architecture(highlight="softmax").figure
    assert figure.get_figwidth() == WIDTH
    assert figure.get_figheight() < 0.4 * WIDTH


@pytest.mark.parametrize("part", PARTS)
def test_all_words_are_inside_the_figure(part):
    ax = plot_architecture(highlight=part)
    ax.figure.canvas.draw()
    sheet = ax.get_window_extent()
    for text in ax.texts:
        box = text.get_window_extent()
        assert sheet.x0 <= box.x0, text
        assert box.x1 <= sheet.x1, text
        assert sheet.y0 <= box.y0, text
        assert box.y1 <= sheet.y1, text


@pytest.mark.usefixtures("as_a_user")
def test_an_unknown_part_is_rejected_with_the_list_of_parts():
    with pytest.raises(ValueError, match=r"highlight must be one of .*'softmax'.*, got 'engine'"):
        plot_architecture(highlight="engine")

import pytest

from glassformer.plotting.beams import plot_beams
from glassformer.plotting.style import COLORS

TREE = {
    ("il",): 0.6,
    ("il", "fait"): 0.3,
    ("il", "a"): 0.2,
    ("il", "est"): 0.1,
    ("c'",): 0.4,
    ("c'", "est"): 0.004,
}
FOLLOWED = [("il",), ("il", "a"), ("c'",)]


@pytest.fixture
def ax():
    return plot_beams(TREE, kept=FOLLOWED, best=("il", "a"))


def placed(ax):
    """Return the words and the numbers of the plot, with their text objects."""
    texts = list(ax.texts)
    return list(zip(texts[::2], texts[1::2], strict=True))


def test_every_prefix_shows_its_last_word_and_its_probability(ax):
    shown = [(word.get_text(), number.get_text()) for word, number in placed(ax)]
    assert shown == [
        ("il", "0.60"),
        ("fait", "0.30"),
        ("a", "0.20"),
        ("est", "0.10"),
        ("c'", "0.40"),
        ("est", "4e-03"),
    ]


def test_words_are_in_the_column_of_their_position(ax):
    assert [word.get_position()[0] for word, _ in placed(ax)] == [1, 2, 2, 2, 1, 2]


def test_leaves_are_below_each_other_and_other_prefixes_midway_between_their_children(ax):
    il, fait, a, est, c, last = (word.get_position()[1] for word, _ in placed(ax))
    assert [fait - a, a - est, est - last] == pytest.approx([1, 1, 1])
    assert (il, c) == pytest.approx((a, last))


def test_dropped_prefixes_differ_in_colour_and_have_dashed_lines(ax):
    colors = [word.get_color() for word, _ in placed(ax)]
    violet, grey = COLORS["violet"], COLORS["text"]
    assert colors == [violet, grey, violet, grey, violet, grey]
    broken = [patch.get_linestyle() != "-" for patch in ax.patches]
    assert broken == [color == grey for color in colors]


def test_the_best_hypothesis_is_bold_up_to_its_end(ax):
    bold = [word.get_weight() == "bold" for word, _ in placed(ax)]
    assert bold == [True, False, True, False, False, False]
    widths = [patch.get_linewidth() for patch in ax.patches]
    assert [width == max(widths) for width in widths] == bold


def test_the_best_hypothesis_is_optional():
    assert not any(text.get_weight() == "bold" for text in plot_beams(TREE, kept=[]).texts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probabilities": {}}, "probabilities must hold at least 1 prefix, got 0"),
        (
            {"probabilities": {("il", "a"): 0.5}},
            "the parent of each prefix must be among probabilities, got 'il'",
        ),
        ({"kept": [("elle",)]}, "kept must be among probabilities, got 'elle'"),
        ({"best": ("il", "dort")}, "best must be among probabilities, got 'il dort'"),
    ],
)
def test_a_tree_that_is_not_connected_is_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        plot_beams(**{"probabilities": TREE, "kept": [], **arguments})

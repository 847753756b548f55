import matplotlib.pyplot as plt
import pytest
from matplotlib.patches import FancyArrowPatch

from glassformer.plotting.paths import plot_paths

WORDS = ["one", "three", "five", "seven", "eleven"]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def arrows(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 4), (1, 3)])
def test_recurrence_has_one_arrow_per_step_and_attention_one(first, last):
    ax = plot_paths(WORDS, first, last)
    assert len(arrows(ax)) == (last - first) + 1
    assert any(f"{last - first} step" in text.get_text() for text in ax.texts)


def test_each_word_is_written_once_and_the_two_ends_are_bold():
    ax = plot_paths(WORDS, 1, 3)
    weights = {text.get_text(): text.get_weight() for text in ax.texts if text.get_text() in WORDS}
    assert list(weights) == WORDS
    assert {word for word, weight in weights.items() if weight == "bold"} == {"three", "seven"}


def test_words_are_in_reading_order_and_do_not_touch():
    ax = plot_paths(WORDS, 0, 1)
    places = [text.get_position()[0] for text in ax.texts if text.get_text() in WORDS]
    gaps = [
        right - left - (len(one) + len(other)) / 2
        for left, right, one, other in zip(places, places[1:], WORDS, WORDS[1:], strict=False)
    ]
    assert min(gaps) > 1


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(("first", "last"), [(2, 2), (3, 1), (-1, 2), (0, 5)])
def test_ends_in_the_wrong_order_or_outside_the_sentence_are_rejected(first, last):
    with pytest.raises(ValueError, match=rf"first \({first}\) must come before last \({last}\), .* below 5"):
        plot_paths(WORDS, first, last)

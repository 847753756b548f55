import numpy as np
import pytest

from glassformer.plotting.batches import plot_batches

LENGTHS = {"mixed": [3, 11, 5, 2, 7], "alike": [7, 5, 7]}


def bars(ax):
    """Return the start and end of the bars of padding and of tokens."""
    return [
        sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in container)
        for container in ax.containers
    ]


def test_each_row_shows_its_tokens_and_is_padded_to_the_longest():
    for ax, lengths in zip(plot_batches(LENGTHS), LENGTHS.values(), strict=True):
        padding, tokens = bars(ax)
        assert tokens == [(0, length) for length in sorted(lengths)]
        assert padding == [(length, max(lengths)) for length in sorted(lengths)]


def test_all_panels_are_as_wide_as_the_longest_sentence():
    axes = plot_batches(LENGTHS)
    assert [ax.get_title(loc="left") for ax in axes] == list(LENGTHS)
    assert [ax.get_xlim() for ax in axes] == [(0, 11), (0, 11)]


def test_one_legend_serves_all_panels():
    figure = plot_batches(LENGTHS)[0].get_figure()
    assert [[text.get_text() for text in legend.get_texts()] for legend in figure.legends] == [
        ["tokens", "padding"]
    ]


@pytest.mark.usefixtures("as_a_user")
def test_an_invalid_argument_is_named():
    with pytest.raises(ValueError, match=r"batches\['b'\] must hold lengths above 0, got 0"):
        plot_batches({"a": [1], "b": np.array([2, 0])})
    with pytest.raises(ValueError, match="batches must hold at least 1, got 0"):
        plot_batches({})

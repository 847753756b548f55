import numpy as np
import pytest

from glassformer.plotting.lengths import plot_lengths

LENGTHS = [3, 5, 8, 11, 16, 33]
LABELS = {"xlabel": "words", "ylabel": "right"}


def questions(rng, names=("one", "other")):
    return {title: {name: rng.random((3, len(LENGTHS))) for name in names} for title in ("a", "b", "c")}


def test_each_question_has_a_panel_with_a_curve_per_name(rng):
    asked = questions(rng)
    axes = plot_lengths(LENGTHS, asked, training_length=8, **LABELS)
    assert [ax.get_title(loc="left") for ax in axes] == list(asked)
    for ax, curves in zip(axes, asked.values(), strict=True):
        drawn = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
        assert list(drawn) == list(curves)
        for name, seeds in curves.items():
            np.testing.assert_allclose(drawn[name], seeds.mean(axis=0))


def test_the_training_lengths_are_shaded(rng):
    for ax in plot_lengths(LENGTHS, questions(rng), training_length=8, **LABELS):
        (shade,) = ax.patches
        assert (shade.get_x(), shade.get_x() + shade.get_width()) == (3, 8)


def test_one_legend_names_every_curve_once(rng):
    axes = plot_lengths(LENGTHS, questions(rng), training_length=8, **LABELS)
    assert [ax.get_legend() for ax in axes] == [None] * 3
    (legend,) = axes[0].get_figure().legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "other"]


def test_ticks_are_the_doublings_between_the_shortest_and_the_longest(rng):
    ax = plot_lengths(LENGTHS, questions(rng), training_length=8, **LABELS)[0]
    assert ax.get_xticks().tolist() == [4, 8, 16, 32]


def test_a_single_curve_needs_no_legend_of_its_own(rng):
    axes = plot_lengths(LENGTHS, {"a": {"one": rng.random(len(LENGTHS))}}, training_length=8, **LABELS)
    assert len(axes[0].get_lines()) == 1


@pytest.mark.usefixtures("as_a_user")
def test_an_invalid_argument_is_named(rng):
    with pytest.raises(ValueError, match="training_length must be a positive integer, got 0"):
        plot_lengths(LENGTHS, questions(rng), training_length=0, **LABELS)
    asked = questions(rng) | {"d": {"third": LENGTHS}}
    with pytest.raises(ValueError, match="questions must have the same curves"):
        plot_lengths(LENGTHS, asked, training_length=8, **LABELS)
    with pytest.raises(ValueError, match="count must be a positive integer, got 0"):
        plot_lengths(LENGTHS, {}, training_length=8, **LABELS)

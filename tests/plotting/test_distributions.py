import numpy as np
import pytest
import torch

from glassformer.plotting.distributions import plot_scores_and_weights

WORDS = ["animal", "street", "tired"]
SCORES = np.array([2.0, -1.0, 0.5])
WEIGHTS = np.array([0.7, 0.1, 0.2])


def lengths(ax):
    return [bar.get_width() for bar in ax.patches]


def written(ax):
    return [text.get_text() for text in ax.texts]


@pytest.fixture
def axes():
    return plot_scores_and_weights(SCORES, {"sharp": WEIGHTS, "flat": torch.full((3,), 1 / 3)}, labels=WORDS)


def test_bars_are_as_long_as_their_numbers(axes):
    for ax, numbers in zip(axes, (SCORES, WEIGHTS, [1 / 3] * 3), strict=True):
        np.testing.assert_allclose(lengths(ax), numbers, rtol=1e-6)


def test_bars_show_their_numbers(axes):
    assert written(axes[0]) == ["+2.0", "−1.0", "+0.5"]
    assert written(axes[1]) == ["0.70", "0.10", "0.20"]


def test_panels_have_their_titles(axes):
    assert [ax.get_title(loc="left") for ax in axes] == ["scores", "sharp", "flat"]


def test_the_first_key_is_at_the_top_with_its_label():
    scores, _ = plot_scores_and_weights(SCORES, {"weights": WEIGHTS}, labels=WORDS)
    low, high = scores.get_ylim()
    assert low > high
    assert [label.get_text() for label in scores.get_yticklabels()] == WORDS


def test_weights_share_one_scale_which_includes_one():
    _, first, second = plot_scores_and_weights(SCORES, {"a": WEIGHTS, "b": [1.0, 0, 0]}, labels=WORDS)
    assert first.get_xlim() == second.get_xlim()
    assert first.get_xlim()[0] == 0
    assert first.get_xlim()[1] > 1


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("scores", "weights", "labels", "message"),
    [
        (SCORES, {"a": WEIGHTS}, WORDS[:2], r"labels \(2\) .* \(3\)"),
        (SCORES, {"a": WEIGHTS[:2]}, WORDS, r"weights\['a'\] must have shape \(3,\), got \(2,\)"),
        ([np.nan, 1, 2], {"a": WEIGHTS}, WORDS, "scores must not hold NaN"),
    ],
)
def test_an_invalid_argument_is_named(scores, weights, labels, message):
    with pytest.raises(ValueError, match=message):
        plot_scores_and_weights(scores, weights, labels=labels)

import numpy as np
import pytest

from glassformer.plotting.runs import plot_run

STEPS, EVERY = 42, 7


@pytest.fixture
def entries(rng):
    lines = [{"step": step, "loss": rng.random(), "learning_rate": 0.1} for step in range(1, STEPS + 1)]
    lines += [
        {"step": step, "validation_loss": rng.random(), "validation_bleu": 50 * rng.random()}
        for step in range(EVERY, STEPS + 1, EVERY)
    ]
    return lines


def drawn(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def column(entries, name):
    return np.array([(entry["step"], entry[name]) for entry in entries if name in entry])


def test_each_number_of_the_log_is_drawn_at_its_step(entries):
    losses, scores = plot_run(entries)
    np.testing.assert_allclose(drawn(losses)["training"], column(entries, "loss"))
    np.testing.assert_allclose(drawn(losses)["validation"], column(entries, "validation_loss"))
    np.testing.assert_allclose(drawn(scores)["validation"], column(entries, "validation_bleu"))


def test_the_axis_of_scores_starts_at_zero(entries):
    assert plot_run(entries)[1].get_ylim()[0] == 0


def test_a_run_without_validation_has_one_panel(entries):
    (losses,) = plot_run(entries[:5])
    assert list(drawn(losses)) == ["training"]


@pytest.mark.usefixtures("as_a_user")
def test_an_invalid_argument_is_named(entries):
    with pytest.raises(ValueError, match="at least 1 line with a loss, got none in 6"):
        plot_run(entries[STEPS:])
    with pytest.raises(ValueError, match=r"a step, got none in line 2: \{'loss': 1.0\}"):
        plot_run([entries[0], {"loss": 1.0}])
    with pytest.raises(ValueError, match="finite numbers, got loss = NaN or infinity"):
        plot_run([{"step": 1, "loss": float("nan")}])

import math
import os
import signal
import subprocess
import sys

import pytest
import small_run
import torch
from rehearsal_device import IS_SUPPORTED, count_host_reads, rehearsal
from small_run import SETTINGS, small_corpus, small_trainer
from torch.testing import assert_close

from glassformer.training.checkpoints import average_weights, list_checkpoints
from glassformer.training.log import read_log
from glassformer.training.schedule import learning_rate_at
from glassformer.training.trainer import DivergenceError


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    trainer = small_trainer(tmp_path_factory.mktemp("whole"), dropout=0.0)
    trainer.run()
    return trainer


def losses(folder):
    return [entry["loss"] for entry in read_log(folder / "log.jsonl") if "loss" in entry]


def test_a_run_learns_and_returns_a_translator(whole_run):
    learnt = losses(whole_run.folder)
    assert len(learnt) == SETTINGS.steps
    assert learnt[-1] < learnt[0]
    assert whole_run.translator.translate(small_corpus().validation.sources, beam_size=1)


def test_the_log_has_the_measurements_that_a_chapter_plots(whole_run):
    entries = read_log(whole_run.folder / "log.jsonl")
    training = next(entry for entry in entries if "loss" in entry)
    always = {"step", "epoch", "seconds"}
    assert training.keys() >= always | {"learning_rate", "gradient_norm", "tokens_per_second"}
    validation = entries[-1]
    assert validation["step"] == SETTINGS.steps
    assert 0 < validation["validation_loss"] < math.log(330) + 1
    assert 0 <= validation["validation_bleu"] <= 100


def test_an_interrupted_run_resumes_to_the_same_weights(tmp_path):
    whole = small_trainer(tmp_path / "whole")
    (tmp_path / "whole").mkdir()
    whole.run()
    (tmp_path / "cut").mkdir()
    cut = small_trainer(tmp_path / "cut")
    step = cut._step

    def interrupted(group):
        if cut.progress.step == 5:
            raise KeyboardInterrupt
        return step(group)

    cut._step = interrupted
    with pytest.raises(KeyboardInterrupt):
        cut.run()
    resumed = small_trainer(tmp_path / "cut")
    resumed.run()
    assert_close(resumed.model.state_dict(), whole.model.state_dict(), rtol=0, atol=0)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")


def test_a_run_that_is_past_its_last_step_is_complete(tmp_path):
    small_trainer(tmp_path, steps=6).run()
    resumed = small_trainer(tmp_path, steps=4)
    resumed.run()
    assert resumed.progress.step == 6


def test_a_killed_run_resumes_to_the_same_weights(tmp_path, whole_run):
    folder = tmp_path / "killed"
    command = [sys.executable, small_run.__file__, folder, "6"]
    same_threads = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    killed = subprocess.run(command, capture_output=True, timeout=120, env=same_threads)
    assert killed.returncode == -signal.SIGKILL
    assert [place.name for place in list_checkpoints(folder / "checkpoints")][-1] == "step_00000006"
    resumed = small_trainer(folder, dropout=0.0)
    resumed.run()
    assert_close(resumed.model.state_dict(), whole_run.model.state_dict(), rtol=0, atol=0)
    assert losses(folder) == losses(whole_run.folder)


def test_accumulated_gradients_equal_those_of_one_large_batch(tmp_path):
    trainer = small_trainer(tmp_path / "apart", dropout=0.0, accumulation_steps=3, steps=1, warmup_steps=0)
    _, _, group = next(trainer._groups())
    assert len(group) == 3
    loss, tokens, norm, _ = trainer._step(group)
    together = small_trainer(tmp_path / "together", dropout=0.0, steps=1, warmup_steps=0)
    rows = torch.cat([torch.as_tensor(rows) for rows in group]).numpy()
    loss_together, tokens_together, norm_together, _ = together._step([rows])
    assert tokens == tokens_together
    assert_close(loss, loss_together, rtol=1e-5, atol=0)
    assert_close(norm, norm_together, rtol=1e-4, atol=0)
    for one, other in zip(trainer.model.parameters(), together.model.parameters(), strict=True):
        assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("log_every", [1, 9])
def test_a_loss_of_nan_stops_the_run_with_its_step_and_advice(tmp_path, log_every):
    trainer = small_trainer(tmp_path, log_every=log_every)
    step = trainer._step

    def poisoned(group):
        if trainer.progress.step == 4:
            with torch.no_grad():
                next(trainer.model.parameters()).fill_(math.nan)
        return step(group)

    trainer._step = poisoned
    with pytest.raises(
        DivergenceError, match=r"loss is nan at step 5; the last checkpoint, .*step_00000004, precedes it"
    ):
        trainer.run()
    resumed = small_trainer(tmp_path, log_every=log_every)
    resumed.run()
    assert math.isfinite(losses(tmp_path)[-1])


@pytest.mark.parametrize(("precision", "advised"), [("float32", False), ("bfloat16", True)])
def test_only_a_run_in_bfloat16_is_advised_to_use_float32(tmp_path, precision, advised):
    advice = small_trainer(tmp_path, precision=precision)._advice(1, math.nan)
    assert ("set precision to float32" in advice) == advised


def test_the_trained_weights_are_the_mean_of_the_last_checkpoints(whole_run):
    places = list_checkpoints(whole_run.checkpoints)
    assert len(places) == SETTINGS.keep_checkpoints
    weights = whole_run.model.state_dict()
    for name, mean in average_weights(places).items():
        assert_close(weights[name], mean)


@pytest.mark.skipif(not IS_SUPPORTED, reason="this PyTorch has no Python backends")
def test_a_step_reads_nothing_from_the_device_but_the_number_of_labels(tmp_path):
    with rehearsal() as device:
        trainer = small_trainer(tmp_path, device=device)
        _, _, group = next(trainer._groups())
        with count_host_reads() as counts:
            trainer._step(group)
        assert counts.total() == len(group), counts


def test_the_optimizer_receives_clipped_gradients(tmp_path, monkeypatch):
    trainer = small_trainer(tmp_path, dropout=0.0, clip_norm=0.01)
    met, step = [], trainer.optimizer.step

    def watched():
        met.append(torch.cat([one.grad.flatten() for one in trainer.model.parameters()]).norm().item())
        step()

    monkeypatch.setattr(trainer.optimizer, "step", watched)
    _, _, norm, _ = trainer._step(next(trainer._groups())[2])
    assert norm > 0.1
    assert met == [pytest.approx(0.01, rel=1e-3)]


def test_the_learning_rate_is_that_of_the_schedule_over_the_whole_run(tmp_path):
    trainer = small_trainer(tmp_path, steps=7, warmup_steps=5, max_tokens=601)
    trainer.run()
    entries = [entry for entry in read_log(tmp_path / "log.jsonl") if "learning_rate" in entry]
    assert entries[-1]["epoch"] > 0
    about = {"total_steps": 7, "schedule": SETTINGS.schedule}
    about |= {"peak": SETTINGS.learning_rate, "warmup_steps": 5}
    for entry in entries:
        assert entry["learning_rate"] == pytest.approx(learning_rate_at(entry["step"], **about))


def test_dropout_resumes_after_a_validation(tmp_path):
    trainer = small_trainer(tmp_path, steps=3, validate_every=1)
    modes, step = [], trainer._step

    def watched(group):
        modes.append(trainer.model.training)
        return step(group)

    trainer._step = watched
    trainer.run()
    assert modes == [True] * 3


def test_the_validation_scores_greedy_translations(tmp_path, monkeypatch):
    trainer = small_trainer(tmp_path)
    _, references = trainer.validation.pairs()
    monkeypatch.setattr(trainer.translator, "translate", lambda sources, beam_size: references)
    assert trainer._validate()["validation_bleu"] == pytest.approx(100)
    monkeypatch.setattr(trainer.translator, "translate", lambda sources, beam_size: ["?"] * len(sources))
    assert trainer._validate()["validation_bleu"] == 0


def test_half_precision_trains_too(tmp_path):
    small_trainer(tmp_path, precision="bfloat16").run()
    assert losses(tmp_path)[-1] < losses(tmp_path)[0]
